import type { ToolEffect } from '../domain/tool.ts'

/**
 * How a fact is named in words, so that a sentence can be checked for naming the fact that it shows. Built from the
 * names that the record uses: `check_refund` and `etaBusinessDays` give "refund eta" and the unit "business days".
 */
export interface FactLabel {
  /** Lower-case English words in the order of the names; never empty. None is a word that joins or denies. */
  readonly words: readonly string[]
  /** What follows the value of a number whose name ends so: `business days`. Empty for all others. */
  readonly unit: readonly string[]
}

/** What the name of a tool may begin with and lose: looking something up changes nothing of what it is. */
const lookUps = new Set('calculate check fetch find get lookup retrieve show'.split(' '))
/** The same for a write. What was cancelled, reversed or refused is no longer what it was. */
const makings = new Set(['create', 'issue'])

const unitWords = new Set(
  'second seconds minute minutes hour hours day days week weeks month months year years percent'.split(
    ' ',
  ),
)
const unitQualifiers = new Set(['business', 'calendar', 'working'])

/** Words that say what form a value has. A label of nothing else does not say of what it is the value. */
const formWords = new Set(
  (
    'amount code count currency data date details eta id info kind level name number output record reference result ' +
    'score state status sum time total type unit value'
  ).split(' '),
)

/** Words that state something themselves, or join the parts of a sentence: a name that has one is no label. */
const notNames = new Set(
  (
    'two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen ' +
    'nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half once ' +
    'twice double triple no non not never none nor or without and an are as be been but by can for has have if in is ' +
    'it its may must my of on our should than that the their this to was we were will with would you your'
  ).split(' '),
)

/**
 * The label of a value, made of all words of its place in the record; undefined when one of them would be lost, denies
 * something, or cannot be read out, when an item of a list is meant, or when no word says of what it is the value.
 *
 * `tool` is null for the input; `path` leads to the value in the input or the tool's output.
 */
export function labelOf(
  tool: { readonly name: string; readonly effect: ToolEffect } | null,
  path: readonly (string | number)[],
  isNumber: boolean,
): FactLabel | undefined {
  const subject = tool === null ? [] : subjectOf(tool)
  const names = path.map((link) => (typeof link === 'string' ? wordsOf(link) : undefined))
  if (subject === undefined || names.includes(undefined)) return undefined
  const own = names.flatMap((words) => words ?? [])
  const unit = isNumber ? unitOf(own) : []
  const words = joined(subject, own.slice(0, own.length - unit.length))
  const isReadable = words.every((word) => !notNames.has(word))
  const isRepeated = new Set(words).size < words.length
  const saysWhat = words.some((word) => !formWords.has(word))
  return isReadable && !isRepeated && saysWhat ? { words, unit } : undefined
}

/** `etaBusinessDays` → eta, business, days; undefined for a name with more in it than English words. */
export function wordsOf(name: string): readonly string[] | undefined {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .split(/[_-]/)
  return words.every((word) => /^[A-Za-z]{2,}$/.test(word))
    ? words.map((word) => word.toLowerCase())
    : undefined
}

/** What a tool is about: its name without the verb at its head, which has to be one of those known. */
function subjectOf({
  name,
  effect,
}: {
  readonly name: string
  readonly effect: ToolEffect
}): readonly string[] | undefined {
  const [verb = '', ...rest] = wordsOf(name) ?? []
  const known = effect === 'read' ? lookUps : makings
  return known.has(verb) && rest.length > 0 ? rest : undefined
}

/** Both names in one, where the second has the first in it or goes on from it: "refund" and "refund state". */
function joined(subject: readonly string[], own: readonly string[]): readonly string[] {
  const standsAt = (words: readonly string[], place: number): boolean =>
    words.every((word, index) => word === own[place + index])
  if (own.some((_, place) => standsAt(subject, place))) return own
  const common = subject.findIndex((_, place) => standsAt(subject.slice(place), 0))
  return common < 0 ? [...subject, ...own] : [...subject.slice(0, common), ...own]
}

/** A name that is nothing but a unit is the name of the value itself. */
function unitOf(words: readonly string[]): readonly string[] {
  const last = words.at(-1)
  if (last === undefined || !unitWords.has(last)) return []
  const unit = words.slice(unitQualifiers.has(words.at(-2) ?? '') ? -2 : -1)
  return unit.length < words.length ? unit : []
}
