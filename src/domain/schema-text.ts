import { isJsonObject, type Json, type JsonObject, type JsonSchema } from './json.ts'
import { orList, valueText } from './value-text.ts'

/** Members of an object that are told; more of them nobody reads in a line. */
const maxMembers = 20
/** Objects and lists inside each other that are told. */
const maxDepth = 4

/**
 * What a JSON Schema asks for, in words for people: `a text that matches ^[0-9]{4}$`, `an object with street (a
 * text), city (a text, may be left out)`. It leaves out what it has no words for, so the schema itself is what counts.
 */
export function schemaText(schema: JsonSchema): string {
  return describe(schema, schema, maxDepth)
}

function describe(schema: Json | undefined, whole: JsonSchema, depth: number): string {
  if (!isJsonObject(schema)) return 'a value'
  const { $ref: reference, description } = schema
  const target = typeof reference === 'string' ? findDefinition(whole, reference) : undefined
  if (target !== undefined) return depth === 0 ? 'a value' : describe(target, whole, depth - 1)
  const form = formOf(schema, whole, depth)
  return typeof description === 'string' ? `${form}: ${description}` : form
}

function formOf(schema: JsonObject, whole: JsonSchema, depth: number): string {
  const { enum: values, anyOf, oneOf, type } = schema
  if (Array.isArray(values)) return `one of ${orList(values.map(valueText))}`
  if (schema.const !== undefined) return valueText(schema.const)
  for (const forms of [anyOf, oneOf]) {
    if (!Array.isArray(forms)) continue
    return depth === 0
      ? 'a value'
      : orList([...new Set(forms.map((form) => describe(form, whole, depth - 1)))])
  }
  const types = [type].flat().filter((one) => typeof one === 'string')
  if (types.length > 1)
    return orList(types.map((one) => formOf({ ...schema, type: one }, whole, depth)))
  switch (types[0]) {
    case 'string':
      return `a text${textBounds(schema)}`
    case 'integer':
      return `a whole number${numberBounds(schema)}`
    case 'number':
      return `a number${numberBounds(schema)}`
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    case 'array':
      return depth === 0 ? 'a list' : listText(schema, whole, depth)
    case 'object':
      return depth === 0 ? 'an object' : objectText(schema, whole, depth)
    default:
      return 'a value'
  }
}

function textBounds({ pattern, format, minLength, maxLength }: JsonObject): string {
  if (typeof pattern === 'string') return ` that matches ${pattern}`
  if (typeof format === 'string') return ` in the format ${format}`
  return rangeText(minLength, maxLength, ' characters')
}

function numberBounds({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
}: JsonObject): string {
  const above = typeof exclusiveMinimum === 'number' ? ` above ${exclusiveMinimum}` : ''
  const below = typeof exclusiveMaximum === 'number' ? ` below ${exclusiveMaximum}` : ''
  return `${rangeText(minimum, maximum, '')}${above}${below}`
}

function rangeText(least: Json | undefined, most: Json | undefined, unit: string): string {
  if (typeof least === 'number' && typeof most === 'number') {
    return ` ${unit === '' ? 'from' : 'of'} ${least} to ${most}${unit}`
  }
  if (typeof least === 'number') return ` of at least ${least}${unit}`
  return typeof most === 'number' ? ` of at most ${most}${unit}` : ''
}

function listText(schema: JsonObject, whole: JsonSchema, depth: number): string {
  const bounds = rangeText(schema.minItems, schema.maxItems, ' items')
  if (!isJsonObject(schema.items)) return `a list${bounds}`
  return `a list${bounds}, each ${describe(schema.items, whole, depth - 1)}`
}

function objectText(schema: JsonObject, whole: JsonSchema, depth: number): string {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : []
  const required: readonly Json[] = Array.isArray(schema.required) ? schema.required : []
  const told = properties.slice(0, maxMembers).map(([name, member]) => {
    const may = required.includes(name) ? '' : ', may be left out'
    return `${name} (${describe(member, whole, depth - 1)}${may})`
  })
  if (told.length === 0) return 'an object'
  const more = properties.length > maxMembers ? `, and ${properties.length - maxMembers} more` : ''
  return `an object with ${told.join(', ')}${more}`
}

function findDefinition(whole: JsonSchema, reference: string): Json | undefined {
  const name = /^#\/\$defs\/([^/]+)$/.exec(reference)?.[1]
  const { $defs: definitions } = whole
  if (name === undefined || !isJsonObject(definitions)) return undefined
  return Object.hasOwn(definitions, name) ? definitions[name] : undefined
}
