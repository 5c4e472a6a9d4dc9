import { isJsonObject, type Json, type JsonSchema } from './json.ts'
import { allSubschemas, itemSchemas, memberSchemas } from './scalars.ts'

/** Where a part of a JSON value stands: names of members and places in lists. */
export type ValuePath = readonly (string | number)[]

/**
 * The outermost places of a value that a schema marks as sensitive, in its order. What is null there says nothing, and is
 * left out.
 */
export function sensitivePlaces(value: Json, schema: JsonSchema): readonly ValuePath[] {
  const found: ValuePath[] = []
  collectPlaces(value, [], [schema], schema, found)
  return found
}

/** Whether a schema marks what stands at a path as sensitive: that itself, what is around it, or anything in it. */
export function marksSensitive(schema: JsonSchema, path: ValuePath = []): boolean {
  let applying = allSubschemas([schema], schema)
  for (const link of path) {
    if (applying.some(isMarked)) return true
    applying = allSubschemas(
      applying.flatMap((one) => schemasBelow(one, link)),
      schema,
    )
  }
  return holdsMark(applying, schema)
}

function collectPlaces(
  value: Json,
  path: ValuePath,
  schemas: readonly Json[],
  root: JsonSchema,
  found: ValuePath[],
): void {
  if (value === null || schemas.length === 0) return
  const applying = allSubschemas(schemas, root)
  if (applying.some(isMarked)) {
    found.push(path)
    return
  }
  for (const [link, member] of membersOf(value)) {
    const below = applying.flatMap((one) => schemasBelow(one, link))
    collectPlaces(member, [...path, link], below, root, found)
  }
}

/** The parts that a value has, each with its link; none of a scalar. */
export function membersOf(value: Json): readonly (readonly [link: string | number, part: Json])[] {
  if (isList(value)) return value.map((item, index) => [index, item] as const)
  return isJsonObject(value) ? Object.entries(value) : []
}

/** References lead nowhere in a circle, so this comes to an end. */
function holdsMark(applying: readonly JsonSchema[], root: JsonSchema): boolean {
  return applying.some((schema) => {
    if (isMarked(schema)) return true
    const { properties, prefixItems = [] } = schema
    const named = isJsonObject(properties) ? Object.values(properties) : []
    const below = [
      ...named,
      ...memberSchemas({ ...schema, properties: {} }, ''),
      ...(isList(prefixItems) ? prefixItems : []),
      ...itemSchemas(schema, -1),
    ]
    return below.some((one) => holdsMark(allSubschemas([one], root), root))
  })
}

function schemasBelow(schema: JsonSchema, link: string | number): readonly Json[] {
  return typeof link === 'number' ? itemSchemas(schema, link) : memberSchemas(schema, link)
}

function isMarked({ sensitive }: JsonSchema): boolean {
  return sensitive === true
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
