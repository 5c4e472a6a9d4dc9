import { Untranslatable } from '../playbook.ts'
import { only } from './nouns.ts'
import { recordNamed, timesLike } from './records.ts'
import type { RuleScope } from './scope.ts'
import { isTime, moment, numberTerm, type Term, wholeDay } from './term.ts'
import { findValue, type Reader, readValue } from './values.ts'

export function findTimePhrase(reader: Reader, text: string): Term | undefined {
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
    /^(?:number of )?(?:completed |full |whole |elapsed |calendar )?(year|month|day|night|hour)s? (?:from|between|since) (.+?)(?: (?:to|and|until|till) (.+))?$/.exec(
      text,
    )
  if (between !== null) {
    const from = findValue(reader, between[2] ?? '')
    const until = between[3] === undefined ? clock(scope) : findValue(reader, between[3])
    if (from === undefined || until === undefined || !isTime(from) || !isTime(until))
      return undefined
    if (between[1] === 'month')
      throw new Untranslatable('how many months there are between two times')
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
  const field =
    /^(year|month|hour|weekday) of (.+)$/.exec(text) ??
    /^current (year|month|hour|weekday)()$/.exec(text)
  if (field !== null) {
    const time = field[2] === '' ? clock(scope) : findValue(reader, field[2] ?? '')
    if (time !== undefined && isTime(time)) {
      return numberTerm(`${field[1]}(${moment(time).cel})`, time.guards)
    }
  }
  const moved = findMoved(reader, text) ?? findAge(reader, text)
  if (moved !== undefined) return moved
  if (/^(today|current date|current day|date of today|tomorrow|yesterday)$/.test(text)) {
    const time = clock(scope)
    if (time === undefined) return undefined
    const day = wholeDay(time)
    const days = { tomorrow: 1, yesterday: -1 }[text]
    return days === undefined ? day : { ...day, cel: `addDays(${day.cel}, ${days})` }
  }
  if (/^(now|current time|current moment|current date and time)$/.test(text)) return clock(scope)
  return undefined
}

/** `2 hours before check_in`, `30 days from now`, `3 days after A`. */
function findMoved(reader: Reader, text: string): Term | undefined {
  const unit = '(.+? (?:minutes?|hours?|days?|nights?|weeks?|months?|years?))'
  const parts =
    new RegExp(`^${unit} (before|after|from|prior to|later than|earlier than) (.+)$`).exec(text) ??
    new RegExp(`^${unit} (ago|from now)()$`).exec(text)
  if (parts === null) return undefined
  const [, length, side = '', other] = parts
  const isEarlier = /before|prior|ago|earlier/.test(side)
  return findValue(reader, `${other === '' ? 'now' : other} ${isEarlier ? '-' : '+'} ${length}`)
}

/** `age of the guest`, `the guest's age on check_in`: completed years since the one date of birth that is known. */
function findAge(reader: Reader, text: string): Term | undefined {
  const parts =
    /^(?:current )?age(?: in (?:completed |full )?years)?(?: of (.+?))?(?: (?:on|at) (.+))?$/.exec(
      text,
    ) ?? /^(.+?)(?:['’]s?) age(?: (?:on|at) (.+))?$/.exec(text)
  if (parts === null) return undefined
  const { scope } = reader
  const until = parts[2] === undefined ? clock(scope) : findValue(reader, parts[2])
  const who = parts[1]?.replace(/ in (?:completed |full )?years$/, '')
  const item = who === undefined ? undefined : recordNamed(reader, who)
  const records = item === undefined ? scope.sources().map(({ output }) => output) : [item]
  const births = records.flatMap(
    (record) => timesLike(record, /^(birth\w*|born|dob)$/) ?? (isBirth(record) ? [record] : []),
  )
  const born = only(births)
  if (born === undefined || until === undefined || !isTime(until)) return undefined
  const cel = `yearsBetween(${moment(born).cel}, ${moment(until).cel})`
  return numberTerm(cel, [...born.guards, ...until.guards])
}

function isBirth(answer: Term): boolean {
  return isTime(answer) && /birth|born|dob/.test(answer.cel)
}

/** The answer of the tool that tells the time of the case. */
export function clock(scope: RuleScope): Term | undefined {
  const sources = scope.sources().filter(({ output }) => isTime(output))
  const named = sources.find(({ tool, text }) =>
    /interaction|clock|now|current|today/.test(`${tool} ${text.reads}`),
  )
  const [bare, ...others] = sources.filter(({ args }) => args.length === 0)
  return named?.output ?? (others.length === 0 ? bare?.output : undefined)
}
