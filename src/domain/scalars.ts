import { isJsonObject, type Json, type JsonObject, type JsonSchema } from './json.ts'

/** A value without parts, somewhere in a JSON value. */
export interface Scalar {
  readonly path: readonly (string | number)[]
  readonly value: string | number | boolean | null
  /** Whether the schema marks it, or anything around it, as `sensitive`. */
  readonly isSensitive: boolean
  /** Whether the schema itself names every member on the way: no name of the path is data. */
  readonly isDeclared: boolean
}

/** All scalars of a value, in its order, each with what a JSON Schema says of it. */
export function scalarsOf(value: Json, schema: JsonSchema): readonly Scalar[] {
  const found: Scalar[] = []
  collect({ value, path: [], isSensitive: false, isDeclared: true }, [schema], schema, found)
  return found
}

/** The scalars that a schema marks as sensitive. */
export function sensitiveValues(value: Json, schema: JsonSchema): readonly Json[] {
  return scalarsOf(value, schema).flatMap((scalar) => (scalar.isSensitive ? [scalar.value] : []))
}

/**
 * The schema itself and every schema that may apply to the same value: what it refers to, and all sides of its
 * `allOf`, `anyOf`, `oneOf`, `if`, `then`, `else` and `not`. An annotation in any of them is taken to hold.
 */
export function subschemasOf(schema: Json | undefined, root: JsonSchema): readonly JsonObject[] {
  if (!isJsonObject(schema)) return []
  const ofRoot = knownSubschemas.get(root) ?? new WeakMap<JsonObject, readonly JsonObject[]>()
  knownSubschemas.set(root, ofRoot)
  const known = ofRoot.get(schema)
  if (known !== undefined) return known
  const found = findSubschemas(schema, root)
  ofRoot.set(schema, found)
  return found
}

/** Schemas are never changed, and each is asked about again for every value of every run. */
const knownSubschemas = new WeakMap<JsonSchema, WeakMap<JsonObject, readonly JsonObject[]>>()

function findSubschemas(schema: JsonObject, root: JsonSchema): readonly JsonObject[] {
  const found = new Set<JsonObject>()
  const add = (candidate: Json | undefined): void => {
    if (!isJsonObject(candidate) || found.has(candidate)) return
    found.add(candidate)
    if (typeof candidate.$ref === 'string') add(referred(candidate.$ref, root))
    for (const word of ['allOf', 'anyOf', 'oneOf']) listOf(candidate[word]).forEach(add)
    for (const word of ['if', 'then', 'else', 'not']) add(candidate[word])
    if (isJsonObject(candidate.dependentSchemas)) {
      Object.values(candidate.dependentSchemas).forEach(add)
    }
  }
  add(schema)
  return [...found]
}

/**
 * Every schema that may apply to a member of an object, and what holds for the object as a whole: an annotation there is
 * one of all members.
 */
export function schemasOfMember(schema: JsonSchema, name: string): readonly JsonObject[] {
  const around = subschemasOf(schema, schema)
  const members = around.flatMap((one) => memberSchemas(one, name))
  return [...around, ...members.flatMap((member) => subschemasOf(member, schema))]
}

/**
 * The patterns of all that a schema marks as sensitive, wherever in it, each once: what fits one of them in a text is
 * likely to be such a value.
 */
export function sensitivePatterns(schema: JsonSchema): readonly string[] {
  const found = new Set<string>()
  collectPatterns([schema], false, schema, found)
  return [...found]
}

/** What a format says of a text that a pattern can say as well. */
const formatPatterns: Readonly<Record<string, string>> = {
  email: String.raw`^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$`,
}

function collectPatterns(
  schemas: readonly Json[],
  isWithinSensitive: boolean,
  root: JsonSchema,
  found: Set<string>,
): void {
  const applying = allSubschemas(schemas, root)
  if (applying.length === 0) return
  const isSensitive = isWithinSensitive || applying.some(({ sensitive }) => sensitive === true)
  if (isSensitive) {
    for (const { pattern, format } of applying) {
      if (typeof pattern === 'string') found.add(pattern)
      const known = typeof format === 'string' ? formatPatterns[format] : undefined
      if (known !== undefined) found.add(known)
    }
  }
  const names = applying.flatMap(({ properties }) =>
    isJsonObject(properties) ? Object.keys(properties) : [],
  )
  for (const name of new Set(names)) {
    const below = applying.flatMap((schema) => memberSchemas(schema, name))
    collectPatterns(below, isSensitive, root, found)
  }
  const others = applying.flatMap((schema) => [
    ...memberSchemas({ ...schema, properties: {} }, ''),
    ...listOf(schema.prefixItems),
    ...itemSchemas(schema, -1),
  ])
  collectPatterns(others, isSensitive, root, found)
}

function collect(
  { value, path, ...above }: Omit<Scalar, 'value'> & { readonly value: Json },
  schemas: readonly Json[],
  root: JsonSchema,
  found: Scalar[],
): void {
  const applying = allSubschemas(schemas, root)
  const isSensitive = above.isSensitive || applying.some(({ sensitive }) => sensitive === true)
  const { isDeclared } = above
  if (isArray(value)) {
    for (const [index, item] of value.entries()) {
      const below = applying.flatMap((schema) => itemSchemas(schema, index))
      collect({ value: item, path: [...path, index], isSensitive, isDeclared }, below, root, found)
    }
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const below = applying.flatMap((schema) => memberSchemas(schema, name))
      const isNamed = isDeclared && applying.some((schema) => declares(schema, name))
      collect(
        { value: member, path: [...path, name], isSensitive, isDeclared: isNamed },
        below,
        root,
        found,
      )
    }
  } else {
    found.push({ path, value, isSensitive, isDeclared })
  }
}

/** The subschemas of several schemas, each once. */
export function allSubschemas(schemas: readonly Json[], root: JsonSchema): readonly JsonObject[] {
  const [first, ...others] = schemas
  if (others.length === 0) return subschemasOf(first, root)
  return [...new Set(schemas.flatMap((schema) => subschemasOf(schema, root)))]
}

function declares({ properties }: JsonObject, name: string): boolean {
  return isJsonObject(properties) && Object.hasOwn(properties, name)
}

/** Every schema for a member that may apply; of patterns all, since too many is the safe side. */
export function memberSchemas(schema: JsonObject, name: string): readonly Json[] {
  const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema
  const own = isJsonObject(properties) && declares(schema, name) ? properties[name] : null
  const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : []
  return [own, ...patterns, additionalProperties, unevaluatedProperties].filter(isJsonObject)
}

/** Every schema for an item of a list that may apply; with -1 for those of which `prefixItems` says nothing. */
export function itemSchemas(
  { items, prefixItems, contains, unevaluatedItems }: JsonObject,
  index: number,
): readonly Json[] {
  const own = listOf(prefixItems)[index]
  return [own, items, contains, unevaluatedItems].filter(isJsonObject)
}

/** References lead into `$defs` and nowhere else; circles are refused with the schema. */
function referred(reference: string, { $defs }: JsonSchema): Json | undefined {
  const name = reference.replace(/^#\/\$defs\//, '')
  return isJsonObject($defs) && Object.hasOwn($defs, name) ? $defs[name] : undefined
}

function listOf(value: Json | undefined): readonly Json[] {
  return value !== undefined && isArray(value) ? value : []
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
