import type { Problem } from '../problem.ts'
import { suggestion } from './suggestion.ts'
import { isPath, type Node, operatorWords, placeWords, positionOf } from './syntax.ts'
import { type Type, typeWords } from './type.ts'

/** The rules of the type check. Their ids are stable; docs/expressions.md describes them. */
export const findingRules = {
  'unknown-reference': 'error',
  'expression-type': 'error',
  'impossible-value': 'error',
  'missing-field': 'error',
  'unknown-field': 'error',
  'unguarded-value': 'warning',
  untyped: 'warning',
} as const

export type FindingRule = keyof typeof findingRules

/** What the type check has to say, with the place in the source. */
export interface Finding extends Problem {
  readonly rule: FindingRule
  readonly severity: 'error' | 'warning'
}

/** Gathers the findings of one source, which stands at a path. */
export class Report {
  readonly findings: Finding[] = []
  readonly #source: string
  readonly #path: string

  constructor(source: string, path = '') {
    this.#source = source
    this.#path = path
  }

  add(rule: FindingRule, node: Node, message: string): void {
    const severity = findingRules[rule]
    const position = positionOf(this.#source, node.at)
    this.findings.push({ rule, severity, path: this.#path, message, ...position })
  }

  /** A name that does not exist where it is read, with the ones that do. */
  unknown(node: Node, place: string, name: string, known: Iterable<string>): void {
    this.add('unknown-reference', node, `${place} does not exist; ${suggestion(name, known)}`)
  }

  absent(node: Node): void {
    const place = placeWords(node)
    this.add('unguarded-value', node, `${place} may be absent; ask has(${place}) first`)
  }

  /** `taker` is the operator or function that cannot take null. */
  nullable(node: Node, taker: string): void {
    const place = placeWords(node)
    const advice = isPath(node) ? `; ask has(${place}) first` : ''
    this.add('unguarded-value', node, `${place} may be null, which ${taker} cannot take${advice}`)
  }

  untyped(node: Node, what = ''): void {
    const message = `${what}${placeWords(node)} can be anything, because no schema describes it`
    this.add('untyped', node, message)
  }

  operands(node: Node & { kind: 'binary' }, left: Type, right: Type): void {
    const rule = `${node.operator} expects ${operatorWords[node.operator]}`
    const found = `found ${typeWords(left)} and ${typeWords(right)}`
    this.add('expression-type', node, `${rule}; ${found}`)
  }

  /** Texts that a value is compared with and never is. */
  impossible(node: Node, texts: readonly string[], known: readonly string[]): void {
    const named = texts.map((text) => `'${text}'`).join(', ')
    const [only = ''] = texts
    const hint = texts.length === 1 ? suggestion(only, known) : `there are: ${known.join(', ')}`
    this.add('impossible-value', node, `the value is never ${named}; ${hint}`)
  }
}
