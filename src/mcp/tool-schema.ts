import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts'

/** A JSON Schema of an object, as the protocol asks for it. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

/**
 * The JSON Schema of what an operation takes (`input`) or answers (`output`), whole in itself: many clients follow no
 * `$ref`.
 *
 * What an answer may hold besides is left open, so that a client which read the list of tools before an upgrade still
 * takes the answers after it. Checks that JSON Schema has no words for are left to the operation, which tells all of
 * them at once.
 *
 * @throws TypeError for what is no object, and for a shape that holds itself.
 */
export function objectSchemaOf(type: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  const schema = z.toJSONSchema(type, {
    io,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // The pattern of an instant is longer than all else of its schema, and says what the format says.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
      // So are the bounds of every whole number.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (io === 'output') {
        delete jsonSchema.additionalProperties
        // Each list of tools carries all of this, and a third of it would be prose that the HTTP API documents.
        delete jsonSchema.description
      }
    },
  })
  const { $schema: _, $defs = {}, ...rest }: JsonObject = JSON.parse(JSON.stringify(schema))
  const inline = isJsonObject($defs) ? inlined(rest, $defs, []) : rest
  // Of what agents give, the longer form is the one that all of their clients read.
  const whole = io === 'output' ? shortened(inline) : inline
  if (!isJsonObject(whole) || whole.type !== 'object') {
    throw new TypeError('tools take and answer objects')
  }
  return { ...whole, type: 'object' }
}

const definitions = '#/$defs/'

/** A schema with every shape that it refers to in its place. `within`: the shapes around it. */
function inlined(value: Json, shapes: JsonObject, within: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((one) => inlined(one, shapes, within))
  if (!isJsonObject(value)) return value
  const { $ref: reference, ...rest } = value
  const own = Object.entries(rest).map(([key, one]) => [key, inlined(one, shapes, within)])
  if (typeof reference !== 'string') return Object.fromEntries(own)
  const name = reference.slice(definitions.length)
  if (within.includes(name)) throw new TypeError(`the shape ${name} holds itself`)
  // What a shape is called among others says nothing where it stands by itself.
  const { id: _, ...shape } = Object(inlined(shapes[name] ?? {}, shapes, [...within, name]))
  return { ...shape, ...Object.fromEntries(own) }
}

/** The same in fewer words: what may be null says so by its type, and what is one of a list needs no type beside it. */
function shortened(value: Json): Json {
  if (Array.isArray(value)) return value.map(shortened)
  if (!isJsonObject(value)) return value
  const short: JsonObject = Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, shortened(one)]),
  )
  const { anyOf, ...rest } = short
  if (Array.isArray(anyOf) && anyOf.length === 2 && Object.keys(rest).length === 0) {
    const [one, none] = anyOf
    if (isJsonObject(one) && isJsonObject(none) && none.type === 'null') {
      if (typeof one.type === 'string') return { ...one, type: [one.type, 'null'] }
      if (Array.isArray(one.enum) && Object.keys(one).length === 1) {
        return { enum: [...one.enum, null] }
      }
    }
  }
  if (!Array.isArray(short.enum)) return short
  const { type: _, ...listed } = short
  return listed
}
