/**
 * How a fact is named in words, so that a sentence can be checked for naming the fact that it shows. Built from the
 * names that the record uses: `check_refund` and `etaBusinessDays` give "refund eta" and the unit "business days".
 */
export interface FactLabel {
  /** Lower-case English words in the order of the name, each once; never empty. */
  readonly words: readonly string[]
  /** What follows the value of a number whose name ends so: `business days`. Empty for all others. */
  readonly unit: readonly string[]
}

/** What a name of a tool or step begins with, and what says nothing of the thing. */
const verbs = new Set(
  (
    'apply ask calculate charge check close compute confirm create delete determine do fetch find get has identify ' +
    'inform is issue list load look lookup make notify output prevent query read result search see send set show tell ' +
    'test update validate verify'
  ).split(' '),
)

const unitWords = new Set(
  'second seconds minute minutes hour hours day days week weeks month months year years percent'.split(
    ' ',
  ),
)
const unitQualifiers = new Set(['business', 'calendar', 'working'])

/** Words that a label may not have: they state something themselves, or stand in every sentence. */
const notNames = new Set(
  (
    'two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen ' +
    'nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half once ' +
    'twice double triple no not never none without an and are by for has have in is it its my of on or our the their ' +
    'this to was we with you your'
  ).split(' '),
)

/**
 * The label of a value, or undefined when its names give no word that can be used.
 *
 * `subject` is the name of the tool or step, empty for input; `path` leads to the value in its output. Words that are
 * declared states are no part of a label: a reply may not say them.
 */
export function labelOf(
  subject: string,
  path: readonly (string | number)[],
  isNumber: boolean,
  states: ReadonlySet<string>,
): FactLabel | undefined {
  const mayName = (word: string): boolean => !notNames.has(word) && !states.has(word)
  const of = wordsOf(subject).filter((word) => !verbs.has(word))
  const own = path.flatMap((link) => (typeof link === 'string' ? wordsOf(link) : []))
  const unit = isNumber ? unitOf(own) : []
  const words = [...of, ...own.slice(0, own.length - unit.length)].filter(mayName)
  return words.length === 0 ? undefined : { words: [...new Set(words)], unit }
}

/** `etaBusinessDays` → eta, business, days. `status` is the same as `state`. */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .map((word) => plainWord(word.toLowerCase()))
    .filter((word) => word.length >= 2)
}

/** The one form of words that mean the same in a label. */
export function plainWord(word: string): string {
  return word === 'status' ? 'state' : word
}

function unitOf(words: readonly string[]): readonly string[] {
  const last = words.at(-1)
  if (last === undefined || !unitWords.has(last)) return []
  const isQualified = unitQualifiers.has(words.at(-2) ?? '')
  return words.slice(isQualified ? -2 : -1)
}
