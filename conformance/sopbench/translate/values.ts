import { Untranslatable } from '../playbook.ts'
import { readCondition } from './conditions.ts'
import { findAggregate, findCount } from './counts.ts'
import { findFieldOf, findNoun, textTerm } from './nouns.ts'
import { splitLast, withoutArticle } from './phrase.ts'
import type { RuleScope } from './scope.ts'
import { isTime, moment, numberTerm, operand, type Term, wholeDay } from './term.ts'
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
  if (operator === '-' && isTime(left) && isTime(right)) {
    return { ...numberTerm('', guards), between: { from: right, until: left } }
  }
  const sign = operator === 'x' ? '*' : operator
  return numberTerm(`${operand(left.cel)} ${sign} ${operand(right.cel)}`, guards)
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
  const amount = factor === 1 ? count : `${operand(count)} * ${factor}`
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

/** A noun, or a phrase that says what to do with nouns. */
function findPhrase(reader: Reader, phrase: string): Term | undefined {
  const { scope, quoted } = reader
  const text = withoutArticle(phrase)
  const quotedText = /^«(\d+)»$/.exec(text)
  if (quotedText !== null) return textTerm(quoted[Number(quotedText[1])] ?? '')
  if (/^-?\d+(\.\d+)?$/.test(text)) return numberTerm(text)
  const percent = /^(\d+(?:\.\d+)?)\s*(?:%|percent)$/.exec(text)
  if (percent !== null) return numberTerm(`${Number(percent[1]) / 100}`)
  if (/^(true|false)$/.test(text)) return { ...numberTerm(text), shape: booleanShape }
  if (/^\(.*\)$/.test(text)) return findValue(reader, text.slice(1, -1))
  const constant = /^policy\.(\w+)$/.exec(text)
  const constantShape = scope.learned.policy.get(constant?.[1] ?? '')
  if (constantShape !== undefined) return { cel: text, shape: constantShape, guards: [] }
  const defined = scope.definitions.get(text)
  if (defined !== undefined) return defined
  const length = /^(.+?) (minute|hour|day|night|week)s?$/.exec(text)
  const each = unitHours[length?.[2] ?? '']
  if (length !== null && each !== undefined) {
    const count = findValue(reader, length[1] ?? '')
    if (count?.shape.kinds.has('number') && count.hoursEach === undefined) {
      return { ...count, hoursEach: each }
    }
  }
  return (
    findTimePhrase(reader, text) ??
    findCount(reader, text) ??
    findAggregate(reader, text) ??
    findChanged(reader, text) ??
    findNoun(scope, text) ??
    findOwned(reader, text)
  )
}

const booleanShape = { ...numberTerm('').shape, kinds: new Set(['boolean'] as const) }

/** `availability, lower-cased`. */
function findChanged(reader: Reader, text: string): Term | undefined {
  const lowered =
    /^(.+?),? \(?(lower-?cased|in lower case|ignoring (?:the )?case|case-insensitively|regardless of case)\)?,?$/i.exec(
      text,
    )
  if (lowered === null) return undefined
  const value = readValue(reader, lowered[1] ?? '')
  if (/^(lower|in lower)/i.test(lowered[2] ?? '')) return { ...value, cel: `lower(${value.cel})` }
  return { ...value, ignoresCase: true }
}

/** `credits of the course`, `the course's credits`. */
function findOwned({ scope }: Reader, text: string): Term | undefined {
  const of = /^(.+?) of (.+)$/.exec(text)
  if (of !== null) return findFieldOf(scope, of[1] ?? '', of[2] ?? '')
  const genitive = /^(.+?)['’]s? (.+)$/.exec(text)
  if (genitive !== null) return findFieldOf(scope, genitive[2] ?? '', genitive[1] ?? '')
  return undefined
}

export function unmask({ quoted }: Pick<Reader, 'quoted'>, text: string): string {
  return text.replace(/«(\d+)»/g, (_, index) => `"${quoted[Number(index)]}"`).trim()
}
