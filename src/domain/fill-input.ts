import { isJsonObject, type Json, type JsonObject, type JsonSchema } from './json.ts'
import { compileSchema } from './json-schema.ts'
import { findTokens } from './token-pattern.ts'

/** An input property that a run needs and does not have. */
export interface MissingInput {
  readonly name: string
  /** The schema's `description`; empty when it has none. */
  readonly description: string
  /** `several_values`: the text has two different values, and only the customer knows which one is meant. */
  readonly reason: 'not_found' | 'several_values'
}

/** Where the value of an input property came from. */
export type InputSource = 'caller' | 'context' | 'text'

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
 */
export function fillInput(given: {
  /** The definition's `input`; default: an object of anything. */
  readonly schema?: JsonSchema | undefined
  readonly input?: JsonObject | undefined
  readonly context?: JsonObject | undefined
  /** The ticket's text. */
  readonly text?: string | undefined
}): FilledInput {
  const { schema = {}, input = {}, context = {}, text = '' } = given
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.filter(isString) : []

  const values = new Map<string, Json>(Object.entries(input))
  const sources = new Map<string, InputSource>()
  for (const name of values.keys()) sources.set(name, 'caller')
  const several = new Set<string>()

  for (const [name, property] of Object.entries(properties)) {
    if (values.has(name)) continue
    const fromContext = ownMember(context, name)
    if (fromContext !== undefined && fromContext !== null) {
      values.set(name, fromContext)
      sources.set(name, 'context')
      continue
    }
    const found = valuesInText(schema, name, property, text)
    const [only] = found
    if (found.length > 1) several.add(name)
    else if (only !== undefined) {
      values.set(name, only)
      sources.set(name, 'text')
    }
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
  if (!isJsonObject(property) || property.source === 'caller') return []
  const { pattern, type = 'string' } = property
  const isText = type === 'string' || (Array.isArray(type) && type.includes('string'))
  if (typeof pattern !== 'string' || !isText) return []
  return findTokens(pattern, text, 2, (value) => fitsProperty(schema, name, property, value)) ?? []
}

function fitsProperty(schema: JsonSchema, name: string, property: Json, value: string): boolean {
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
