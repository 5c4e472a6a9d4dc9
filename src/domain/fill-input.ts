import { isJsonObject, type Json, type JsonObject, type JsonSchema } from './json.ts'
import { compileSchema } from './json-schema.ts'
import { subschemasOf } from './scalars.ts'
import { findRival, standsInText } from './text-value.ts'
import { findTokens } from './token-pattern.ts'

/** An input property that a run needs and does not have. */
export interface MissingInput {
  readonly name: string
  /** The schema's `description`; empty when it has none. */
  readonly description: string
  /** `several_values`: the text has two different values, and only the customer knows which one is meant. */
  readonly reason: 'not_found' | 'several_values'
}

/** Where the value of an input property came from. `model`: from the text, where a model pointed it out. */
export type InputSource = 'caller' | 'context' | 'text' | 'model'

/** What a model says that a text has for each property, word for word; nobody has checked it yet. */
export type Readings = ReadonlyMap<string, readonly string[]>

export interface FilledInput {
  readonly input: JsonObject
  /** In the order of the schema's properties, then of `required`. Not empty: the run ends as `missing_input`. */
  readonly missing: readonly MissingInput[]
  /** One entry for each member of `input`. */
  readonly sources: { readonly [name: string]: InputSource }
}

/**
 * Completes the input of a run: the caller's values as they are, then by name from `context`, then from the ticket's
 * text. Values are not validated here, except that the text supplies only what fits the property's own schema.
 *
 * The text is read only for properties that are still absent, are strings with a `pattern` that can tell a value from
 * prose (`findTokens`), and are not marked `source: caller`. One value, however often it stands there, is taken. Two
 * different ones make the property missing whether it is required or not: going on without it would be a guess too.
 *
 * A reading of a model is taken for a property of `openQuestions` alone, when it stands in the text as it is, as whole
 * tokens, fits the property's schema, and nothing else in the text looks like it and fits as well.
 */
export function fillInput(given: {
  /** The definition's `input`; default: an object of anything. */
  readonly schema?: JsonSchema | undefined
  readonly input?: JsonObject | undefined
  readonly context?: JsonObject | undefined
  /** The ticket's text. */
  readonly text?: string | undefined
  readonly readings?: Readings | undefined
}): FilledInput {
  const { schema = {}, input = {}, context = {}, text = '', readings } = given
  const properties = propertiesOf(schema)
  const required = Array.isArray(schema.required) ? schema.required.filter(isString) : []

  const values = new Map<string, Json>(Object.entries(input))
  const sources = new Map<string, InputSource>()
  for (const name of values.keys()) sources.set(name, 'caller')
  const several = new Set<string>()
  const take = (name: string, found: readonly Json[], source: InputSource): void => {
    const [only] = found
    if (found.length > 1) several.add(name)
    else if (only !== undefined) {
      values.set(name, only)
      sources.set(name, source)
    }
  }

  for (const [name, property] of Object.entries(properties)) {
    if (values.has(name)) continue
    const fromContext = ownMember(context, name)
    if (fromContext !== undefined && fromContext !== null) {
      values.set(name, fromContext)
      sources.set(name, 'context')
      continue
    }
    take(name, valuesInText(schema, name, property, text), 'text')
    if (values.has(name) || several.has(name) || !mayBeRead(schema, name, required)) continue
    take(name, readValues(schema, name, property, text, readings?.get(name) ?? []), 'model')
  }

  const missing = [...new Set([...Object.keys(properties), ...required])]
    .filter((name) => several.has(name) || (required.includes(name) && !values.has(name)))
    .map(
      (name): MissingInput => ({
        name,
        description: descriptionOf(ownMember(properties, name)),
        reason: several.has(name) ? 'several_values' : 'not_found',
      }),
    )
  return {
    input: Object.fromEntries(values),
    missing,
    sources: Object.fromEntries(sources),
  }
}

/** A property that a model may look for in a text. */
export interface InputQuestion {
  readonly name: string
  readonly description: string
}

/**
 * What a model may be asked for: required properties that are still missing and may come from a text. One that the
 * schema keeps for the caller, or marks as sensitive, is never asked for, and neither is one of which the text has two.
 */
