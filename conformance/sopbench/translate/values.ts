import { Untranslatable } from '../playbook.ts'
import { readCondition } from './conditions.ts'
import { findAggregate, findCount } from './counts.ts'
import { findReferred } from './keyed-records.ts'
import { findField, findFieldOf, findNoun, textTerm } from './nouns.ts'
import { sameWords, splitLast, withoutArticle, wordsOf } from './phrase.ts'
import { findPick } from './picks.ts'
import type { RuleScope } from './scope.ts'
import { isTime, moment, numberIn, numberTerm, operand, type Term, wholeDay } from './term.ts'
import { findTimePhrase } from './times.ts'

/** What reads the text of a rule: the scope, and the texts that stood in quotes. */
export interface Reader {
  readonly scope: RuleScope
  readonly quoted: readonly string[]
}

/** Reads a value: sums and products of nouns, lengths of time, counts. Throws `Untranslatable`. */
export function readValue(reader: Reader, phrase: string): Term {
  const found = findValue(reader, phrase.trim())
  if (found === undefined)
    throw new Untranslatable(`it is not known what '${unmask(reader, phrase)}' is`)
  return found
}

export function findValue(reader: Reader, phrase: string): Term | undefined {
  const text = phrase
    .trim()
    .replace(/^,\s*|\s*,$/g, '')
    .replace(/,? plus /g, ' + ')
    .replace(/,? minus /g, ' - ')
    .replace(/ (?:times|multiplied by|×|\*) /g, ' x ')
    .replace(/ divided by /g, ' / ')
    .replace(/([\w»)])\/(\d)/g, '$1 / $2')
  return (
    findRounded(reader, text) ??
    findConditional(reader, text) ??
    findDefault(reader, text) ??
    findKnownProduct(reader, text) ??
    findArithmetic(reader, text) ??
    findPhrase(reader, text)
  )
}

/** `amount when unit contains «0», else amount / 100`. */
function findConditional(reader: Reader, text: string): Term | undefined {
  const parts =
    /^(.+?),? (?:when|if) (.+?)(?:,|;)? (?:else|otherwise) (.+)$/.exec(text) ??
    /^(?:when|if) (.+?) then (.+?)(?:,|;)? (?:else|otherwise) (.+)$/.exec(text)
  if (parts === null) return undefined
  const isThenFirst = !/^(?:when|if) /.test(text)
  const [yesText = '', testText = ''] = isThenFirst ? [parts[1], parts[2]] : [parts[2], parts[1]]
  const test = readCondition(reader, testText)
  const [yes, no] = [readValue(reader, yesText), readValue(reader, parts[3] ?? '')]
  const guards = [...test.guards, ...yes.guards, ...no.guards]
  return { ...yes, cel: `${operand(test.cel)} ? ${operand(yes.cel)} : ${operand(no.cel)}`, guards }
}

const roundings: readonly (readonly [RegExp, (cel: string) => string])[] = [
  [
    /^(?:down|down to (?:a |the )?(?:nearest |next )?(?:whole numbers?|integers?))$/,
    (cel) => `floor(${cel})`,
  ],
  [
    /^(?:up|up to (?:a |the )?(?:nearest |next )?(?:whole numbers?|integers?))$/,
    (cel) => `ceil(${cel})`,
  ],
  [
    /^(?:to (?:a |the )?(?:nearest )?(?:whole numbers?|integers?|whole|full numbers?)|to the nearest one)$/,
    (cel) => `round(${cel})`,
  ],
  [
    /^to (?:two|2) (?:decimals?|decimal places|digits)$|^to (?:full |whole )?cents$/,
    (cel) => `round(${cel}, 2)`,
  ],
  [/^to (?:one|1) (?:decimals?|decimal place|digit)$/, (cel) => `round(${cel}, 1)`],
]

/** `rate x nights, rounded to whole numbers`. */
function findRounded(reader: Reader, text: string): Term | undefined {
  const parts = /^(.+?),? \(?rounded (.+?)\)?$/.exec(text)
  if (parts === null) return undefined
  const [, value = '', how = ''] = parts
  const rounding = roundings.find(([pattern]) => pattern.test(how))?.[1]
  if (rounding === undefined) throw new Untranslatable(`'rounded ${how}' is not understood`)
  const exact = numberIn(readValue(reader, value))
  return { ...numberTerm(rounding(exact.cel), exact.guards) }
}

