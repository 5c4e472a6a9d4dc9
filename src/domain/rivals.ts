import { type FoldedText, foldText } from './folded-text.ts'
import { type KnownNumbers, knownNumbers } from './known-numbers.ts'
import { isWhole } from './text-value.ts'
import { findAlikes, type Span } from './token-pattern.ts'

/** What an id was taken from, and what is known of it. */
export interface IdGround {
  readonly text: string
  readonly folded: FoldedText
  /** The pattern of its property. */
  readonly pattern?: string | undefined
  /** Ids that stand in the text and are known to mean something else. */
  readonly others: ReadonlySet<string>
}

/** Take the places of the id itself and of known others, so that what stands around them can be told. */
const self = '\uE000'
const other = '\uE001'

/** How an id that people repeat in part goes on: "002 and 003", "002/003", "not 003", "002 to 005". */
const connectors =
  'AND|OR|NOR|NOT|BUT|ALSO|PLUS|THEN|TO|THROUGH|THRU|UNTIL|TILL|VS|VERSUS|WITH|EITHER|UND|ODER|ET|OU|O|Y|E|BIS'
const numberWords =
  'ZERO|OH|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN|ELEVEN|TWELVE|THIRTEEN|FOURTEEN|FIFTEEN|TWENTY'
const gap = String.raw`[^\p{L}\p{N}${self}]{0,5}`
const digits = '[0-9OIL]{0,12}[0-9][0-9OIL]{0,12}'
const goesOn = new RegExp(
  `${self}(${gap}(?:(?:${connectors})\\b${gap}){0,3})(?:[A-Z]{1,2}[ -]?)?(${digits})(?=[A-Z]?(?![\\p{L}\\p{N}]))`,
  'gu',
)
const goesBefore = new RegExp(
  `(?<![\\p{L}\\p{N}])(${digits})(${gap}(?:(?:${connectors})\\b${gap}){0,2})${self}`,
  'gu',
)
const goesOnInWords = new RegExp(
  `${self}${gap}(?:OR|NOR|NOT|AND NOT|BUT NOT)\\b${gap}(?:${numberWords})\\b`,
  'u',
)
const namedByEnd = /\b(?:ENDING|ENDS|END|FINISHING)(?: (?:IN|WITH|ON))? [#-]?([0-9OIL]*[0-9])/gu
const isLink = new RegExp(`[/&+|,;]|\\b(?:${connectors})\\b`, 'u')
/** What comes after a number that stands for itself, and not for a count of things. */
const standsAlone =
  /^(?:$|[^\p{L}\p{N}]*(?:$|(?:IS|ARE|WAS|WERE|WILL|TOO|ALSO|PLEASE|BOTH|INSTEAD|AS|NOT|BUT|AND|OR|ONLY|SHOULD|HAS|HAVE|MUST|CAN|THAT|WHICH|I|WE|MY|THE)\b))/u

/**
 * Whether a text may mean another id than the one that was found in it. Found ids are taken exactly, rivals are looked
 * for widely, in the folded text: what looks like an id of the pattern or has the shape of the value; short forms and
 * lists such as "TXN-DUP-002/003" or "… and 003"; and the id itself as part of something longer. To ask the customer in
 * vain costs a minute, and a wrong id moves somebody's money.
 *
 * Dates, amounts, counts, telephone numbers and other ids that are known are no rivals.
 */
export function hasRival(value: string, { text, folded, pattern, others }: IdGround): boolean {
  // Too much to look through: a whole log, say.
  if ((folded.text.match(/[0-9]+/g)?.length ?? 0) > maxNumbers) return true
  const own = foldText(value).text
  const ownLetters = lettersIn(own)
  const isOwn = ({ start, end }: Span): boolean =>
    lettersIn(folded.text.slice(start, end)) === ownLetters

  const known = knownNumbers(folded.text)
  const places = placesOf(own, folded.text)
  if (places.length > maxPlaces) return true
  const isPart = ({ start, end }: Span): boolean => !isWhole(text, ...folded.sourceOf(start, end))
  if (places.some((place) => isPart(place) && !isIn(known, place))) return true
  const alikes = pattern === undefined ? [] : findAlikes(pattern, folded)
  if (alikes === undefined) return true
  const isRival = (span: Span): boolean =>
    !isOwn(span) && looksLikeId(folded.text.slice(span.start, span.end)) && !isIn(known, span)
  if (alikes.some(isRival)) return true

  const spellings = [...places.filter((place) => !isPart(place)), ...alikes.filter(isOwn)]
  const rest = cutOut(
    folded.text,
    spellings,
    [...others].map((one) => foldText(one).text),
  )
  return hasShape(own, rest) || goesOnAfter(own, rest)
}

/** Nobody names an id more often, or more numbers besides; going through them all takes its time. */
const maxPlaces = 1_000
const maxNumbers = 10_000

/** Whether a part of a text is a known number, or a piece of one. */
function isIn(known: KnownNumbers, part: Span): boolean {
  const number = known.endOf(part)
  return number !== undefined && number.start <= part.start
}

/** Words of letters that may be read as digits ("OIL") are none, unless something joins their parts. */
function looksLikeId(text: string): boolean {
  return /\p{N}/u.test(text) || /[^\p{L}\p{N}]/u.test(text)
}

/** Where a folded id stands in a folded text, whatever is around it but letters and digits. */
function placesOf(own: string, text: string): readonly Span[] {
  const places: Span[] = []
  for (let at = text.indexOf(own); at >= 0; at = text.indexOf(own, at + own.length)) {
    const isLonger =
      /[\p{L}\p{N}]$/u.test(text.slice(Math.max(at - 2, 0), at)) ||
      /^[\p{L}\p{N}]/u.test(text.slice(at + own.length, at + own.length + 2))
    if (!isLonger) places.push({ start: at, end: at + own.length })
  }
  return places
}

/** The text with marks in the places of the id and of others. */
function cutOut(text: string, own: readonly Span[], others: readonly string[]): string {
  const cuts = [
    ...own.map((span) => ({ ...span, mark: self })),
    ...others.flatMap((one) => placesOf(one, text).map((span) => ({ ...span, mark: other }))),
  ].sort((a, b) => a.start - b.start || b.end - a.end)
  let rest = ''
  let from = 0
  for (const { start, end, mark } of cuts) {
    if (start < from) continue
    rest += text.slice(from, start) + mark
    from = end
  }
  return rest + text.slice(from)
}

/** A part of an id: letters, or digits and what may be read as one. */
interface Part {
  readonly kind: 'letters' | 'digits'
  readonly text: string
}

function partsOf(token: string): readonly Part[] {
  return (token.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((piece): readonly Part[] => {
    if (/^[0-9OIL]*[0-9][0-9OIL]*$/.test(piece)) return [{ kind: 'digits', text: piece }]
    return (piece.match(/\p{N}+|\p{L}+/gu) ?? []).map((text) => ({
      kind: /^\p{N}/u.test(text) ? 'digits' : 'letters',
      text,
    }))
  })
}

/** Whether anything in the rest of the text is built like the id, or like its beginning or end. */
function hasShape(own: string, rest: string): boolean {
  const parts = partsOf(own)
  const [first] = parts
  const digitCount = parts.findLast(({ kind }) => kind === 'digits')?.text.length ?? 0
  // Of a plain word nobody can tell what else may be meant.
  if (first === undefined || digitCount === 0) return false
  const name = first.kind === 'letters' && first.text.length > 1 ? first.text : undefined
  const joined = rest.replace(apartLetters, '')
  // Not with gaps around the dash: "my TXN - please help" goes on with a sentence.
  if (name !== undefined && new RegExp(`${begins}${name}${joins}`, 'u').test(joined)) return true
  const text = joined.replace(/ ?- ?/g, '-')
  const known = knownNumbers(text)
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (!/[0-9]/.test(token)) continue
    const number = known.endOf({ start: index, end: index + token.length })
    // Nobody counts or pays 003 of anything, but a date may have it.
    const isZeroed = /^0[0-9]+$/.test(token)
    if (number !== undefined && (!isZeroed || number.end - number.start > token.length)) continue
    if (isBuiltAlike(partsOf(token), parts, name)) return true
  }
  const lengths = parts.flatMap((part) => (part.kind === 'digits' ? [part.text.length] : []))
  return isInGroups(text, known, lengths) || isSpelledApart(text, known, first, name, digitCount)
}

/** "1234 5679" beside 12345678. */
function isInGroups(text: string, known: KnownNumbers, lengths: readonly number[]): boolean {
  const longest = Math.max(...lengths)
  if (longest < minGrouped) return false
  let run: Span[] = []
  for (const { 0: group, index } of text.matchAll(digitGroups)) {
    const end = index + group.length
    const last = run.at(-1)
    const goesOn = last !== undefined && /^[ .-]$/.test(text.slice(last.end, index))
    run = [...(goesOn ? run : []), { start: index, end }].slice(-longest)
    let count = 0
    for (const { start, end: stop } of run.toReversed()) {
      count += stop - start
      if (count > longest) break
      const isMeant = count >= minGrouped && lengths.includes(count) && start !== index
      if (isMeant && known.endOf({ start, end }) === undefined) return true
    }
  }
  return false
}

const digitGroups = /(?<![\p{L}\p{N}])[0-9OIL]*[0-9](?![\p{L}\p{N}])/gu
/** Two short numbers stand beside each other in many texts. */
const minGrouped = 4

/** The blanks in "T X N - 0 0 3". */
const apartLetters = /(?<=(?<![\p{L}\p{N}])[\p{L}\p{N}]) (?=[\p{L}\p{N}](?![\p{L}\p{N}]))/gu

/** Letters and digits, with single signs between them. */
const tokens = /[\p{L}\p{N}]+(?:[-./:#+&'\\|~=@%*·•][\p{L}\p{N}]+)*/gu

function isBuiltAlike(
  parts: readonly Part[],
  of: readonly Part[],
  name: string | undefined,
): boolean {
  if (name !== undefined && parts[0]?.text === name) return true
  const [shorter, longer] = parts.length < of.length ? [parts, of] : [of, parts]
  const fits = (from: readonly Part[]): boolean =>
    shorter.every(({ kind, text }, place) => {
      const like = from[place]
      return kind === like?.kind && (kind === 'letters' || text.length === like.text.length)
    })
  return (
    shorter.some(({ kind }) => kind === 'digits') &&
    (fits(longer) || fits(longer.slice(longer.length - shorter.length)))
  )
}

/** "TXN 003" beside TXN-DUP-002, "b 13" beside A12. */
function isSpelledApart(
  text: string,
  known: KnownNumbers,
  first: Part,
  name: string | undefined,
  digitCount: number,
): boolean {
  const isLetter = first.kind === 'letters' && first.text.length === 1
  if (name === undefined && !isLetter) return false
  const count = name === undefined ? `{${digitCount}}` : '{1,20}'
  const apart = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${name ?? '[A-Z]'})(?: (?:NUMBER|NO|NR|ID))?[^\\p{L}\\p{N}]{1,3}([0-9]${count})(?![\\p{L}\\p{N}])`,
    'gu',
  )
  return Array.from(text.matchAll(apart)).some(({ 0: all, 1: digits = '', index }) => {
    const end = index + all.length
    const start = end - digits.length
    return !isIn(known, { start, end })
  })
}

/** How the name in an id goes on, other than to say that an id follows: "TXN-REFUND" beside TXN-DUP-002. */
const begins = String.raw`(?<![\p{L}\p{N}])`
const joins = String.raw`[\p{P}\p{S}]{1,3}(?!(?:IDS?|NO|NR|NUMBERS?|REF|REFERENCE|CODE)(?!\p{L}))[\p{L}\p{N}]`

/** Whether the text goes on after the id, or comes to it, with the end of another one. */
function goesOnAfter(own: string, rest: string): boolean {
  const last = partsOf(own).at(-1)
  if (last === undefined) return false
  const known = knownNumbers(rest)
  const isMeant = (digits: string, start: number, link: string): boolean => {
    const end = start + digits.length
    if (isIn(known, { start, end })) return false
    if (!isLink.test(link)) return false
    const isLikeEnd = digits.length === last.text.length || digits.startsWith('0')
    return isLikeEnd || standsAlone.test(rest.slice(end, end + 40))
  }
  const after = Array.from(rest.matchAll(goesOn)).some(
    ({ 0: all, 1: link = '', 2: digits = '', index }) =>
      isMeant(digits, index + all.length - digits.length, link),
  )
  const before = Array.from(rest.matchAll(goesBefore)).some(
    ({ 1: digits = '', 2: link = '', index }) => isMeant(digits, index, link),
  )
  const byEnd = Array.from(rest.matchAll(namedByEnd)).some(({ 0: all, 1: digits = '', index }) => {
    const end = index + all.length
    return !isIn(known, { start: end - digits.length, end })
  })
  return after || before || byEnd || goesOnInWords.test(rest)
}

function lettersIn(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '')
}
