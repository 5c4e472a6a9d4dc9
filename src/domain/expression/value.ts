/** An instant inside an expression, in epoch milliseconds UTC. It leaves an expression as RFC 3339 text. */
export class Instant {
  readonly at: number

  constructor(at: number) {
    this.at = at
  }
}

/** What an expression computes with: JSON and instants. */
export type Value =
  | string
  | number
  | boolean
  | null
  | Instant
  | readonly Value[]
  | { readonly [key: string]: Value }

export type ValueMap = { readonly [key: string]: Value }

export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'timestamp' | 'list' | 'object'

/** How a kind is called in messages. */
export const kindWords: { readonly [K in Kind]: string } = {
  null: 'null',
  boolean: 'a boolean',
  number: 'a number',
  string: 'a text',
  timestamp: 'a timestamp',
  list: 'a list',
  object: 'an object',
}

/**
 * Why an evaluation cannot go on, as one clause for people, with the offset in the source once it is known.
 * Messages name places and kinds and never a value: a value may be sensitive.
 */
export class Fault extends Error {
  at: number | undefined

  constructor(message: string, at?: number) {
    super(message)
    this.at = at
  }
}

/** @throws Fault always; the node under evaluation gives it its place. */
export function refuse(message: string): never {
  throw new Fault(message)
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

export function isMap(value: Value): value is ValueMap {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Instant)
  )
}

export function kindOf(value: Value): Kind {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    default:
      if (value === null) return 'null'
      if (value instanceof Instant) return 'timestamp'
      return isList(value) ? 'list' : 'object'
  }
}

export function wordsOf(value: Value): string {
  return kindWords[kindOf(value)]
}

/** Follows one link; `undefined` when it does not exist. Only own keys count, so no host object is reachable. */
export function findLink(value: Value, key: string | number): Value | undefined {
  if (typeof key === 'number') {
    return isList(value) && Number.isInteger(key) && key >= 0 ? value[key] : undefined
  }
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** What counts the work of an evaluation. */
export interface Budget {
  /** @throws Fault when the budget is used up. */
  spend(units: number): void
}

/** The keys of an object, counted as work: an object of a tool may have a hundred thousand. */
export function keysOf(map: ValueMap, budget: Budget): readonly string[] {
  const keys = Object.keys(map)
  budget.spend(keys.length)
  return keys
}

/**
 * Deep equality of JSON values and instants; key order does not count. Values of different kinds are unequal here: the
 * operators refuse them before they ask.
 */
export function isEqual(a: Value, b: Value, budget: Budget): boolean {
  if (a === b) return true
  if (typeof a === 'string' && typeof b === 'string') {
    budget.spend(a.length >> 10)
    return false
  }
  if (a instanceof Instant && b instanceof Instant) return a.at === b.at
  if (isList(a) && isList(b)) {
    if (a.length !== b.length) return false
    budget.spend(a.length)
    return a.every((item, index) => isEqual(item, b[index] ?? null, budget))
  }
  if (isMap(a) && isMap(b)) {
    const keys = keysOf(a, budget)
    if (keys.length !== keysOf(b, budget).length) return false
    return keys.every(
      (key) => Object.hasOwn(b, key) && isEqual(a[key] ?? null, b[key] ?? null, budget),
    )
  }
  return false
}

/**
 * Orders two numbers, two texts (by UTF-16 code unit) or two instants: negative, zero or positive. `undefined` for
 * anything else.
 */
export function compare(a: Value, b: Value): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0
  if (a instanceof Instant && b instanceof Instant) return a.at - b.at
  return undefined
}
