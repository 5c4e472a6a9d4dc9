import { Untranslatable } from '../playbook.ts'
import { readCondition } from './conditions.ts'
import { findCollection, findFieldOf, findNoun, nameWords, textTerm } from './nouns.ts'
import { splitLast, withoutArticle, wordsOf } from './phrase.ts'
import { collected, dividedGuards, inItem } from './quantifiers.ts'
import type { RuleScope } from './scope.ts'
import { isTime, moment, numberTerm, operand, type Term, wholeDay } from './term.ts'

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

function findTimePhrase(reader: Reader, text: string): Term | undefined {
  const { scope } = reader
  const part =
    /^(?:calendar )?(?:date part|date|day|midnight|whole day|calendar date) of (.+)$/.exec(text)
  if (part !== null) {
    const time = findValue(reader, part[1] ?? '')
    if (time !== undefined && isTime(time)) return wholeDay(time)
  }
  const midnight = /^(.+?) \((?:midnight|at midnight)\)$/.exec(text)
  if (midnight !== null) {
    const time = readValue(reader, midnight[1] ?? '')
    return isTime(time) ? wholeDay(time) : undefined
  }
  const between =
    /^(?:number of )?(?:completed |full |whole |elapsed |calendar )?(year|day|night|hour)s? (?:from|between|since) (.+?)(?: (?:to|and|until|till) (.+))?$/.exec(
      text,
    )
  if (between !== null) {
    const from = findValue(reader, between[2] ?? '')
    const until = between[3] === undefined ? clock(scope) : findValue(reader, between[3])
    if (from === undefined || until === undefined || !isTime(from) || !isTime(until))
      return undefined
    const name = { year: 'years', day: 'days', night: 'days', hour: 'hours' }[between[1] ?? '']
    const cel = `${name}Between(${moment(from).cel}, ${moment(until).cel})`
    return numberTerm(cel, [...from.guards, ...until.guards])
  }
  const clockTime = /^(?:time|time of day|time part|clock time)(?: of day)? of (.+)$/.exec(text)
  if (clockTime !== null) {
    const time = findValue(reader, clockTime[1] ?? '')
    if (time === undefined || !isTime(time)) return undefined
    const cel = `string(${moment(time).cel}).substring(11, 16)`
    return {
      cel,
      shape: { ...numberTerm('').shape, kinds: new Set(['text']), format: 'time' },
      guards: time.guards,
    }
  }
  const field = /^(year|month|hour|weekday) of (.+)$/.exec(text)
  if (field !== null) {
    const time = findValue(reader, field[2] ?? '')
    if (time !== undefined && isTime(time)) {
      return numberTerm(`${field[1]}(${moment(time).cel})`, time.guards)
    }
  }
  if (/^(today|current date|current day|date of today)$/.test(text)) {
    const time = clock(scope)
    return time === undefined ? undefined : wholeDay(time)
  }
  if (/^(now|current time|current moment|current date and time)$/.test(text)) return clock(scope)
  return undefined
}

/** The answer of the tool that tells the time of the case. */
function clock(scope: RuleScope): Term | undefined {
  return scope.sources().find(({ tool, text, output }) => {
    return isTime(output) && /interaction|clock|now|current|today/.test(`${tool} ${text.reads}`)
  })?.output
}

