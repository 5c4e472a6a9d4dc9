import { createHash } from 'node:crypto'
import { ServiceError } from './errors.ts'
import { isJsonObject, type Json } from './json.ts'
import { type Problem, pathText } from './problem.ts'

/**
 * The deepest nesting of a value that comes from outside. What the service wraps around values (a step's output around
 * its parts, a record around an output) may be deeper, so that nothing that was taken in can fail later.
 */
const maxDepth = 64
const maxWrappedDepth = 128
/** The most values (members and items, all levels) a value may hold: shared parts can multiply beyond any memory. */
const maxValues = 1_000_000

/**
 * Turns anything into its canonical JSON value: object keys sorted by UTF-16 code unit, `-0` as `0`, members that
 * are `undefined` left out. What jsonb gives back for the same value has the same canonical form, so a run that was
 * loaded decides like the run that was live.
 *
 * @throws ServiceError `VALUE_INVALID` with every problem at once: NUL or lone surrogates in a string, a number
 *   that is not finite or whose magnitude exceeds 2^53 − 1, a cycle or more than 64 levels, more than 1,000,000
 *   parts, a hole in a list, a value that JSON has no form for (function, bigint, Date, Map).
 */
export function canonicalValue(value: unknown): Json {
  return convertOrThrow(value, maxDepth)
}

/** The canonical form of a value that the service itself has made or stored; it may be twice as deep. */
export function storedValue(value: unknown): Json {
  return convertOrThrow(value, maxWrappedDepth)
}

function convertOrThrow(value: unknown, depth: number): Json {
  const { result, problems } = convert(value, depth)
  if (problems.length > 0) throw new ServiceError('VALUE_INVALID', { problems })
  return result
}

/** What `canonicalValue` would refuse, for callers that gather the problems of several values. Empty when nothing. */
export function findValueProblems(value: unknown): readonly Problem[] {
  return convert(value, maxDepth).problems
}

/**
 * The canonical JSON text of a value after RFC 8785 (JCS).
 *
 * @throws ServiceError `VALUE_INVALID` as `canonicalValue` does.
 */
export function canonicalJson(value: unknown): string {
  return serialize(storedValue(value))
}

/** SHA-256 in lower-case hex over the UTF-8 bytes of a text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** SHA-256 in lower-case hex over the canonical JSON of a value: the one hash of definitions, contracts and bodies. */
export function hashOf(value: unknown): string {
  return sha256(canonicalJson(value))
}

function convert(
  root: unknown,
  depthLimit: number,
): { readonly result: Json; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const path: (string | number)[] = []
  let parts = 0
  let isTooMany = false

  /** Told once: what is beyond the limit is not looked at. */
  function tooMany(): null {
    if (!isTooMany) refuse(`more than ${maxValues} parts`)
    isTooMany = true
    return null
  }

  function refuse(message: string): null {
    problems.push({ path: pathText(path), message })
    return null
  }

  function visit(value: unknown): Json {
    parts += 1
    if (parts > maxValues || isTooMany) return tooMany()
    switch (typeof value) {
      case 'string': {
        const flaw = stringFlaw(value)
        return flaw === undefined ? value : refuse(flaw)
      }
      case 'number':
        if (!Number.isFinite(value)) return refuse(`${value} is not a JSON number`)
        if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
          return refuse(
            `${value} is beyond 2^53 − 1, where a double loses digits; pass it as a string`,
          )
        }
        return value === 0 ? 0 : value
      case 'boolean':
        return value
      case 'object':
        return value === null ? null : visitObject(value)
      default:
        return refuse(`a ${typeof value} is not a JSON value`)
    }
  }

  function visitObject(value: object): Json {
    if (path.length >= depthLimit) {
      return refuse(`nested deeper than ${depthLimit} levels, or cyclic`)
    }
    if (Array.isArray(value)) {
      if (parts + value.length > maxValues) return tooMany()
      // Unlike `map`, this visits holes, which are no values.
      return Array.from(value, (item, index) => visitMember(index, item))
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) {
      return refuse(`a ${value.constructor?.name ?? 'class'} instance is not a JSON value`)
    }
    // A null prototype makes `__proto__` and `constructor` ordinary keys: data never reaches a host object.
    const result: Record<string, Json> = Object.create(null)
    for (const [key, member] of Object.entries(value).sort(byCodeUnit)) {
      if (member === undefined) continue
      const flaw = stringFlaw(key)
      if (flaw !== undefined) refuse(`key ${JSON.stringify(key)}: ${flaw}`)
      result[key] = visitMember(key, member)
    }
    return result
  }

  function visitMember(key: string | number, member: unknown): Json {
    path.push(key)
    const result = visit(member)
    path.pop()
    return result
  }

  return { result: visit(root), problems }
}

// JSON.stringify alone would not do: an object lists keys that look like integers first, whatever their text order.
function serialize(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(serialize).join(',')}]`
  if (isJsonObject(value)) {
    const members = Object.entries(value).sort(byCodeUnit)
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${serialize(member)}`).join(',')}}`
  }
  return JSON.stringify(value)
}

function byCodeUnit(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0
}

function stringFlaw(text: string): string | undefined {
  if (text.includes('\u0000')) return 'contains a NUL character, which cannot be stored'
  if (!text.isWellFormed()) return 'contains a lone surrogate, which is not valid Unicode'
  return undefined
}
