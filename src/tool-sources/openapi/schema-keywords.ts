import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../domain/json.ts'
import { linearPattern } from '../../domain/linear-pattern.ts'

/** Keywords that mean the same here and there. */
const copiedKeywords = [
  ...['const', 'minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems'],
  ...['minProperties', 'maxProperties', 'minContains', 'maxContains', 'dependentRequired'],
] as const

/** What says nothing of what a value may be, or nothing that is checked here. */
const annotations = new Set([
  ...['title', 'description', 'default', 'example', 'examples', 'deprecated', 'discriminator'],
  ...['externalDocs', 'xml', 'readOnly', 'writeOnly', 'nullable', '$comment', '$schema', '$id'],
  ...['contentEncoding', 'contentMediaType', 'contentSchema', '$defs', 'definitions'],
])

const ofObjects = new Set(['type', 'properties', 'required', 'additionalProperties', 'allOf'])

const converted = new Set<string>([
  ...copiedKeywords,
  ...ofObjects,
  ...['$ref', 'enum', 'pattern', 'format', 'multipleOf', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'items', 'prefixItems', 'contains', 'oneOf', 'anyOf'],
  ...['not', 'if', 'then', 'else', 'patternProperties', 'propertyNames'],
])

/** The formats that are checked: others say how a value is kept, or what it is for. */
const formats = new Set([
  ...['date', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'time'],
  ...['uri', 'uri-reference', 'uuid', 'json-pointer'],
])

const keywordsOfType: readonly (readonly [string, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains']],
  ['string', ['pattern', 'minLength', 'maxLength', 'format']],
  ['number', ['minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum']],
]

export function isKnownKeyword(key: string): boolean {
  return converted.has(key) || isAnnotation(key)
}

function isAnnotation(key: string): boolean {
  return annotations.has(key) || key.startsWith('x-')
}

/** Whether a schema allows anything, whatever else it says. */
export function isAnnotationOnly(node: JsonObject, ...but: readonly string[]): boolean {
  return Object.keys(node).every((key) => isAnnotation(key) || but.includes(key))
}

/** Whether a schema says of objects all that it says. */
export function isObjectNode(node: JsonObject): boolean {
  const types = [node.type ?? 'object'].flat()
  const isObject = types.every((type) => type === 'object' || type === 'null')
  return isObject && Object.keys(node).every((key) => ofObjects.has(key) || isAnnotation(key))
}

/** What stands beside a reference, or around one part, and goes with what is there. */
export function keptAnnotations({ description, nullable }: JsonObject): JsonObject {
  return {
    ...(description !== undefined && { description }),
    ...(nullable !== undefined && { nullable }),
  }
}

export function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

export function isNullable(node: JsonObject): boolean {
  return node.nullable === true || [node.type].flat().includes('null')
}

export function isNullSchema(node: Json): boolean {
  if (!isJsonObject(node)) return false
  const isNullEnum = isList(node.enum) && node.enum.length === 1 && node.enum[0] === null
  return node.type === 'null' || isNullEnum
}

/** The type that a schema names, or means by its keywords. */
export function typeOf(node: JsonObject): Json | undefined {
  if (node.type !== undefined) return node.type
  const found = keywordsOfType.find(([, keywords]) =>
    keywords.some((keyword) => node[keyword] !== undefined),
  )
  return found?.[0]
}

export function withNull(type: Json): Json {
  const types = [type].flat()
  return types.includes('null') ? type : [...types, 'null']
}

/** A schema that also lets null pass. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, ...rest } = schema
  if (isEmpty(schema)) return schema
  if (type === undefined || schema.const !== undefined) return { anyOf: [schema, { type: 'null' }] }
  const own = isList(values) ? { enum: values.includes(null) ? values : [...values, null] } : {}
  return { ...rest, ...own, type: withNull(type) }
}

/** The keywords of plain values, as they are written here. What cannot be checked is left to the service. */
export function valueKeywords(node: JsonObject): JsonObject {
  const { description, enum: values, pattern, format } = node
  const kept = copiedKeywords.filter((key) => node[key] !== undefined)
  const isNullMissing = isNullable(node) && isList(values) && !values.includes(null)
  return {
    ...(typeof description === 'string' && { description }),
    ...Object.fromEntries(kept.map((key) => [key, node[key] ?? null])),
    ...(isList(values) && { enum: isNullMissing ? [...values, null] : values }),
    ...(typeof pattern === 'string' && isLinear(pattern) && { pattern }),
    ...(typeof format === 'string' && formats.has(format) && { format }),
    ...bounds(node),
  }
}

/** Bounds of numbers: in 3.0 an exclusive one is a flag beside the other. What a double does not hold is left out. */
function bounds(node: JsonObject): JsonObject {
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = node
  const written: readonly (readonly [string, Json | undefined])[] = [
    ['multipleOf', multipleOf],
    [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum', minimum],
    [exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum', maximum],
    ['exclusiveMinimum', exclusiveMinimum],
    ['exclusiveMaximum', exclusiveMaximum],
  ]
  return Object.fromEntries(
    written.flatMap(([key, value]) =>
      typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? [[key, value]] : [],
    ),
  )
}

export function isLinear(pattern: string): boolean {
  try {
    linearPattern(pattern)
    return true
  } catch {
    return false
  }
}
