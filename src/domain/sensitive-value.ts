import { sha256, storedValue } from './canonical.ts'
import { isJsonObject, type Json, setMember, withoutPrototype } from './json.ts'
import { membersOf, type ValuePath } from './sensitive-places.ts'

/**
 * A value that is kept out of its row: a sensitive one, or a text that holds one. docs/decisions/0009-sensitive-values.md says what is for ever of it.
 */
export interface SensitiveValue {
  /** That of the step; 0 for the execution itself. */
  readonly ordinal: number
  /** The column of the row that it belongs into. */
  readonly part: SealedPart
  /** Where in the column: RFC 6901, empty for all of it. */
  readonly pointer: string
  /** Whether it is sensitive as a whole, and a mark stands for it; else the row shows a text without its sensitive parts. */
  readonly isWhole: boolean
  /** SHA-256 over salt and value, in lower-case hex: what the row may say of it. */
  readonly digest: string
  readonly salt: string
  /** Canonical JSON. */
  readonly value: string
}

/** The columns of an execution and of a step that may hold such values. */
export type SealedPart =
  | 'input'
  | 'context'
  | 'ticket'
  | 'result'
  | 'reason'
  | 'output'
  | 'error'
  | 'attempts'
  | 'exchange'

/** What people see in the place of such a value. */
export const sensitiveText = '(sensitive)'

const markName = '$sensitive'

/** What stands in a row in place of a value. */
export function markOf(digest: string): Json {
  return withoutPrototype({ [markName]: digest })
}

/** Whether a value has the shape of a mark. */
export function isMark(value: Json): boolean {
  if (!isJsonObject(value)) return false
  const digest = value[markName]
  return (
    typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) && Object.keys(value).length === 1
  )
}

export function digestOf(salt: string, value: string): string {
  return sha256(salt + value)
}

/** A value as people may see it: `(sensitive)` in place of every mark. */
export function withoutMarks(value: Json): Json {
  if (isMark(value)) return sensitiveText
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (!isJsonObject(value)) return value
  const shown: Record<string, Json> = {}
  for (const [name, member] of Object.entries(value)) setMember(shown, name, withoutMarks(member))
  return withoutPrototype(shown)
}

/** Whether every mark in some parts of rows has its value, and every value is what its digest was taken of. */
export function isIntact(parts: readonly Json[], values: readonly SensitiveValue[]): boolean {
  const digests = new Set(values.map(({ digest }) => digest))
  return (
    values.every(({ salt, value, digest }) => digestOf(salt, value) === digest) &&
    parts.every((part) => marksIn(part).every((digest) => digests.has(digest)))
  )
}

function marksIn(value: Json): readonly string[] {
  if (isJsonObject(value) && isMark(value)) return [String(value[markName])]
  return membersOf(value).flatMap(([, member]) => marksIn(member))
}

/** The values of one column by their place. */
export type PartValues = ReadonlyMap<string, Json>

/** The values that belong into one column. */
export function valuesOf(
  values: readonly SensitiveValue[],
  ordinal: number,
  part: SealedPart,
): PartValues {
  return new Map(
    values
      .filter((one) => one.ordinal === ordinal && one.part === part)
      .map(({ pointer, value }) => [pointer, storedValue(JSON.parse(value))]),
  )
}

/** A column with its values back in their places. */
export function putBack(value: Json, values: PartValues): Json {
  return values.size === 0 ? value : replaceParts(value, values)
}

/** The same for a place that holds a text. */
export function putBackText(text: string, values: PartValues, path: ValuePath): string {
  const whole = values.get(pointerOf(path))
  return typeof whole === 'string' ? whole : text
}

/** A value with others in some of its places, by JSON Pointer. */
export function replaceParts(value: Json, parts: PartValues, pointer = ''): Json {
  const part = parts.get(pointer)
  if (part !== undefined) return part
  const members = membersOf(value).map(
    ([link, member]) => [link, replaceParts(member, parts, pointer + linkText(link))] as const,
  )
  if (Array.isArray(value)) return members.map(([, member]) => member)
  if (!isJsonObject(value)) return value
  const result: Record<string, Json> = {}
  for (const [name, member] of members) setMember(result, String(name), member)
  return withoutPrototype(result)
}

/** A path as JSON Pointer. */
export function pointerOf(path: ValuePath): string {
  return path.map(linkText).join('')
}

function linkText(link: string | number): string {
  return `/${String(link).replaceAll('~', '~0').replaceAll('/', '~1')}`
}
