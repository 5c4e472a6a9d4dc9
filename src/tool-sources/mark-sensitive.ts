import { isJsonObject, type JsonSchema } from '../domain/json.ts'

/**
 * A schema whose property at a path is `sensitive`: kept out of the record. Lists on the way count as what is in them.
 * Undefined when there is no such property.
 */
export function markSensitive(schema: JsonSchema, path: readonly string[]): JsonSchema | undefined {
  const { items, properties } = schema
  if (isJsonObject(items) && path.length > 0) {
    const marked = markSensitive(items, path)
    return marked && { ...schema, items: marked }
  }
  const [name, ...below] = path
  if (name === undefined) return { ...schema, sensitive: true }
  const member = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : {}
  if (!isJsonObject(properties) || !isJsonObject(member)) return undefined
  if (!Object.hasOwn(properties, name)) return undefined
  const marked = markSensitive(member, below)
  return marked && { ...schema, properties: { ...properties, [name]: marked } }
}
