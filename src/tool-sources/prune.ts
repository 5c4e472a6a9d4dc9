import { isJsonObject, type Json, type JsonSchema, setMember } from '../domain/json.ts'
import { compileSchema } from '../domain/json-schema.ts'

/**
 * What a schema names of a value: an answer may hold more than its description says, today or tomorrow, and none of that
 * is to be recorded. Objects are cut where the schema closes them; what it leaves open stays whole.
 */
export function prune(value: Json, schema: JsonSchema): Json {
  if (Array.isArray(value)) {
    const { items } = schema
    return isJsonObject(items) ? value.map((item) => prune(item, items)) : value
  }
  if (!isJsonObject(value)) return value
  const inner = nonNullSchema(schema)
  if (inner !== undefined) return prune(value, inner)
  const { properties, additionalProperties } = schema
  if (!isJsonObject(properties)) return value
  const kept: Record<string, Json> = {}
  for (const [name, member] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (isJsonObject(own)) setMember(kept, name, prune(member, own))
    else if (own !== undefined || additionalProperties !== false) setMember(kept, name, member)
  }
  return kept
}

/** The schema besides `null`, of a schema that says only that: how something nullable is written when it has no type. */
function nonNullSchema({ anyOf }: JsonSchema): JsonSchema | undefined {
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return undefined
  const [inner, empty] = anyOf
  return isJsonObject(inner) && isJsonObject(empty) && empty.type === 'null' ? inner : undefined
}

/**
 * A value that was found elsewhere, cut to an output; of several the first that it fits. Undefined when it fits none.
 */
export function fitToOutput(value: Json, output: JsonSchema): Json | undefined {
  for (const schema of outputsOf(output)) {
    const cut = prune(value, schema)
    if (compileSchema(schema).problems(cut).length === 0) return cut
  }
  return undefined
}

/** The outputs that a value may be of. One of nothing fits whatever is cut to it, and counts only where it is alone. */
function outputsOf(output: JsonSchema): readonly JsonSchema[] {
  const { anyOf } = output
  if (!Array.isArray(anyOf) || nonNullSchema(output) !== undefined) return [output]
  return anyOf.filter(
    (schema) => isJsonObject(schema) && Object.keys(Object(schema.properties)).length > 0,
  )
}
