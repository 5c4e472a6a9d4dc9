import type { CarryOver, Member, Path } from './carry-over.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'
import { expectation } from './zod-problems.ts'

/**
 * The JSON Schema of a flat map from the name of each parameter to what it is: a schema, or the name of a type. A
 * parameter is required unless it says otherwise (`required: false`, `optional: true`) or has a default. What is a JSON
 * Schema of an object already stays as it is.
 */
export function importInput({ value, path }: Member, carry: CarryOver): Json {
  if (!isJsonObject(value)) return value
  if (value.type === 'object' && isJsonObject(value.properties)) return value
  const properties: [string, Json][] = []
  const required: string[] = []
  for (const [name, given] of Object.entries(value)) {
    const here = [...path, name]
    carry.trace(['input', 'properties', name], here)
    const schema = typeof given === 'string' ? { type: given } : given
    if (!isJsonObject(schema)) {
      carry.refuse(here, expectation(given, 'a schema such as { type: string }, or a type'))
      continue
    }
    const { isRequired, schema: property } = importParameter(schema, here, carry)
    properties.push([name, property])
    if (isRequired) required.push(name)
  }
  return inputOf(properties, required)
}

function importParameter(
  given: JsonObject,
  path: Path,
  carry: CarryOver,
): { readonly isRequired: boolean; readonly schema: JsonObject } {
  const { required, optional, ...schema } = Object.fromEntries(
    Object.entries(given).map(([name, member]) => [keywordOf(name), member]),
  )
  if (schema.default !== undefined) {
    carry.note(
      [...path, 'default'],
      'a default is shown and never filled in; the parameter may be left out, so what reads it must ask for it first',
    )
  }
  const isRequired =
    typeof required === 'boolean' ? required : optional !== true && schema.default === undefined
  return { isRequired, schema }
}

/** `Type` and `max_length` as JSON Schema writes them. */
function keywordOf(name: string): string {
  const joined = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return joined.charAt(0).toLowerCase() + joined.slice(1)
}

const reads = /\{\{\s*input\.([A-Za-z_][A-Za-z0-9_]*)/g

/** An input of all that texts read of it, for a document that does not say what its parameters are. */
export function inputReadBy(texts: Iterable<string>): JsonObject | undefined {
  const names = new Set(
    [...texts].flatMap((text) => Array.from(text.matchAll(reads), ([, name]) => name ?? '')),
  )
  if (names.size === 0) return undefined
  return inputOf(
    Array.from(names, (name) => [name, {}]),
    [...names],
  )
}

function inputOf(properties: readonly [string, Json][], required: readonly string[]): JsonObject {
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties),
  }
}
