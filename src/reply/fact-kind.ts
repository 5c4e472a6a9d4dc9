import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../domain/json.ts'
import { subschemasOf } from '../domain/scalars.ts'
import { wordsOf } from './fact-label.ts'

/** What sort of value may be a fact. Free text is none of them: whatever it says, the record does not say it. */
export type FactKind = 'number' | 'amount' | 'time' | 'state' | 'id'

const timeFormats = new Set<Json>(['date', 'time', 'date-time', 'duration'])
const idNames = new Set(['id', 'uuid', 'number', 'reference', 'code'])
const currencies = new Set(Intl.supportedValuesOf('currency'))

/**
 * The kind of a value, by what its schema says of it: a member of an `enum`, a time by its `format`, an id by its
 * `pattern` or its name, a number, or an amount with its currency. Undefined for all else, lists and yes and no included.
 */
export function kindOf(
  value: Json,
  path: readonly (string | number)[],
  schema: JsonSchema,
): FactKind | undefined {
  const isNamedId = isIdName(path.at(-1))
  if (typeof value === 'number') return isNamedId ? 'id' : 'number'
  if (typeof value !== 'string') return undefined
  const declared = schemasAt(path, schema)
  if (declared.some((at) => at.const === value || listOf(at.enum).includes(value))) {
    return isPlain(value) ? 'state' : undefined
  }
  if (isAmount(value)) return 'amount'
  if (declared.some(({ format }) => format !== undefined && timeFormats.has(format))) {
    return /^(?=.*\d)[\dPYMWDTHSZ:.+-]{1,40}$/.test(value) ? 'time' : undefined
  }
  const isId = isNamedId || declared.some((at) => at.pattern !== undefined || at.format === 'uuid')
  return isId && hasFormOfId(value) ? 'id' : undefined
}

/** The words of a name that says of a value that it is an id, without the one that says so: transaction. */
export function thingOf(words: readonly string[]): readonly string[] {
  return idNames.has(words.at(-1) ?? '') ? words.slice(0, -1) : words
}

function isIdName(name: string | number | undefined): boolean {
  return typeof name === 'string' && idNames.has(wordsOf(name)?.at(-1) ?? '')
}

/** One token with a digit, and no more than two words in it: `TXN-DUP-002` and no sentence written with dashes. */
function hasFormOfId(text: string): boolean {
  const groups = text.split(/[-_]/)
  return (
    text.length <= 40 &&
    /\d/.test(text) &&
    groups.every((group) => /^[A-Za-z0-9]+$/.test(group)) &&
    groups.filter((group) => /^[A-Za-z]+$/.test(group)).length <= 2
  )
}

/** `49.00 USD`, `USD 49`: a plain number and a currency that there is. */
function isAmount(text: string): boolean {
  const [, before, , after] =
    /^([A-Z]{3} )?-?(\d{1,12}|\d{1,3}(?:,\d{3})+)(?:\.\d{1,4})?( [A-Z]{3})?$/.exec(text) ?? []
  const codes = [before, after].filter((code) => code !== undefined)
  return codes.length === 1 && codes.every((code) => currencies.has(code.trim()))
}

/** One line of plain words, such as a tool declares for a state. */
function isPlain(text: string): boolean {
  return text.length <= 60 && /^[A-Za-z0-9]+(?:[ _-][A-Za-z0-9]+)*$/.test(text)
}

/** What a schema says of the value at a path of declared members. */
function schemasAt(path: readonly (string | number)[], schema: JsonSchema): readonly JsonObject[] {
  let at = subschemasOf(schema, schema)
  for (const name of path) {
    at = at.flatMap(({ properties }) =>
      isJsonObject(properties) && Object.hasOwn(properties, name)
        ? subschemasOf(properties[name], schema)
        : [],
    )
  }
  return at
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}