export function openQuestions(
  schema: JsonSchema,
  { missing }: Pick<FilledInput, 'missing'>,
): readonly InputQuestion[] {
  const names = missing.map(({ name }) => name)
  return missing
    .filter(({ name, reason }) => reason === 'not_found' && mayBeRead(schema, name, names))
    .map(({ name, description }) => ({ name, description }))
}

/**
 * Asks the customer for what is missing, one line each: by description, or by the name in words where there is none.
 * Empty when nothing is missing.
 */
export function missingInputMessage(missing: readonly MissingInput[]): string {
  if (missing.length === 0) return ''
  const lines = missing.map(({ name, description, reason }) => {
    const what = description.trim().replace(/\.$/, '') || nameInWords(name)
    return reason === 'several_values'
      ? `- ${what} (your message names more than one: please say which one you mean)`
      : `- ${what}`
  })
  return ['To go on with your request we need the following from you:', ...lines].join('\n')
}

/** The different values of a property in a text; two are enough to know that it is not one. */
function valuesInText(
  schema: JsonSchema,
  name: string,
  property: Json,
  text: string,
): readonly string[] {
  if (!isJsonObject(property) || isOfCaller(schema, property)) return []
  const { pattern, type = 'string' } = property
  const isText = type === 'string' || (Array.isArray(type) && type.includes('string'))
  if (typeof pattern !== 'string' || !isText) return []
  return findTokens(pattern, text, 2, (value) => fitsProperty(schema, name, property, value)) ?? []
}

/** The different values among a model's readings that may be believed; two are enough to know that it is not one. */
function readValues(
  schema: JsonSchema,
  name: string,
  property: Json,
  text: string,
  readings: readonly string[],
): readonly Json[] {
  const toValue = (reading: string): Json | undefined =>
    [reading, plainNumber(reading)]
      .filter((value) => value !== undefined)
      .find((value) => fitsProperty(schema, name, property, value))
  const found = new Map<string, Json>()
  for (const reading of new Set(readings)) {
    const value = standsInText(reading, text) ? toValue(reading) : undefined
    if (value === undefined) continue
    found.set(reading, value)
    const rival = findRival(reading, text, (other) => toValue(other) !== undefined)
    const rivalValue = rival === undefined ? undefined : toValue(rival)
    if (rival !== undefined && rivalValue !== undefined) found.set(rival, rivalValue)
    if (found.size > 1) break
  }
  return [...found.values()]
}

/** The number that a text writes without any doubt: `1,234`, `1.234` and `007` may mean more than one thing. */
function plainNumber(text: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})(?:\.\d{1,2})?$/.test(text) ? Number(text) : undefined
}

function mayBeRead(schema: JsonSchema, name: string, required: readonly string[]): boolean {
  const property = ownMember(propertiesOf(schema), name)
  if (!required.includes(name) || !isJsonObject(property)) return false
  const isSensitive = subschemasOf(property, schema).some(({ sensitive }) => sensitive === true)
  return !isSensitive && !isOfCaller(schema, property)
}

function isOfCaller(schema: JsonSchema, property: JsonObject): boolean {
  return subschemasOf(property, schema).some(({ source }) => source === 'caller')
}

function propertiesOf(schema: JsonSchema): JsonObject {
  return isJsonObject(schema.properties) ? schema.properties : {}
}

function fitsProperty(schema: JsonSchema, name: string, property: Json, value: Json): boolean {
  const { $defs = {} } = schema
  // Wrapped, so that references of the property into `$defs` hold.
  const alone = { $defs, type: 'object', properties: { [name]: property } }
  return compileSchema(alone).problems({ [name]: value }).length === 0
}

function descriptionOf(property: Json | undefined): string {
  return isJsonObject(property) && typeof property.description === 'string'
    ? property.description
    : ''
}

/** `transactionId` → `transaction id` */
function nameInWords(name: string): string {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase()
}

/** A member that the object itself has: `constructor` and the like are not values. */
function ownMember(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function isString(value: Json): value is string {
  return typeof value === 'string'
}
