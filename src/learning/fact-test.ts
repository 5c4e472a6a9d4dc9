import type { Fact } from './demonstration-facts.ts'

/** What a condition may ask of one value. */
export type FactTest =
  | { readonly kind: 'in' | 'notIn'; readonly values: readonly (string | boolean)[] }
  | { readonly kind: 'above' | 'below' | 'atMost' | 'atLeast'; readonly limit: number }

/** Something of which each run has a value, or none is known. */
export interface Column {
  /** Where a condition reads it: `input.amount`, `steps.check_refund.output.state`. */
  readonly reference: string
  /** The same for people: `the state of check_refund`. */
  readonly label: string
  readonly values: readonly (Fact | undefined)[]
  /** All that it may be, where a schema says so. */
  readonly listed: readonly Fact[]
  /** Whether it may be absent or null. */
  readonly isOptional: boolean
  /** The place of the step after which it is known; -1 for what is given at the start. */
  readonly place: number
}

/** What holds of a value. Of one that is not known only that it is none of those that are. */
export function holdsOf(test: FactTest, value: Fact | undefined): boolean {
  switch (test.kind) {
    case 'in':
      return test.values.some((one) => one === value)
    case 'notIn':
      return !test.values.some((one) => one === value)
    case 'above':
      return typeof value === 'number' && value > test.limit
    case 'below':
      return typeof value === 'number' && value < test.limit
    case 'atMost':
      return typeof value === 'number' && value <= test.limit
    case 'atLeast':
      return typeof value === 'number' && value >= test.limit
    default:
      return test satisfies never
  }
}

/** A test as an expression; `limit` is what stands for its figure. */
export function expressionOf(
  { reference, isOptional }: Column,
  test: FactTest,
  limit: string,
): string {
  const guarded = (expression: string) =>
    isOptional ? `has(${reference}) && ${expression}` : expression
  switch (test.kind) {
    case 'in':
      return guarded(`${reference} ${isOneOf(test.values)}`)
    case 'notIn':
      return `${isOptional ? `!has(${reference}) || ` : ''}${isNoneOf(reference, test.values)}`
    case 'above':
      return guarded(`${reference} > ${limit}`)
    case 'below':
      return guarded(`${reference} < ${limit}`)
    case 'atMost':
      return guarded(`${reference} <= ${limit}`)
    case 'atLeast':
      return guarded(`${reference} >= ${limit}`)
    default:
      return test satisfies never
  }
}

/** A test for people: `The state of check_refund is none of none, failed`. */
export function textOf(column: Column, test: FactTest): string {
  const text = wordsOf(column, test)
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

/** The same in the middle of a sentence. */
export function wordsOf({ label }: Column, test: FactTest): string {
  switch (test.kind) {
    case 'in':
      return `${label} is ${test.values.join(' or ')}`
    case 'notIn':
      return `${label} is ${test.values.length === 1 ? 'not' : 'none of'} ${test.values.join(', ')}`
    case 'above':
      return `${label} is above ${test.limit}`
    case 'below':
      return `${label} is below ${test.limit}`
    case 'atMost':
      return `${label} is at most ${test.limit}`
    case 'atLeast':
      return `${label} is at least ${test.limit}`
    default:
      return test satisfies never
  }
}

function isOneOf(values: readonly (string | boolean)[]): string {
  const [only, ...others] = values.map(literal)
  return others.length === 0 ? `== ${only}` : `in [${[only, ...others].join(', ')}]`
}

function isNoneOf(reference: string, values: readonly (string | boolean)[]): string {
  const [only, ...others] = values.map(literal)
  return others.length === 0 ? `${reference} != ${only}` : `!(${reference} ${isOneOf(values)})`
}

function literal(value: string | boolean): string {
  if (typeof value === 'boolean') return String(value)
  return /^[^'\\\p{Cc}]*$/u.test(value) ? `'${value}'` : JSON.stringify(value)
}
