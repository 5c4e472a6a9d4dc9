import { z } from 'zod'
import type { Operation } from '../operations/define.ts'

/** A JSON Schema of one operation's side, as far as a door needs to look into it. */
export interface ObjectSchema {
  readonly properties: Readonly<Record<string, PropertySchema>>
  readonly required: readonly string[]
  readonly schema: Readonly<Record<string, unknown>>
  /** The schemas that it refers to as `#/components/schemas/NAME`. */
  readonly named: Readonly<Record<string, unknown>>
}

export interface PropertySchema {
  readonly type?: string
  readonly description?: string
  readonly [keyword: string]: unknown
}

/** The JSON Schema (2020-12) of what an operation takes. */
export function inputSchema({ input }: Operation): ObjectSchema {
  return toObject(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any', override }))
}

/** The JSON Schema (2020-12) of what an operation answers. */
export function outputSchema({ output }: Operation): ObjectSchema {
  return toObject(z.toJSONSchema(output, { io: 'output', unrepresentable: 'any', override }))
}

/** Generators of clients take an object of which nothing is said for one that is empty. */
function override({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { type, properties, additionalProperties } = jsonSchema
  if (
    [type].flat().includes('object') &&
    properties === undefined &&
    additionalProperties === undefined
  ) {
    jsonSchema.additionalProperties = true
  }
}

function toObject(found: object): ObjectSchema {
  // An API document has one place for all schemas that have names.
  const text = JSON.stringify(found).replaceAll('"#/$defs/', '"#/components/schemas/')
  const { $schema: _, $defs: named = {}, ...schema } = JSON.parse(text)
  const { properties = {}, required = [] } = schema
  return { properties, required, schema, named }
}
