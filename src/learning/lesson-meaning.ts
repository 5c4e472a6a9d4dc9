import { stemOf } from '../search/text-features.ts'
import { linePrefixes } from './lesson.ts'

/**
 * From which cosine on two lines say the same when nothing in their words forbids it, for the models of which that was
 * measured on pairs of lines (docs/lessons.md). Any other model merges only equal and contained lines.
 */
export const lessonThresholds: ReadonlyMap<string, number> = new Map([
  ['use-ngram-1024-v1', 0.75],
  ['ngram-512-v1', 0.65],
])

/**
 * Whether nothing in their words forbids that two lines say the same. Vectors are blind for just what turns a lesson
 * into another one, so that this is asked beside them:
 *
 * - the same numbers stand in both, in digits or as words;
 * - as much is denied in both, and neither has the opposite of a word of the other;
 * - a name of the one stands in the other as well;
 * - one has all the words that say something of the other, no three of them the other way round, and besides only
 *   words that make it no narrower: "hitting the rate limit" says what "rate limits" does.
 *
 * It knows English, and how other languages of Latin script say no. Lines of other scripts are never alike by meaning.
 */
export function mayMeanTheSame(a: string, b: string): boolean {
  const [first, second] = [readLine(a), readLine(b)]
  return (
    first.isLatin &&
    second.isLatin &&
    first.numbers === second.numbers &&
    first.denials === second.denials &&
    !hasOpposites(first, second) &&
    hasNamesOf(first, second) &&
    hasNamesOf(second, first) &&
    areNested(first.stems, second.stems) &&
    !isTurnedRound(first.stems, second.stems)
  )
}

interface ReadLine {
  readonly isLatin: boolean
  /** Each once, in order of their text. */
  readonly numbers: string
  readonly denials: number
  /** As written but for case: what opposites are found by. */
  readonly words: ReadonlySet<string>
  /** Words by which things are called, as they can be told: capitals within a line, underscores. */
  readonly names: readonly string[]
  /** Of the words that say something, each once, in order. */
  readonly stems: readonly string[]
}

