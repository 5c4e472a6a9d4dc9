import { isJsonObject, type Json, type JsonSchema } from '../domain/json.ts'

/** Members of an object that are written out; who needs more of them looks at its schema. */
const maxMembers = 6

/** The option that takes an answer of this form, with what is to be filled in: `--text "…"`, `--answer '{"amount": …}'`. */
export function answerOption(schema: JsonSchema | undefined): string {
  if (schema === undefined || takesWords(schema)) return '--text "…"'
  // Inside the single quotes of a shell.
  return `--answer '${formOf(schema).replaceAll("'", "'\\''")}'`
}

/** Whether words, or a number among them, can be such an answer. */
function takesWords(schema: Json): boolean {
  if (!isJsonObject(schema)) return true
  const { $ref: reference, enum: values, const: only, anyOf, oneOf, type } = schema
  const written = Array.isArray(values) ? values : only === undefined ? undefined : [only]
  if (written !== undefined) return written.some((one) => ['string', 'number'].includes(typeof one))
  for (const forms of [anyOf, oneOf]) if (Array.isArray(forms)) return forms.some(takesWords)
  const types = [type].flat()
  if (type !== undefined) return types.some((one) => wordTypes.includes(String(one)))
  return reference === undefined && schema.properties === undefined && schema.items === undefined
}

const wordTypes = ['string', 'number', 'integer']

function formOf(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return '…'
  const { items, properties, required, type } = schema
  if (type === 'string') return '"…"'
  if (type === 'array' || (type === undefined && items !== undefined)) return `[${formOf(items)}]`
  if (!isJsonObject(properties)) return type === 'object' ? '{…}' : '…'
  const needed = Array.isArray(required) ? required.map(String) : []
  const names = needed.length > 0 ? needed : Object.keys(properties)
  const members = names
    .slice(0, maxMembers)
    .map((name) => `${JSON.stringify(name)}: ${formOf(properties[name])}`)
  return `{${[...members, ...(names.length > maxMembers ? ['…'] : [])].join(', ')}}`
}
