import type { Json, JsonObject, JsonSchema } from '../domain/json.ts'

/** So many different values before a pattern is made of them. */
const minValues = 3

/**
 * What a parameter takes: what the schema of the tool says of it, and where that is but "a text", the form that all values
 * have, so that it can be found in a ticket.
 */
export function parameterSchema(
  schema: JsonSchema | undefined,
  values: readonly Json[],
): JsonObject {
  const types = new Set(values.map(typeOf))
  const [type = 'string', ...others] = types
  const known = schema ?? (others.length === 0 ? { type } : {})
  const isOpen =
    known.type === 'string' && !['pattern', 'enum', 'const', 'format'].some((word) => word in known)
  const pattern = isOpen && known.sensitive !== true ? patternOf(values) : undefined
  return pattern === undefined ? known : { ...known, pattern }
}

/**
 * The form of ids: `^TXN-[A-Z]{3}-[0-9]{3}$`. Undefined unless at least three different ones are made alike, of letters,
 * digits and the same marks between, with a digit in them. Letters that are always the same stand as they are.
 */
export function patternOf(values: readonly Json[]): string | undefined {
  const different = [...new Set(values)].filter(
    (value): value is string => typeof value === 'string',
  )
  if (different.length < minValues || different.length < new Set(values).size) return undefined
  const cut = different.map(partsOf)
  const [first = []] = cut
  const isAlike = cut.every(
    (parts) =>
      parts.length === first.length && parts.every(({ kind }, at) => kind === first[at]?.kind),
  )
  const isId = first.some(({ kind }) => kind === '0-9') && different.every((one) => one.length >= 4)
  if (!isAlike || !isId || first.length > 20) return undefined
  const forms = first.map(({ kind, text }, at) => {
    const texts = new Set(cut.map((parts) => parts[at]?.text ?? ''))
    if (kind === text) return text.replace(/[\\^$.*+?()[\]{}|/]/, String.raw`\$&`)
    if (kind !== '0-9' && texts.size === 1) return text
    const lengths = [...texts].map((one) => one.length)
    const [least, most] = [Math.min(...lengths), Math.max(...lengths)]
    return `[${kind}]{${least === most ? least : `${least},${most}`}}`
  })
  return `^${forms.join('')}$`
}

/** Runs of digits, of capitals, of small letters, and each mark for itself; a text with anything else is one mark. */
function partsOf(value: string): readonly { readonly kind: string; readonly text: string }[] {
  if (!/^[\x21-\x7e]+$/.test(value)) return [{ kind: value, text: value }]
  return (value.match(/[0-9]+|[A-Z]+|[a-z]+|./g) ?? []).map((text) => {
    const kind = ['0-9', 'A-Z', 'a-z'].find((one) => new RegExp(`^[${one}]`).test(text))
    return { kind: kind ?? text, text }
  })
}

function typeOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}
