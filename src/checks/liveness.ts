import type { Node } from '../domain/expression/syntax.ts'
import { factOf, fullPathOf, pathKey, stepOf } from './node-key.ts'

/**
 * Until where in the definition each value, condition and step is asked about. What is not asked about any more keeps no
 * worlds apart, so that a long playbook has no more of them than a short one.
 */
export class Liveness {
  readonly #values = new Map<string, number>()
  readonly #steps = new Map<string, number>()
  readonly #counts = new Map<string, number>()

  /** Notes that an expression is evaluated at the place of a step, or at the end of the run (infinity). */
  noteExpression(node: Node, place: number, own?: string): void {
    walk(node, (part) => {
      const path = fullPathOf(part, own)
      if (path !== undefined) this.notePath(path, place)
      else if (part.kind === 'firstOf') for (const key of part.steps) this.noteStep(key, place)
      else if (isCondition(part)) {
        const { key } = factOf(part, own)
        if (key !== undefined) this.#later(this.#values, key, place)
      }
    })
  }

  notePath(path: readonly (string | number)[], place: number): void {
    const step = stepOf(path)
    if (step !== undefined) this.noteStep(step.key, place)
    // What holds a value is asked about as well: it must be there.
    let key = ''
    for (const [index, link] of path.entries()) {
      key = index === 0 ? `${link}` : `${key}.${link}`
      this.#later(this.#values, key, place)
    }
    // What a called procedure answers is read under its outcome.
    if (step?.member === 'output' && path[3] === 'output') {
      this.#later(this.#values, pathKey([...path.slice(0, 3), 'outcome']), place)
    }
  }

  noteStep(key: string, place: number): void {
    this.#later(this.#steps, key, place)
  }

  /** Whether a value or condition is asked about at a place or after it. */
  isAsked(key: string, from: number): boolean {
    return (this.#values.get(key) ?? -1) >= from
  }

  /** Whether a value or condition is asked about more than once in the whole definition. */
  isRepeated(key: string): boolean {
    return (this.#counts.get(key) ?? 0) > 1
  }

  /** Whether anything is asked about a step at a place or after it. */
  isStepAsked(key: string, from: number): boolean {
    return (this.#steps.get(key) ?? -1) >= from
  }

  #later(known: Map<string, number>, key: string, place: number): void {
    known.set(key, Math.max(known.get(key) ?? -1, place))
    if (known === this.#values) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }
}

const comparisons = new Set<string>(['==', '!=', '<', '<=', '>', '>=', 'in'])

function isCondition(node: Node): boolean {
  if (node.kind === 'binary') return comparisons.has(node.operator)
  return ['has', 'member', 'index', 'matches', 'call', 'macro'].includes(node.kind)
}

/** Visits a node and its parts; what stands in a path is part of it. */
function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  if (fullPathOf(node, undefined) !== undefined) return
  for (const part of partsOf(node)) walk(part, visit)
}

export function partsOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'literal':
    case 'root':
    case 'variable':
    case 'firstOf':
      return []
    case 'member':
    case 'not':
    case 'negate':
      return [node.of]
    case 'index':
      return [node.of, node.key]
    case 'list':
      return node.items
    case 'object':
      return node.fields.map(([, value]) => value)
    case 'and':
    case 'or':
    case 'binary':
      return [node.left, node.right]
    case 'if':
      return [node.test, node.yes, node.no]
    case 'has':
      return [node.path]
    case 'matches':
      return [node.text]
    case 'call':
      return node.args
    case 'macro':
      return [node.over, ...(node.where === undefined ? [] : [node.where]), node.body]
  }
}
