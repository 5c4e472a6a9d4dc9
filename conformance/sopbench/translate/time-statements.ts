import { readCondition } from './conditions.ts'
import { isRecord, recordNamed, timesLike } from './records.ts'
import { type Condition, isTime, moment, negated, type Term } from './term.ts'
import { clock } from './times.ts'
import { findValue, type Reader } from './values.ts'

/** What is said of times alone: in the past, expired, on a weekend, how old somebody is. */
export function readTimeStatement(reader: Reader, text: string): Condition | undefined {
  const plain = text.replace(/between .+? and | (?:or|and) (?=older|younger|Sunday)/g, ' ')
  if (/ (?:and|or) /.test(plain)) return undefined
  return (
    readAge(reader, text) ??
    readAgo(reader, text) ??
    readTense(reader, text) ??
    readExpiry(reader, text) ??
    readWeekday(reader, text)
  )
}

/** `the guest is at least 18 years old`, `is 21 or older`, `is under 12 years of age`. */
function readAge(reader: Reader, text: string): Condition | undefined {
  const years = /^(.+?) is (.+?) (?:years? old|years? of age|old|years)$/.exec(text)
  const older = /^(.+?) is (\S+) (?:years )?(?:or|and) (older|younger)$/.exec(text)
  const than = /^(.+?) is (not |no )?(older|younger) than (.+?)(?: years)?$/.exec(text)
  if (older !== null) {
    const words = older[3] === 'older' ? 'at least' : 'at most'
    return ofAge(reader, older[1] ?? '', `${words} ${older[2]}`)
  }
  if (than !== null) {
    const isNot = than[2] !== undefined
    const isOlder = than[3] === 'older'
    const words = isNot ? (isOlder ? 'at most' : 'at least') : isOlder ? 'more than' : 'less than'
    return ofAge(reader, than[1] ?? '', `${words} ${than[4]}`)
  }
  return years === null ? undefined : ofAge(reader, years[1] ?? '', years[2] ?? '')
}

function ofAge(reader: Reader, who: string, said: string): Condition | undefined {
  if (findValue(reader, `age of ${who}`) === undefined) return undefined
  return readCondition(reader, `age of ${who} is ${said}`)
}

/** `filed_at is no more than 14 days ago`, `was delivered less than 3 weeks ago`. */
function readAgo(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(.+?) (?:is|was|were|lies) (.*?)(at least|at most|more than|less than|fewer than|no more than|not more than|within the last|within the past|in the last|in the past) (.+? (?:minutes?|hours?|days?|nights?|weeks?|months?|years?))(?: ago)?$/.exec(
      text,
    )
  const next = /^(.+?) is (?:within|in) the (?:next|coming) (.+)$/.exec(text)
  const ahead = next === null ? undefined : timeOf(reader, next[1] ?? '', '')
  if (ahead !== undefined) {
    return reading(reader, ahead, (name) => `${name} >= now, and ${name} <= now + ${next?.[2]}`)
  }
  if (parts === null || !/ ago$|within the|in the/.test(text)) return undefined
  const [, about = '', verb = '', words = '', length = ''] = parts
  const time = timeOf(reader, about, verb.trim())
  if (time === undefined) return undefined
  return reading(reader, time, (name) => {
    const span = words
      .replace(/not more|within.*|in the.*/, 'no more')
      .replace('no more than', 'no more')
    const operator = span === 'no more' ? 'no more than' : words
    const passed = `${operator} ${length} have passed since ${name}`
    // What lies ahead was not within the last days.
    return /within|in the/.test(words) ? `${name} <= now, and ${passed}` : passed
  })
}

/** `X is in the future`, `X is in the past`, `X is today`, `X has passed`, `X is over`. */
function readTense(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(.+?) (is|are|has|have|lies) (not |no longer )?(in the future|in the past|today|passed|yet to come|over|ahead)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const [, about = '', , not, said = ''] = parts
  const time = findValue(reader, about)
  if (time === undefined || !isTime(time)) return undefined
  const operator = said === 'today' ? '==' : /future|come|ahead/.test(said) ? '>' : '<'
  const isDay = said === 'today'
  const condition = reading(reader, time, (name) =>
    isDay ? `date of ${name} == today` : `${name} ${operator} now`,
  )
  return condition === undefined ? undefined : negated(condition, not !== undefined)
}

/** `the coupon has not expired`, `the licence is still valid`: by the one time of the record that ends it. */
function readExpiry(reader: Reader, text: string): Condition | undefined {
  const parts = /^(.+?) (?:is|has|have|are) (not |un)?(expired|lapsed|valid|in date|run out)$/.exec(
    text,
  )
  if (parts === null) return undefined
  const [, about = '', not, said = ''] = parts
  const record = recordNamed(reader, about)
  const value = record === undefined ? findValue(reader, about) : undefined
  const time =
    value !== undefined && isTime(value)
      ? value
      : record === undefined
        ? undefined
        : timesLike(record, /^(exp|expir\w*|valid|until|end|ends)$/)
  if (time === undefined) return undefined
  const isEnd = /expired|lapsed|run out/.test(said)
  const condition = reading(reader, time, (name) => `${name} < now`)
  return condition === undefined ? undefined : negated(condition, (not !== undefined) === isEnd)
}

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** `X is a weekday`, `X is on a weekend`, `X is a Saturday or Sunday`, `X is not on a Monday`. */
function readWeekday(reader: Reader, text: string): Condition | undefined {
  const parts = /^(.+?) (?:is|are) (not )?(?:on )?(?:an? |the )?(.+?)s?$/i.exec(text)
  if (parts === null) return undefined
  const [, about = '', not, said = ''] = parts
  const days = daysNamed(said.toLowerCase())
  if (days === undefined) return undefined
  const time = findValue(reader, about)
  if (time === undefined || !isTime(time)) return undefined
  const [day] = days
  const weekday = `weekday(${moment(time).cel})`
  const cel = days.length === 1 ? `${weekday} == ${day}` : `${weekday} in [${days.join(', ')}]`
  return negated({ cel, guards: time.guards }, not !== undefined)
}

function daysNamed(said: string): readonly number[] | undefined {
  if (/^(weekend|weekend day)$/.test(said)) return [6, 7]
  if (/^(weekday|working day|workday|business day)$/.test(said)) return [1, 2, 3, 4, 5]
  const days = said
    .split(/ or (?:on )?(?:an? )?|, (?:or )?/)
    .map((name) => weekdays.indexOf(name) + 1)
  return days.some((day) => day === 0) ? undefined : days
}

/** A time that is named, or the time of a record at which something was done to it: `delivered` of `delivered_at`. */
function timeOf(reader: Reader, about: string, verb: string): Term | undefined {
  const value = verb === '' ? findValue(reader, about) : undefined
  if (value !== undefined && isTime(value)) return value
  const record = recordNamed(reader, about)
  if (record === undefined || !isRecord(record) || verb === '') return undefined
  return timesLike(record, new RegExp(`^${verb.replace(/(ed|d)$/, '')}\\w*$`))
}

/** Reads a sentence about a value that has no name of its own in the text. */
function reading(
  reader: Reader,
  term: Term,
  sentence: (name: string) => string,
): Condition | undefined {
  const { scope } = reader
  const name = `thetime${scope.definitions.size}`
  scope.definitions.set(name, term)
  if (clock(scope) === undefined) return undefined
  return readCondition(reader, sentence(name))
}
