/** A JSON value as RFC 8259 knows it. Every value that enters state has this shape. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object. An absent key reads as `undefined`, which is not itself a JSON value. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** A JSON Schema document (2020-12), kept as data: it is hashed, stored and shown as it was written. */
export type JsonSchema = JsonObject

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Puts a member into an object that is being made, whatever its key: assigned, `__proto__` would become the prototype.
 */
export function setMember(object: Record<string, unknown>, key: string, member: unknown): void {
  if (key !== '__proto__') object[key] = member
  else {
    const rest = { writable: true, enumerable: true, configurable: true }
    Object.defineProperty(object, key, { value: member, ...rest })
  }
}

/**
 * Takes the prototype off an object that was just made, so that `constructor` is an ordinary key of it, mostly absent.
 * What begins as `Object.create(null)` is a hash table for ever, half as fast to fill, to copy and to write as JSON.
 */
export function withoutPrototype<T extends object>(object: T): T {
  return Object.setPrototypeOf(object, null)
}

/** A copy of a JSON value that shares nothing with it. Its objects are ordinary ones, as `JSON.parse` makes them. */
export function copyJson<T>(value: T): T {
  // A copy of the shape that it was made from has its type.
  return copy(value) as T
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const result: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) setMember(result, key, copy(member))
  return result
}