function findCount(reader: Reader, text: string): Term | undefined {
  const { scope } = reader
  const shared = /^number of (.+?) (?:required|needed|listed|shared) by both (.+) and (.+)$/.exec(
    text,
  )
  if (shared !== null) {
    const verb = /(required|needed|listed|shared) by both/.exec(text)?.[1]
    const field = `${verb === 'shared' ? '' : verb} ${shared[1]}`
    const [a, b] = [shared[2], shared[3]].map((owner) => findFieldOf(scope, field, owner ?? ''))
    if (a === undefined || b === undefined) return undefined
    const cel = `size(${a.cel}.filter(x, x in ${b.cel}))`
    return numberTerm(cel, [...a.guards, ...b.guards])
  }
  const counted = /^(?:number|count|total number) (?:of )?(.+)$/.exec(text)
  if (counted === null) return undefined
  const phrase = counted[1] ?? ''
  const known = countedBy(scope, phrase)
  if (known !== undefined) return known
  const whose = filteredPhrase(phrase)
  if (whose !== undefined) {
    const { cel, guards } = collected(reader, whose.noun, whose.test)
    return numberTerm(`size(${cel})`, guards)
  }
  const requested = phrase.replace(/^(?:requested|asked|given|supplied|wanted|chosen) /, '')
  const input = scope.check.inputs.find(
    (name) => wordsOf(name).join() === wordsOf(requested).join(),
  )
  if (input !== undefined) {
    const term = scope.input(input)
    if (term.shape.kinds.has('list')) return numberTerm(`size(${term.cel})`, term.guards)
  }
  const { list } = findCollection(scope, phrase)
  return numberTerm(`size(${list.cel})`, list.guards)
}

/** A tool that answers the number itself. */
function countedBy(scope: RuleScope, phrase: string): Term | undefined {
  const words = wordsOf(phrase)
  const keyed = (name: readonly string[], args: readonly string[]) => {
    const ofArgs = args.flatMap((cel) => wordsOf(cel.split('.').at(-1) ?? ''))
    return (
      name.every((word) => words.includes(word)) &&
      words.every((word) => name.includes(word) || ofArgs.includes(word))
    )
  }
  const found = scope.sources().filter((source) => {
    const isNumber = source.output.shape.kinds.has('number')
    return isNumber && nameWords(source).some((name) => keyed(name, source.args))
  })
  return found.length === 1 ? found[0]?.output : undefined
}

/** `claims whose status is «0»`: the noun, and what must hold of each. */
function filteredPhrase(phrase: string): { noun: string; test: string } | undefined {
  const found =
    /^(.+?) (whose|where|that are|that is|that have|which are|which have|that|which|with (?:a |an |the )?(?=\S+ (?:is|=|<|>|«|\d|of at least))) ?(.+)$/.exec(
      phrase,
    )
  if (found === null) return undefined
  const [, noun = '', link = '', rest = ''] = found
  if (link === 'that are' || link === 'which are' || link === 'that is')
    return { noun, test: `it is ${rest}` }
  if (link === 'that have' || link === 'which have') return { noun, test: `it has ${rest}` }
  return { noun, test: link === 'that' || link === 'which' ? `it ${rest}` : rest }
}

/** Sums, largest and smallest. */
function findAggregate(reader: Reader, text: string): Term | undefined {
  const parts =
    /^(sum|total|average|mean|largest|smallest|highest|lowest|maximum|minimum|latest|earliest)(?: of)? (.+?) (?:over|of|in|among|across|for) (?:all |every |the )?(.+)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const [, kind = '', value = '', phrase = ''] = parts
  const whose = filteredPhrase(phrase) ?? { noun: phrase, test: '' }
  const { cel, guards, item } = collected(reader, whose.noun, whose.test)
  const each = inItem(reader, item, () => readValue(reader, value))
  const { inside, before } = dividedGuards(each, item)
  // What cannot be read of one item cannot be left out of a sum.
  const readable =
    inside.length === 0 ? [] : [`${operand(cel)}.all(${item.name}, ${inside.join(' && ')})`]
  const own = [...before, ...readable]
  const name = /sum|total|average|mean/.test(kind)
    ? 'sum'
    : /larg|high|max|lat/.test(kind)
      ? 'max'
      : 'min'
  const body = each.shape.format !== undefined && isTime(each) ? moment(each).cel : each.cel
  const result = `${name}(${operand(cel)}.map(${item.name}, ${body}))`
  const isMean = /average|mean/.test(kind)
  return numberTerm(isMean ? `${result} / size(${cel})` : result, [
    ...guards,
    ...own,
    ...(isMean ? [`size(${cel}) > 0`] : []),
  ])
}

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
