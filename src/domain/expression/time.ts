import { Fault } from './value.ts'

/** Which days are working days. Plain JSON, so that a run can pin it. All dates are in UTC. */
export interface Calendar {
  /** ISO weekdays that are worked, 1 (Monday) to 7 (Sunday); at least one. */
  readonly weekdays: readonly number[]
  /** Dates that are not worked, as `2026-12-25`. */
  readonly holidays: readonly string[]
}

/** Monday to Friday, without holidays. */
export const defaultCalendar: Calendar = { weekdays: [1, 2, 3, 4, 5], holidays: [] }

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The years 0000 to 9999, which RFC 3339 can write. */
const firstInstant = Date.parse('0000-01-01T00:00:00.000Z')
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z')
/** Ten years of days: the longest stretch of working days that is counted. */
export const maxWorkdayStretch = 3_660

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/
const timestampPattern =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/i
const looseTimestampPattern =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?$/i

/** Reads RFC 3339 text, cut to milliseconds, or a date, which means its midnight UTC. Epoch milliseconds. */
export function findInstant(text: string): number | undefined {
  const date = datePattern.exec(text)
  if (date !== null) return midnightOf(date)
  const match = timestampPattern.exec(text)
  if (match === null) return undefined
  const midnight = midnightOf(match)
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])]
  const millis = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const offset = findOffset(match[8] ?? 'Z')
  if (midnight === undefined || offset === undefined) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const at = midnight + hour * hourMs + minute * 60_000 + second * 1_000 + millis - offset
  return isInstant(at) ? at : undefined
}

/**
 * Reads what `findInstant` reads, and a date-time as it is often stored: with a blank for the `T`, without seconds, or
 * without a zone, which then is UTC.
 */
export function findLooseInstant(text: string): number | undefined {
  const [match, date, time, seconds = ':00', zone = 'Z'] = looseTimestampPattern.exec(text) ?? []
  return findInstant(match === undefined ? text : `${date}T${time}${seconds}${zone}`)
}

/** RFC 3339 in UTC with milliseconds. */
export function instantText(at: number): string {
  return new Date(at).toISOString()
}

/** Midnight UTC of the day of an instant. */
export function startOfDay(at: number): number {
  return Math.floor(at / dayMs) * dayMs
}

/** @throws Fault when the result lies outside the years 0000 to 9999. */
export function addDays(at: number, days: number): number {
  return checkInstant(at + days * dayMs)
}

/** `hours` may be a fraction; the result is rounded to a millisecond. */
export function addHours(at: number, hours: number): number {
  return checkInstant(at + Math.round(hours * hourMs))
}

/** Midnights UTC from `from` to `until`: 0 within one day, negative when `until` is earlier. */
export function daysBetween(from: number, until: number): number {
  return (startOfDay(until) - startOfDay(from)) / dayMs
}

/** Elapsed hours, with fractions. */
export function hoursBetween(from: number, until: number): number {
  return (until - from) / hourMs
}

/** Completed years by date, as one counts an age; negative when `until` is earlier. */
export function yearsBetween(from: number, until: number): number {
  if (until < from) return 0 - yearsBetween(until, from)
  const [a, b] = [new Date(from), new Date(until)]
  const years = b.getUTCFullYear() - a.getUTCFullYear()
  const isBeforeDay =
    b.getUTCMonth() < a.getUTCMonth() ||
    (b.getUTCMonth() === a.getUTCMonth() && b.getUTCDate() < a.getUTCDate())
  return isBeforeDay ? years - 1 : years
}

/** 1 is Monday, 7 is Sunday. */
export function weekday(at: number): number {
  return new Date(at).getUTCDay() || 7
}

/**
 * The `days`-th working day after an instant, or before it when negative; the time of day stays. 0 is the instant
 * itself, worked or not.
 *
 * @throws Fault when it lies more than 3,660 days away, or the calendar has no working day.
 */
export function addWorkdays(at: number, days: number, calendar: Calendar): number {
  const isWorkday = workdayTest(calendar)
  const step = days < 0 ? -1 : 1
  let left = Math.abs(days)
  let result = at
  for (let walked = 0; left > 0; walked += 1) {
    if (walked >= maxWorkdayStretch) {
      throw new Fault(`addWorkdays() looks at most ${maxWorkdayStretch} days ahead`)
    }
    result = addDays(result, step)
    if (isWorkday(result)) left -= 1
  }
  return result
}

/**
 * Working days after the day of `from`, up to and including the day of `until`; negative when `until` is earlier. Hence
 * `workdaysBetween(t, addWorkdays(t, n))` is n.
 *
 * @throws Fault when the two are more than 3,660 days apart.
 */
export function workdaysBetween(from: number, until: number, calendar: Calendar): number {
  const days = daysBetween(from, until)
  if (Math.abs(days) > maxWorkdayStretch) {
    throw new Fault(
      `workdaysBetween() counts over at most ${maxWorkdayStretch} days, these are ${Math.abs(days)}`,
    )
  }
  const isWorkday = workdayTest(calendar)
  const step = days < 0 ? -1 : 1
  let count = 0
  for (let day = step; Math.abs(day) <= Math.abs(days); day += step) {
    if (isWorkday(startOfDay(from) + day * dayMs)) count += step
  }
  return count
}

function workdayTest(calendar: Calendar): (at: number) => boolean {
  const holidays = new Set(calendar.holidays)
  return (at) =>
    calendar.weekdays.includes(weekday(at)) && !holidays.has(instantText(at).slice(0, 10))
}

function midnightOf(match: RegExpExecArray): number | undefined {
  return findMidnight(Number(match[1]), Number(match[2]), Number(match[3]))
}

/** Midnight UTC of a day, months from 1; undefined for a day that does not exist. */
export function findMidnight(year: number, month: number, day: number): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  // A date that does not exist, such as 30 February, rolls over and is found out here.
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined
}

function findOffset(text: string): number | undefined {
  if (text === 'Z' || text === 'z') return 0
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(4, 6))]
  if (hours > 23 || minutes > 59) return undefined
  return (text.startsWith('-') ? -1 : 1) * (hours * hourMs + minutes * 60_000)
}

/** Whether RFC 3339 can write an instant: it lies in the years 0000 to 9999. */
export function isInstant(at: number): boolean {
  return at >= firstInstant && at <= lastInstant
}

function checkInstant(at: number): number {
  if (isInstant(at)) return at
  throw new Fault('the time lies outside the years 0000 to 9999')
}