/** `min_gpa of the minor (2.0 when absent)`. */
function findDefault(reader: Reader, text: string): Term | undefined {
  const parts = /^(.+?) \((\S+) (?:when|if) (?:absent|missing|not given|none|null|not set)\)$/.exec(
    text,
  )
  if (parts === null) return undefined
  const [value, other] = [readValue(reader, parts[1] ?? ''), readValue(reader, parts[2] ?? '')]
  const guards = value.guards.filter((guard) => guard !== `has(${value.cel})`)
  return { ...value, cel: `has(${value.cel}) ? ${value.cel} : ${other.cel}`, guards }
}

/** A product that one of the tools has worked out: `late_book_count x late_fee_per_book`. */
function findKnownProduct({ scope }: Reader, text: string): Term | undefined {
  const parts = text.split(' x ').map((part) => part.trim())
  if (parts.length < 2) return undefined
  const known = scope.sources().find(({ text: { result, reads } }) => {
    if (!/\bproduct\b/.test(result)) return false
    return parts.every((part) => reads.includes(part)) && reads.split(',').length === parts.length
  })
  return known?.output
}

function findArithmetic(reader: Reader, text: string): Term | undefined {
  const parts = splitLast(text, ['+', '-']) ?? splitLast(text, ['x', '/'])
  if (parts === undefined) return undefined
  const [left, right] = [findValue(reader, parts[0]), findValue(reader, parts[2])]
  if (left === undefined || right === undefined) return undefined
  const guards = [...left.guards, ...right.guards]
  const operator = parts[1]
  if (right.hoursEach !== undefined && isTime(left) && (operator === '+' || operator === '-')) {
    return shifted(reader, left, right, operator, guards)
  }
  if (right.monthsEach !== undefined && isTime(left) && (operator === '+' || operator === '-')) {
    const months = operator === '+' ? right : { ...right, cel: `-${operand(right.cel)}` }
    return { ...moment(left), movedBy: { from: left, months } }
  }
  if (operator === '-' && isTime(left) && isTime(right)) {
    return { ...numberTerm('', guards), between: { from: right, until: left } }
  }
  if (left.hoursEach !== undefined || right.hoursEach !== undefined) {
    throw new Untranslatable(`'${text}' adds lengths of time`)
  }
  const sign = operator === 'x' ? '*' : operator
  const [a, b] = [numberIn(left), numberIn(right)]
  const whole = [...a.guards, ...b.guards]
  return numberTerm(`${operand(a.cel)} ${sign} ${operand(b.cel)}`, whole)
}

function shifted(
  { scope }: Reader,
  time: Term,
  length: Term,
  operator: string,
  guards: readonly string[],
): Term {
  const from = scope.wholeDays ? wholeDay(time) : moment(time)
  const count = operator === '-' ? `-${operand(length.cel)}` : length.cel
  const isDays = (length.hoursEach ?? 0) % 24 === 0
  const factor = (length.hoursEach ?? 0) / (isDays ? 24 : 1)
  const scaled = factor < 1 ? `/ ${Math.round(1 / factor)}` : `* ${factor}`
  const amount = factor === 1 ? count : `${operand(count)} ${scaled}`
  const cel = `${isDays ? 'addDays' : 'addHours'}(${from.cel}, ${amount})`
  return { ...from, cel, guards }
}

const unitHours: Readonly<Record<string, number>> = {
  minute: 1 / 60,
  hour: 1,
  day: 24,
  night: 24,
  week: 168,
}

const unitMonths: Readonly<Record<string, number>> = { month: 1, year: 12 }

const numberWords = [
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'],
  ...['eleven', 'twelve'],
]

/** A noun, or a phrase that says what to do with nouns. */
function findPhrase(reader: Reader, phrase: string): Term | undefined {
  const { scope, quoted } = reader
  const text = withoutArticle(phrase)
    .replace(/^(?:list|map|set|value|text) of (?=\w)/, '')
    .replace(/ (?:left|in total|on record|so far)$/, '')
  const item = scope.items.at(-1)
  if (text === 'it' && item !== undefined) {
    return item.record?.shape.kinds.has('number') ? item.record : item.self
  }
  const quotedText = /^«(\d+)»$/.exec(text)
  if (quotedText !== null) return textTerm(quoted[Number(quotedText[1])] ?? '')
  if (/^-?\d+(\.\d+)?$/.test(text)) return numberTerm(text)
  if (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text)) return numberTerm(text.replaceAll(',', ''))
  if (numberWords.includes(text)) return numberTerm(String(numberWords.indexOf(text)))
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return writtenTime(text, 'date')
  if (/^\d{1,2}:\d{2}$/.test(text)) return writtenTime(text.padStart(5, '0'), 'time')
  const percent = /^(\d+(?:\.\d+)?)\s*(?:%|percent)$/.exec(text)
  if (percent !== null) return numberTerm(`${Number(percent[1]) / 100}`)
  if (/^(true|false)$/.test(text)) return { ...numberTerm(text), shape: booleanShape }
  if (/^\(.*\)$/.test(text)) return findValue(reader, text.slice(1, -1))
  const constant = /^policy\.(\w+)$/.exec(text)
  const constantShape = scope.learned.policy.get(constant?.[1] ?? '')
  if (constantShape !== undefined) return { cel: text, shape: constantShape, guards: [] }
  const defined = scope.definitions.get(text)
  if (defined !== undefined) return defined
  if (scope.ranking.includes(text)) return textTerm(text)
  const requested = findRequested(scope, text)
  if (requested !== undefined) return requested
  const length = findLength(reader, text)
  if (length !== undefined) return length
  return (
    findTimePhrase(reader, text) ??
    findPick(reader, text) ??
    understood(() => findCount(reader, text)) ??
    understood(() => findAggregate(reader, text)) ??
    findChanged(reader, text) ??
    findNoun(scope, text) ??
    findOwned(reader, text)
  )
}

