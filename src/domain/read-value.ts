import { type FoldedText, foldText } from './folded-text.ts'
import type { Json, JsonObject } from './json.ts'
import { knownNumbers } from './known-numbers.ts'
import { standingOf } from './number-rivals.ts'
import { hasRival } from './rivals.ts'
import { standsInText } from './text-value.ts'
import { findTokens } from './token-pattern.ts'

/** An input property whose value is looked for in a text. */
export interface TextProperty {
  readonly name: string
  readonly schema: JsonObject
  readonly description: string
  /** Whether a value fits all of the property's schema. */
  readonly fits: (value: Json) => boolean
}

/** A ticket's text, and what is known of it. */
export interface TextGround {
  readonly text: string
  readonly folded: () => FoldedText
  /** Ids in the text that are known to be of other properties than this one. */
  readonly othersOf: (name: string) => ReadonlySet<string>
}

/** What a text has of a property: nothing that may be believed, one value, or more than one that may be meant. */
export type TextValue =
  | { readonly found: 'none' | 'several' }
  | { readonly found: 'one'; readonly value: Json }

const none: TextValue = { found: 'none' }
const several: TextValue = { found: 'several' }

/** Where none of so many fits, none is looked for any more; so many readings are no reading. */
const maxCandidates = 100
const maxReadings = 20

/** The ids in a text that a property's own pattern finds, at most 100. */
export function tokensOf({ schema: { pattern, type = 'string' } }: TextProperty, text: string) {
  const isText = type === 'string' || (Array.isArray(type) && type.includes('string'))
  if (typeof pattern !== 'string' || !isText) return []
  return findTokens(pattern, text, maxCandidates) ?? []
}

/** The one value of a text that a property's own pattern finds, and beside which no other may be meant. */
export function valueInText(property: TextProperty, ground: TextGround): TextValue {
  const tokens = tokensOf(property, ground.text)
  const value = tokens.find(property.fits)
  if (value === undefined) return none
  return tokens.length > 1 || isRivalled(property, value, ground) ? several : one(value)
}

/**
 * The one value among a model's readings. One is believed only when it stands in the text as it is, whole, fits the
 * property's schema, and no other may be meant.
 */
export function valueOfReadings(
  property: TextProperty,
  readings: readonly string[],
  ground: TextGround,
): TextValue {
  const values = new Map<string, Json>()
  const different = new Set(readings)
  if (different.size > maxReadings) return several
  for (const reading of different) {
    const read = readOne(property, reading, ground)
    if (read.found === 'several') return several
    if (read.found === 'one') values.set(reading, read.value)
  }
  const [value] = values.values()
  if (value === undefined) return none
  return values.size > 1 ? several : one(value)
}

function readOne(property: TextProperty, reading: string, ground: TextGround): TextValue {
  const number = plainNumber(reading)
  const value = property.fits(reading) ? reading : number
  if (value === undefined || !property.fits(value)) return none
  // A short number is one whatever its type, and nothing in its form tells it from others.
  if (number !== undefined && (value === number || reading.length < shortestId)) {
    const meaning = `${property.name} ${property.description}`
    const { text } = ground
    const standing = standingOf(reading, { text, meaning, others: ground.othersOf(property.name) })
    if (standing === 'absent') return none
    if (standing === 'rivalled') return several
    if (value === number) return one(value)
  }
  if (!standsInText(reading, ground.text)) return none
  const isOneOfSeveral =
    isRivalled(property, reading, ground) ||
    hasOtherMember(property, reading, ground) ||
    hasOtherToken(property, reading, ground)
  return isOneOfSeveral ? several : one(reading)
}

const shortestId = 4

/** The number that a text writes without any doubt: `1,234`, `1.234` and `007` may mean more than one thing. */
function plainNumber(text: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})(?:\.\d{1,2})?$/.test(text) ? Number(text) : undefined
}

function isRivalled({ name, schema }: TextProperty, value: string, ground: TextGround): boolean {
  const pattern = typeof schema.pattern === 'string' ? schema.pattern : undefined
  const { text } = ground
  return hasRival(value, {
    text,
    folded: ground.folded(),
    pattern,
    others: ground.othersOf(name),
  })
}

/** Whether the text also has another of the words that the property may be. */
function hasOtherMember({ schema }: TextProperty, value: string, { folded }: TextGround): boolean {
  const members = Array.isArray(schema.enum) ? schema.enum : []
  const words = ` ${wordsOf(folded().text)} `
  return members.some(
    (member) =>
      typeof member === 'string' &&
      member !== value &&
      words.includes(` ${wordsOf(foldText(member).text)} `),
  )
}

function wordsOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
}

/** Whether the property would take something else in the text that is written like an id or an address. */
function hasOtherToken(
  property: TextProperty,
  value: string,
  { text, folded, othersOf }: TextGround,
): boolean {
  if (!/[\p{N}@]/u.test(value)) return false
  const others = othersOf(property.name)
  const known = knownNumbers(folded().text)
  const tried = new Set<string>()
  for (const { 0: chunk, index } of folded().text.matchAll(/[^ ]+/g)) {
    const letters = /[\p{L}\p{N}].*[\p{L}\p{N}]/u.exec(chunk)
    if (letters === null || !/[\p{N}@]/u.test(letters[0])) continue
    const start = index + letters.index
    const end = start + letters[0].length
    const token = text.slice(...folded().sourceOf(start, end))
    if (tried.has(token) || value.includes(token) || others.has(token)) continue
    const isLikeId =
      /\p{N}/u.test(token) &&
      (token.length >= shortestId || /\p{L}/u.test(token)) &&
      known.endOf({ start, end }) === undefined
    if (!isLikeId && !(value.includes('@') && token.includes('@'))) continue
    if (tried.size >= maxCandidates) return true
    tried.add(token)
    if (property.fits(token)) return true
  }
  return false
}

function one(value: Json): TextValue {
  return { found: 'one', value }
}
