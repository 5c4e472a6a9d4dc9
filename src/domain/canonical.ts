import { hash } from 'node:crypto'
import { ServiceError } from './errors.ts'
import { isJsonObject, type Json, setMember, withoutPrototype } from './json.ts'
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
  return convertOrThrow(value, maxDepth).value
}

/**
 * The same, with bounds of what the value takes as JSON text in UTF-8. The upper one is at most some thirty times the
 * lower, and both cost next to nothing. What is larger than `limit` for certain is looked at no further: its value is
 * then only the beginning, and the lower bound is above the limit.
 *
 * @throws ServiceError `VALUE_INVALID` as `canonicalValue` does.
 */
export function measuredValue(
  value: unknown,
  limit: number,
): { readonly value: Json; readonly minBytes: number; readonly maxBytes: number } {
  return convertOrThrow(value, maxDepth, limit)
}

/** The canonical form of a value that the service itself has made or stored; it may be twice as deep. */
export function storedValue(value: unknown): Json {
  return convertOrThrow(value, maxWrappedDepth).value
}

function convertOrThrow(root: unknown, depthLimit: number, byteLimit?: number) {
  const conversion = new Conversion(depthLimit, byteLimit)
  const value = conversion.visit(root)
  const { problems, minBytes, maxBytes } = conversion
  if (problems.length > 0) throw new ServiceError('VALUE_INVALID', { problems })
  return { value, minBytes, maxBytes }
}

/** What `canonicalValue` would refuse, for callers that gather the problems of several values. Empty when nothing. */
export function findValueProblems(value: unknown): readonly Problem[] {
  const conversion = new Conversion(maxDepth)
  conversion.visit(value)
  return conversion.problems
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
  return hash('sha256', text)
}

/** SHA-256 in lower-case hex over the canonical JSON of a value: the one hash of definitions, contracts and bodies. */
export function hashOf(value: unknown): string {
  return sha256(canonicalJson(value))
}

/** One walk over a value: makes the canonical form, and gathers what is wrong with it. */
class Conversion {
  readonly problems: Problem[] = []
  /** Of the JSON text of what was visited. */
  minBytes = 0
  maxBytes = 0
  readonly #depthLimit: number
  readonly #byteLimit: number
  readonly #path: (string | number)[] = []
  #parts = 0
  #isTooMany = false

  constructor(depthLimit: number, byteLimit = Number.POSITIVE_INFINITY) {
    this.#depthLimit = depthLimit
    this.#byteLimit = byteLimit
  }

  visit(value: unknown): Json {
    this.#parts += 1
    if (this.#parts > maxValues || this.#isTooMany) return this.#tooMany()
    // A part takes a byte at least. Most of what a text takes, it takes by its length.
    this.minBytes += typeof value === 'string' ? value.length + 2 : 1
    if (this.minBytes > this.#byteLimit) return null
    switch (typeof value) {
      case 'string': {
        this.maxBytes += maxTextBytes(value)
        const flaw = stringFlaw(value)
        return flaw === undefined ? value : this.#refuse(flaw)
      }
      case 'number':
        this.maxBytes += maxScalarBytes
        if (!Number.isFinite(value)) return this.#refuse(`${value} is not a JSON number`)
        if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
          return this.#refuse(
            `${value} is beyond 2^53 − 1, where a double loses digits; pass it as a string`,
          )
        }
        return value === 0 ? 0 : value
      case 'boolean':
        this.maxBytes += maxScalarBytes
        return value
      case 'object':
        this.maxBytes += maxScalarBytes
        return value === null ? null : this.#visitObject(value)
      default:
        return this.#refuse(`a ${typeof value} is not a JSON value`)
    }
  }

  #visitObject(value: object): Json {
    if (this.#path.length >= this.#depthLimit) {
      return this.#refuse(`nested deeper than ${this.#depthLimit} levels, or cyclic`)
    }
    if (Array.isArray(value)) {
      if (this.#parts + value.length > maxValues) return this.#tooMany()
      // Unlike `map`, this visits holes, which are no values.
      const items: Json[] = []
      for (let index = 0; index < value.length && this.minBytes <= this.#byteLimit; index += 1) {
        items.push(this.#visitMember(index, value[index]))
      }
      return items
    }
    if (!isPlainObject(value)) {
      return this.#refuse(`a ${value.constructor?.name ?? 'class'} instance is not a JSON value`)
    }
    const result: Record<string, Json> = {}
    for (const key of sortedKeys(value)) {
      if (this.minBytes > this.#byteLimit) break
      const member = value[key]
      if (member === undefined) continue
      this.minBytes += key.length + 3
      this.maxBytes += maxTextBytes(key)
      const flaw = stringFlaw(key)
      if (flaw !== undefined) this.#refuse(`key ${JSON.stringify(key)}: ${flaw}`)
      setMember(result, key, this.#visitMember(key, member))
    }
    // Without a prototype `__proto__` and `constructor` are ordinary keys: data never reaches a host object.
    return withoutPrototype(result)
  }

  #visitMember(key: string | number, member: unknown): Json {
    this.#path.push(key)
    const result = this.visit(member)
    this.#path.pop()
    return result
  }

  /** Told once: what is beyond the limit is not looked at. */
  #tooMany(): null {
    if (!this.#isTooMany) this.#refuse(`more than ${maxValues} parts`)
    this.#isTooMany = true
    return null
  }

  #refuse(message: string): null {
    this.problems.push({ path: pathText(this.#path), message })
    return null
  }
}

/** The longest form of a number, `true`, `false`, `null` or a pair of brackets, with the comma after it. */
const maxScalarBytes = 26

/** A text in quotes, with a comma or colon after it, if each of its code units were escaped. */
function maxTextBytes(text: string): number {
  return 6 * text.length + 3
}

// JSON.stringify alone would not do: an object lists keys that look like integers first, whatever their text order.
function serialize(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(serialize).join(',')}]`
  if (isJsonObject(value)) {
    const members = sortedKeys(value).map(
      (key) => `${JSON.stringify(key)}:${serialize(value[key] ?? null)}`,
    )
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value)
}

function isPlainObject(value: object): value is { readonly [key: string]: unknown } {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** In ascending order of UTF-16 code units, which is the default order of `sort`. */
function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value)
  for (let index = 1; index < keys.length; index += 1) {
    if ((keys[index - 1] ?? '') > (keys[index] ?? '')) return keys.sort()
  }
  return keys
}

function stringFlaw(text: string): string | undefined {
  if (text.includes('\u0000')) return 'contains a NUL character, which cannot be stored'
  if (!text.isWellFormed()) return 'contains a lone surrogate, which is not valid Unicode'
  return undefined
}