/** `the speciality asked for`, `requested slots`: what the customer supplied, and no field of that name. */
export function findRequested(scope: RuleScope, text: string): Term | undefined {
  const [, before, after] =
    /^(?:requested|given|supplied|wanted|chosen|desired|new) (.+)$|^(.+?) (?:asked for|requested|given|supplied|wanted|chosen)$/.exec(
      text,
    ) ?? []
  const words = wordsOf(before ?? after ?? '')
  const name = scope.check.inputs.find((one) => sameWords(wordsOf(one), words))
  return name === undefined ? undefined : scope.input(name)
}

function writtenTime(text: string, format: 'date' | 'time'): Term {
  return { ...textTerm(text), shape: { ...textTerm(text).shape, format } }
}

/** A value, or undefined where the words of it make no sense. */
function understood(find: () => Term | undefined): Term | undefined {
  try {
    return find()
  } catch (error) {
    if (error instanceof Untranslatable) return undefined
    throw error
  }
}

/** `3 hours`, `policy.notice days`, `6 months`. */
function findLength(reader: Reader, text: string): Term | undefined {
  const [, words, unit = ''] = /^(.+?) (minute|hour|day|night|week|month|year)s?$/.exec(text) ?? []
  const count = words === undefined ? undefined : understood(() => findValue(reader, words))
  const isPlain = count?.hoursEach === undefined && count?.monthsEach === undefined
  if (count === undefined || !count.shape.kinds.has('number') || !isPlain) return undefined
  const [hours, months] = [unitHours[unit], unitMonths[unit]]
  if (hours !== undefined) return { ...count, hoursEach: hours }
  return months === undefined ? undefined : { ...count, monthsEach: months }
}

const booleanShape = { ...numberTerm('').shape, kinds: new Set(['boolean'] as const) }

/** `availability, lower-cased`. */
function findChanged(reader: Reader, text: string): Term | undefined {
  const lowered =
    /^(.+?),? \(?(lower-?cased|in lower case|ignoring (?:the )?case|case-insensitively|regardless of case)\)?,?$/i.exec(
      text,
    )
  const written = /^(.+?),? (?:as|taken as|read as) a number,?$/.exec(text)
  if (written !== null) return numberIn(readValue(reader, written[1] ?? ''))
  if (lowered === null) return undefined
  const value = readValue(reader, lowered[1] ?? '')
  if (/^(lower|in lower)/i.test(lowered[2] ?? '')) return { ...value, cel: `lower(${value.cel})` }
  return { ...value, ignoresCase: true }
}

/** `credits of the course`, `the course's credits`. */
function findOwned(reader: Reader, text: string): Term | undefined {
  const { scope } = reader
  const of = /^(.+?) of (.+)$/.exec(text)
  if (of !== null) {
    const [, field = '', owner = ''] = of
    const record = / of /.test(owner) ? findOwned(reader, withoutArticle(owner)) : undefined
    return record === undefined
      ? findFieldOf(scope, field, owner)
      : (findField(record, wordsOf(field)) ?? findReferred(scope, wordsOf(field), [record]))
  }
  const genitive = /^(.+?)['’]s? (.+)$/.exec(text)
  if (genitive !== null) return findFieldOf(scope, genitive[2] ?? '', genitive[1] ?? '')
  return undefined
}

export function unmask({ quoted }: Pick<Reader, 'quoted'>, text: string): string {
  return text.replace(/«(\d+)»/g, (_, index) => `"${quoted[Number(index)]}"`).trim()
}
