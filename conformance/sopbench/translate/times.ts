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
