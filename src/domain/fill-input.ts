import { foldText } from './folded-text.ts'
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from './json.ts'
import { compileSchema } from './json-schema.ts'
import { once } from './once.ts'
import {
  type TextGround,
  type TextProperty,
  type TextValue,
  tokensOf,
  valueInText,
  valueOfReadings,
} from './read-value.ts'
import { schemasOfMember } from './scalars.ts'

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
 * prose (`findTokens`), and are not marked `source: caller`. One value, however often it stands there, is taken, when
 * nothing else in the text may be meant (`hasRival`). Else the property is missing whether it is required or not: going
 * on without it would be a guess too.
 *
 * A reading of a model is taken for a property of `openQuestions` alone, and only by the same measure.
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
  const ground = textGround(schema, text, values)
  const take = (name: string, read: TextValue, source: InputSource): void => {
    if (read.found === 'several') several.add(name)
    if (read.found !== 'one') return
    values.set(name, read.value)
    sources.set(name, source)
  }

  for (const name of Object.keys(properties)) {
    if (values.has(name)) continue
    const fromContext = ownMember(context, name)
    if (fromContext !== undefined && fromContext !== null) {
      values.set(name, fromContext)
      sources.set(name, 'context')
      continue
    }
    const property = textProperty(schema, name)
    if (property === undefined || isOfCaller(schema, name)) continue
    take(name, valueInText(property, ground), 'text')
    if (values.has(name) || several.has(name) || !mayBeRead(schema, name, required)) continue
    take(name, valueOfReadings(property, readings?.get(name) ?? [], ground), 'model')
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

/** What is known of a text before it is read for one property: which ids in it belong to which. */
function textGround(
  schema: JsonSchema,
  text: string,
  given: ReadonlyMap<string, Json>,
): TextGround {
  const folded = once(() => foldText(text))
  const tokens = once(() =>
    Object.keys(propertiesOf(schema)).map((name) => {
      const property = textProperty(schema, name)
      return { name, tokens: property === undefined ? [] : tokensOf(property, text) }
    }),
  )
  return {
    text,
    folded,
    othersOf(name) {
      const own = tokens().find((one) => one.name === name)?.tokens ?? []
      const others = tokens().flatMap((one) => (one.name === name ? [] : one.tokens))
      const values = [...given].flatMap(([key, value]) =>
        key !== name && typeof value === 'string' && /\p{N}/u.test(value) ? [value] : [],
      )
      return new Set([...others, ...values].filter((other) => !own.includes(other)))
    },
  }
}

function textProperty(schema: JsonSchema, name: string): TextProperty | undefined {
  const property = ownMember(propertiesOf(schema), name)
  if (!isJsonObject(property)) return undefined
  const { $defs = {} } = schema
  // Wrapped, so that references of the property into `$defs` hold.
  const alone = { $defs, type: 'object', properties: { [name]: property } }
  const validator = once(() => compileSchema(alone))
  return {
    name,
    schema: property,
    description: descriptionOf(property),
    fits: (value) => validator().problems({ [name]: value }).length === 0,
  }
}

function mayBeRead(schema: JsonSchema, name: string, required: readonly string[]): boolean {
  if (!required.includes(name) || !isJsonObject(ownMember(propertiesOf(schema), name))) return false
  const isSensitive = schemasOfMember(schema, name).some(({ sensitive }) => sensitive === true)
  return !isSensitive && !isOfCaller(schema, name)
}

function isOfCaller(schema: JsonSchema, name: string): boolean {
  return schemasOfMember(schema, name).some(({ source }) => source === 'caller')
}

function propertiesOf(schema: JsonSchema): JsonObject {
  return isJsonObject(schema.properties) ? schema.properties : {}
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
