import { plainWord } from './fact-label.ts'
import type { Fact, PlacedLabel } from './facts.ts'
import type { Sentence, Token } from './sentence.ts'

/** Words that join names and values, and say nothing. No negation, no comparison, no promise is among them. */
const glue = new Set(
  (
    'the a an your this is are was of for and has with it its current currently now our records record show shows ' +
    'that on in here'
  ).split(' '),
)
/** What may stand about a length of time besides. */
const timeGlue = new Set(['expected', 'time', 'takes', 'take'])
const articles = new Set(['the', 'a', 'an', 'your', 'this', 'our'])
/** What goes on about the thing that was named before. */
const verbs = new Set(['is', 'was', 'has', 'takes'])

/**
 * What is wrong with a sentence that shows facts; undefined when each value stands where its name says.
 *
 * The words between two marks belong to the second: they are the words of its label, and none of another fact, joined
 * by words that say nothing. Before an id, one other thing may stand that belongs to it, and the sentence may go on
 * about that: "your refund for transaction [[f1]] is [[f2]]". A number with a unit is followed by it.
 */
export function findFactFlaw(
  { tokens, end }: Sentence,
  facts: readonly Fact[],
  declaredStates: readonly string[],
): string | undefined {
  if (end !== '.' && end !== '!') return 'shows facts and does not end like a statement'
  const states = new Set(declaredStates.map((state) => state.toLowerCase()))
  if (tokens.some((token) => token.kind === 'word' && states.has(token.text))) {
    return 'names a state outside a mark'
  }
  const names = new Set(facts.flatMap(({ label }) => label?.words ?? []))
  let topic: Topic = () => []
  let rest = tokens
  for (;;) {
    const at = rest.findIndex(({ kind }) => kind === 'mark')
    const token = rest[at]
    if (token?.kind !== 'mark') break
    const fact = facts.find(({ mark }) => mark === token.mark)
    if (fact === undefined) return 'has a mark of which there is no fact'
    if (fact.label === null) return `shows ${fact.mark}, which may stand in approved sentences only`
    const words = wordsIn(rest.slice(0, at))
    const goesOn = verbs.has(words?.[0] ?? '') && !words?.some((word) => names.has(word))
    const lead =
      words && readLead(goesOn ? [...topic(fact.label), ...words] : words, fact.label, names)
    if (lead === undefined) {
      return `does not name ${fact.mark} right before its mark by the words of its name and no others`
    }
    topic = lead.topic
    rest = rest.slice(at + 1)
    const unit = wordsIn(rest.slice(0, fact.label.unit.length))
    if (unit === undefined || !isUnit(unit, fact)) return `does not give ${fact.mark} its unit`
    rest = rest.slice(fact.label.unit.length)
  }
  return wordsIn(rest)?.every((word) => glue.has(word))
    ? undefined
    : 'has words after its last value that cannot be checked'
}

/** Whether a word of a label may be said without its value: "paid" and "shipped" say something by themselves. */
export function isThing(word: string): boolean {
  return !/ed$|^(?:due|gone|held|kept|lost|made|paid|sent|sold)$/.test(word)
}

/** The words of tokens; undefined when there is something else among them. */
function wordsIn(tokens: readonly Token[]): readonly string[] | undefined {
  const words = tokens.flatMap((token) => (token.kind === 'word' ? [plainWord(token.text)] : []))
  return words.length === tokens.length ? words : undefined
}

/**
 * What a sentence goes on about after "the A of B [[f1]]", as a label sees it: the A of B where it is named so, else A
 * alone. A label of one word is never meant by A alone: which A it is the sentence has said.
 */
type Topic = (label: PlacedLabel) => readonly string[]

/** What the words before a mark name: undefined when that is not, or not only, the fact with this label. */
function readLead(
  lead: readonly string[],
  label: PlacedLabel,
  names: ReadonlySet<string>,
): { readonly topic: Topic } | undefined {
  const isName = (word: string): boolean => names.has(word)
  const isGlue = (word: string): boolean =>
    glue.has(word) || (label.unit.length > 0 && timeGlue.has(word))
  if (!lead.every((word) => isName(word) || isGlue(word))) return undefined

  const otherAt = lead.findLastIndex((word) => isName(word) && !label.words.includes(word))
  const own = lead.slice(otherAt + 1)
  if (!label.required.every((word) => own.includes(word))) return undefined
  // "The refund is processing" names a state by its verb, where the word "state" is left out.
  const isByVerb = label.words.includes('state') && !own.includes('state')
  if (isByVerb && !/(?:^| )(?:is|was)(?: currently| now)?$/.test(own.join(' '))) return undefined

  const other = lead[otherAt]
  if (other === undefined) return { topic: () => [] }
  const before = lead.slice(0, otherAt)
  const [preposition, next = ''] = own
  const belongs =
    label.isId &&
    isThing(other) &&
    before.every((word) => word === 'and' || articles.has(word)) &&
    (preposition === 'for' || preposition === 'of') &&
    (isName(next) || articles.has(next))
  if (!belongs) return undefined
  const whole = [other, ...own.filter(isName)]
  return {
    topic: ({ words }) =>
      whole.every((word) => words.includes(word)) || words.length < 2 ? whole : [other],
  }
}

function isUnit(words: readonly string[], { label, value }: Fact): boolean {
  const unit = label?.unit ?? []
  return unit.every((word, index) => {
    const isLast = index === unit.length - 1
    return words[index] === word || (isLast && value === 1 && `${words[index]}s` === word)
  })
}
