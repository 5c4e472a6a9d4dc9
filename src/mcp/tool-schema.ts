import { z } from 'zod'

/** A JSON Schema of an object, as the protocol asks for it. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

/**
 * The JSON Schema of what an operation takes (`input`) or answers (`output`).
 *
 * What an answer may hold besides is left open, so that a client which read the list of tools before an upgrade still
 * takes the answers after it. Checks that JSON Schema has no words for are left to the operation, which tells all of
 * them at once.
 *
 * @throws TypeError for what is no object.
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
  const { $schema: _, ...rest } = schema
  if (rest.type !== 'object') throw new TypeError('tools take and answer objects')
  return { ...rest, type: 'object' }
}
