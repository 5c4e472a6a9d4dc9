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