function readLine(line: string): ReadLine {
  const text = withoutPrefix(line.normalize('NFKC')).replace(/['’]/g, '')
  const letters = text.match(/\p{L}/gu) ?? []
  const tokens = text.match(/[\p{L}\p{M}_]+|\p{Nd}+(?:[.,]\p{Nd}+)*/gu) ?? []
  const words = tokens.map((token) => token.toLowerCase())
  const numbers = words.flatMap((word) => numberOf(word) ?? [])
  const said = words.filter((word) => numberOf(word) === undefined && !saysNothing.has(word))
  return {
    isLatin: letters.every((letter) => /\p{Script=Latin}/u.test(letter)),
    numbers: [...new Set(numbers)].sort().join(' '),
    denials: words.filter((word) => denials.has(word) || denials.has(stemOf(word))).length,
    words: new Set(words),
    names: tokens
      .filter((token, place) => /_/.test(token) || (place > 0 && /\p{Lu}/u.test(token)))
      .map((token) => token.toLowerCase())
      .filter((name) => !commonNames.has(name)),
    stems: [...new Set(said.map(stemOf))],
  }
}

function withoutPrefix(line: string): string {
  const prefix = Object.values(linePrefixes).find((one) => line.startsWith(one))
  return prefix === undefined ? line : line.slice(prefix.length)
}

/** A number as digits without separators of thousands; undefined for a word that is none. */
function numberOf(word: string): string | undefined {
  if (/^\p{Nd}/u.test(word)) return word.replace(/[.,](?=\p{Nd}{3}(?!\p{Nd}))/gu, '')
  return numberWords.get(word)
}

function hasOpposites(a: ReadLine, b: ReadLine): boolean {
  const onlyA = [...a.words].filter((word) => !b.words.has(word))
  const onlyB = [...b.words].filter((word) => !a.words.has(word))
  return onlyA.some((one) => onlyB.some((other) => areOpposite(one, other)))
}

function areOpposite(one: string, other: string): boolean {
  const [a, b] = [stemOf(one), stemOf(other)]
  return (
    opposites.has(`${one} ${other}`) ||
    opposites.has(`${other} ${one}`) ||
    opposites.has(`${a} ${b}`) ||
    opposites.has(`${b} ${a}`) ||
    turningPrefixes.some((prefix) => a === prefix + b || b === prefix + a)
  )
}

function hasNamesOf(a: ReadLine, b: ReadLine): boolean {
  return b.names.every((name) => a.words.has(name))
}

function areNested(a: readonly string[], b: readonly string[]): boolean {
  const [less, more] = a.length <= b.length ? [a, b] : [b, a]
  return (
    less.length > 0 &&
    less.every((stem) => more.includes(stem)) &&
    more.every((stem) => less.includes(stem) || isLight.has(stem))
  )
}

/** Whether three of the words that both have stand in the one in the opposite order of the other. */
function isTurnedRound(a: readonly string[], b: readonly string[]): boolean {
  const places = a.map((stem) => b.indexOf(stem)).filter((place) => place >= 0)
  // The longest run of falling places that ends at each.
  const runs: number[] = []
  for (const [index, place] of places.entries()) {
    const before = runs.filter((_, other) => (places[other] ?? -1) > place && other < index)
    runs.push(1 + Math.max(0, ...before))
  }
  return runs.some((run) => run >= 3)
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

/** What stands in nearly every line. Words of place and time are not here: they tell who does what to whom. */
const saysNothing = wordsOf(
  'a an the this that these those which who it its they them their our your my his her he she we you i is are was were ' +
    'be been being am do does did done has have had having and or of for in on at by with as so very really just please ' +
    'there when will would should must can could may might',
)

/** Stems of words that stand for whatever is done, or for who is always there: a line with one of them more is no narrower. */
const isLight: ReadonlySet<string> = new Set(
  (
    'hit use using make do give get try keep take have send provide perform cause run state say mention include contain ' +
    'to too also again always ever already then just even only any some such whole overall in general ' +
    'customer user client caller agent reply answer response message request ticket conversation tool api call step way thing ' +
    'time problem issue error result'
  )
    .split(' ')
    .map(stemOf),
)

const numberWords: ReadonlyMap<string, string> = new Map(
  [
    ...[
      'zero',
      'one once',
      'two twice both',
      'three thrice',
      'four',
      'five',
      'six',
      'seven',
      'eight',
      'nine',
      'ten',
    ],
    ...['eleven', 'twelve dozen'],
  ].flatMap((names, value) => names.split(' ').map((name) => [name, String(value)] as const)),
)

/** Words that deny what they stand beside, or tell that it was not done; contractions without their apostrophe. */
const denials = wordsOf(
  'not no never none nothing nobody nor neither cannot without unless except instead rather hardly lack ' +
    'dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt cant couldnt havent hasnt hadnt mustnt ' +
    'avoid avoided avoiding refus refuse refused fail failed skip skipp skipped stop stopp stopped forget forgot omit omitt ' +
    'omitted prevent prevented ignor ignore ignored ' +
    'nicht kein keine keinen keiner nie niemals ohne ne pas jamais sans nunca jamás sin ni non mai senza não nem sem niet geen ' +
    'nooit zonder inte ingen aldrig utan ikke aldri uten uden ei älä bez nu fără nem hayır değil',
)

const opposites: ReadonlySet<string> = new Set(
  (
    'above:below over:under before:after more:less more:fewer many:few much:little most:least first:last earlier:later ' +
    'early:late always:seldom always:rarely often:rarely old:new long:short longer:shorter big:small large:small ' +
    'high:low higher:lower fast:slow quick:slow open:close opened:closed opening:closing enable:disable enabled:disabled ' +
    'accept:reject accept:decline allow:deny allow:forbid allow:block approve:deny approve:reject approved:denied grant:deny ' +
    'start:stop begin:end add:remove increase:decrease raise:lower minimum:maximum min:max up:down in:out on:off with:without ' +
    'public:private internal:external inbound:outbound incoming:outgoing manual:automatic manually:automatically ' +
    'success:failure succeed:fail right:wrong correct:wrong true:false yes:no same:different all:some all:none every:any ' +
    'include:exclude send:receive sent:received sender:receiver sender:recipient buyer:seller credit:debit push:pull read:write ' +
    'create:delete insert:delete import:export upload:download encrypt:decrypt input:output left:right top:bottom ' +
    'full:empty full:partial strict:loose safe:unsafe hot:cold wide:narrow deep:shallow online:offline sync:async ' +
    'show:hide keep:discard pass:fail gain:lose buy:sell plus:minus inside:outside since:until'
  )
    .split(' ')
    .flatMap((pair) => {
      const [a = '', b = ''] = pair.split(':')
      return [`${a} ${b}`, `${stemOf(a)} ${stemOf(b)}`]
    }),
)

/** What turns a word into its opposite when it stands before it. */
const turningPrefixes = ['un', 'in', 'im', 'il', 'ir', 'dis', 'non', 'mis', 'de']

/** Written in capitals, and yet the name of nothing in particular. */
const commonNames = wordsOf('api apis id ids url urls faq faqs')
