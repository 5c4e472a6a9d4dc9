import { type LinkPath, pathOf } from '../domain/expression/reads.ts'
import type { Node } from '../domain/expression/syntax.ts'

/** The key of a path: the same for `steps.a.output` and `steps['a'].output`. */
export function pathKey(path: LinkPath): string {
  return path.join('.')
}

/** The step that a path reads, and what of it; undefined for any other path. */
export function stepOf(
  path: LinkPath,
): { readonly key: string; readonly member: string | undefined } | undefined {
  const [root, key, member] = path
  if (root !== 'steps' || key === undefined) return undefined
  return { key: `${key}`, member: member === undefined ? undefined : `${member}` }
}

/** The path of a node, in which `output` is written out as that of the step `own`. */
export function fullPathOf(node: Node, own: string | undefined): LinkPath | undefined {
  const path = pathOf(node)
  return path?.[0] === 'output' && own !== undefined ? ['steps', own, ...path] : path
}

/**
 * A text that is the same for two conditions that say the same in the same words; undefined for one whose truth may
 * change from one moment to the next: it reads the time, or of a step more than its output. `own` is the step that
 * `output` belongs to.
 */
function conditionKey(node: Node, own?: string): string | undefined {
  let key = keys.get(node)
  if (key === undefined) {
    key = findKey(node, own) ?? null
    keys.set(node, key)
  }
  return key ?? undefined
}

/** An expression belongs to one step, so a node has one key. */
const keys = new WeakMap<Node, string | null>()

function findKey(node: Node, own: string | undefined): string | undefined {
  const key = (part: Node): string | undefined => conditionKey(part, own)
  const path = fullPathOf(node, own)
  if (path !== undefined) {
    const [root] = path
    const step = stepOf(path)
    const isSettled = step === undefined || step.member === 'output' || step.member === 'items'
    return root === 'now' || root === 'output' || !isSettled ? undefined : pathKey(path)
  }
  switch (node.kind) {
    case 'literal':
      return JSON.stringify(node.value)
    case 'root':
    case 'variable':
      return node.name
    case 'member':
      return joined('.', [key(node.of), node.name])
    case 'index':
      return joined('[]', [key(node.of), key(node.key)])
    case 'list':
      return joined('list', node.items.map(key))
    case 'object':
      return joined(
        'object',
        node.fields.flatMap(([name, value]) => [JSON.stringify(name), key(value)]),
      )
    case 'not':
    case 'negate':
      return joined(node.kind, [key(node.of)])
    case 'binary':
      return joined(node.operator, [key(node.left), key(node.right)])
    case 'and':
    case 'or':
      return joined(node.kind, [key(node.left), key(node.right)])
    case 'if':
      return joined('if', [node.test, node.yes, node.no].map(key))
    case 'has':
      return joined('has', [key(node.path)])
    case 'firstOf':
      return joined(
        'firstOf',
        node.steps.map((step) => `steps.${step}.output`),
      )
    case 'matches':
      return joined('matches', [key(node.text), JSON.stringify(node.pattern.pattern())])
    case 'call':
      return joined(node.call.name, node.args.map(key))
    case 'macro':
      return joined(`${node.name} ${node.variable}`, [
        key(node.over),
        node.where === undefined ? '' : key(node.where),
        key(node.body),
      ])
  }
}

/** Operators that say the opposite of another one: `a >= b` is `!(a < b)`. */
const opposites: { readonly [operator: string]: '<' | '<=' | '==' } = {
  '>=': '<',
  '>': '<=',
  '!=': '==',
}

/** What is known of a condition: the key of it or of its opposite. */
interface Fact {
  readonly key: string | undefined
  readonly isOpposite: boolean
}

const facts = new WeakMap<Node, Fact>()

/** A condition as one that is known by a key, and whether it is that one or its opposite. */
export function factOf(node: Node, own?: string): Fact {
  let fact = facts.get(node)
  if (fact === undefined) {
    const opposite = node.kind === 'binary' ? opposites[node.operator] : undefined
    fact =
      node.kind !== 'binary' || opposite === undefined
        ? { key: conditionKey(node, own), isOpposite: false }
        : { key: findKey({ ...node, operator: opposite }, own), isOpposite: true }
    facts.set(node, fact)
  }
  return fact
}

/** Longer conditions are hardly ever repeated word for word, and would take their time to compare. */
const maxKey = 400

function joined(name: string, parts: readonly (string | undefined)[]): string | undefined {
  if (parts.includes(undefined)) return undefined
  const key = `${name}(${parts.join(', ')})`
  return key.length > maxKey ? undefined : key
}

const mentions = /\b(?:steps\.([a-z][a-z0-9_]*)|item|index)\b/g

/** The steps that a key of a path or condition speaks of; `item` for the item or index of a loop. */
export function mentionedIn(key: string): ReadonlySet<string> {
  // A word in a text that is written out counts as well: forgetting too much is the safe side.
  return new Set(Array.from(key.matchAll(mentions), ([, step]) => step ?? 'item'))
}
