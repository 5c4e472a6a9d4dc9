import { type DateForm, findInForm } from './date-form.ts'
import { decimalText, round, sum } from './decimal.ts'
import {
  type Call,
  dateForm,
  itemType,
  type LibraryFunction,
  listOf,
  many,
  moment,
  number,
  one,
  plain,
  sameType,
  scalar,
  sized,
  sortable,
  text,
  three,
  two,
  whole,
} from './function.ts'
import { checkLength, checkTextLength } from './limits.ts'
import * as time from './time.ts'
import { booleanType, listType, numberType, stringType, timestampType, unionOf } from './type.ts'
import { compare, Fault, Instant, isList, keysOf, type Value, wordsOf } from './value.ts'

const numbers = listOf(number, 'a list of numbers')
const texts = listOf(text, 'a list of texts')
const plains = listOf(plain, 'a list of texts, numbers or booleans')
const sortables = listOf(sortable, 'a list of numbers, of texts or of timestamps')

const functions: readonly LibraryFunction[] = [
  one('size', sized, numberType, (value, call) => {
    if (isList(value)) return value.length
    return typeof value === 'string' ? countCharacters(value, call) : keysOf(value, call).length
  }),

  two('contains', text, text, booleanType, (value, part, call) => {
    spendOnSearch(value, part, call)
    return value.includes(part)
  }),
  two('startsWith', text, text, booleanType, (value, part) => value.startsWith(part)),
  two('endsWith', text, text, booleanType, (value, part) => value.endsWith(part)),
  one('lower', text, stringType, (value, call) => rewrite(value, call, (old) => old.toLowerCase())),
  one('upper', text, stringType, (value, call) => rewrite(value, call, (old) => old.toUpperCase())),
  one('trim', text, stringType, (value, call) => rewrite(value, call, (old) => old.trim())),
  two('split', text, text, listType(stringType), (value, separator, call) => {
    const parts = splitText(value, separator, call)
    checkLength(parts.length)
    return parts
  }),
  two('join', texts, text, stringType, joinTexts),
  three('replace', text, text, text, stringType, (value, old, replacement, call) =>
    joinTexts(splitText(value, old, call), replacement, call),
  ),
  two('substring', text, whole, stringType, (value, start, call) =>
    substring(value, start, countCharacters(value, call), call),
  ),
  three('substring', text, whole, whole, stringType, substring),

  one('sum', numbers, numberType, (items, call) => {
    call.spend(items.length)
    return sum(items)
  }),
  one('min', sortables, itemType, (items, call) => sortItems(items, call)[0] ?? refuseEmpty('min')),
  many('min', sortable, unionOf, (items, call) => sortItems(items, call)[0] ?? refuseEmpty('min')),
  one(
    'max',
    sortables,
    itemType,
    (items, call) => sortItems(items, call).at(-1) ?? refuseEmpty('max'),
  ),
  many(
    'max',
    sortable,
    unionOf,
    (items, call) => sortItems(items, call).at(-1) ?? refuseEmpty('max'),
  ),
  one('round', number, numberType, (value) => round(value, 0)),
  two('round', number, whole, numberType, (value, places) => {
    if (places < 0 || places > 15) throw new Fault('round() expects 0 to 15 decimal places')
    return round(value, places)
  }),
  one('floor', number, numberType, (value) => Math.floor(value)),
  one('ceil', number, numberType, (value) => Math.ceil(value)),
  one('abs', number, numberType, (value) => Math.abs(value)),

  one('range', whole, listType(numberType), (count, call) => {
    if (count < 0) throw new Fault('range() expects a count that is not negative')
    checkLength(count)
    call.spend(count)
    return Array.from({ length: count }, (_, index) => index)
  }),
  one('sort', sortables, sameType, sortItems),
  one('distinct', plains, sameType, (items, call) => {
    for (const item of items) call.spend(1 + (typeof item === 'string' ? item.length / 1024 : 0))
    return [...new Set(items)]
  }),

  one('string', scalar, stringType, (value) => {
    if (value instanceof Instant) return time.instantText(value.at)
    return typeof value === 'number' ? decimalText(value) : String(value)
  }),
  one('number', text, numberType, (value) => {
    // As JSON writes numbers: no blanks, no sign +, no leading zeros.
    if (/^-?(0|[1-9]\d{0,15})(\.\d{1,15})?$/.test(value)) return Number(value)
    throw new Fault('number() expects a text such as 12 or -0.5; found another text')
  }),

  one('timestamp', moment, timestampType, (at) => new Instant(at)),
  one('date', moment, timestampType, (at) => new Instant(time.startOfDay(at))),
  one('parseDate', text, timestampType, (value) => readDate(time.findLooseInstant(value))),
  two('parseDate', text, dateForm, timestampType, (value, form) => readDate(findDate(value, form))),
  one('isDate', text, booleanType, (value) => time.findLooseInstant(value) !== undefined),
  two('isDate', text, dateForm, booleanType, (value, form) => findDate(value, form) !== undefined),
  two('addDays', moment, whole, timestampType, (at, n) => new Instant(time.addDays(at, n))),
  two('addHours', moment, number, timestampType, (at, n) => new Instant(time.addHours(at, n))),
  two('addWorkdays', moment, whole, timestampType, (at, n, call) => {
    call.spend(2 * Math.min(Math.abs(n), time.maxWorkdayStretch))
    return new Instant(time.addWorkdays(at, n, call.calendar))
  }),
  two('daysBetween', moment, moment, numberType, time.daysBetween),
  two('hoursBetween', moment, moment, numberType, time.hoursBetween),
  two('yearsBetween', moment, moment, numberType, time.yearsBetween),
  two('workdaysBetween', moment, moment, numberType, (from, until, call) => {
    call.spend(Math.min(Math.abs(time.daysBetween(from, until)), time.maxWorkdayStretch))
    return time.workdaysBetween(from, until, call.calendar)
  }),
  one('year', moment, numberType, (at) => new Date(at).getUTCFullYear()),
  one('month', moment, numberType, (at) => new Date(at).getUTCMonth() + 1),
  one('day', moment, numberType, (at) => new Date(at).getUTCDate()),
  one('hour', moment, numberType, (at) => new Date(at).getUTCHours()),
  one('weekday', moment, numberType, time.weekday),
]

/** The library by name. A name has one entry for each number of arguments that it takes. */
export const library: ReadonlyMap<string, readonly LibraryFunction[]> = groupByName(functions)

function groupByName(all: readonly LibraryFunction[]): Map<string, LibraryFunction[]> {
  const groups = new Map<string, LibraryFunction[]>()
  for (const entry of all) groups.set(entry.name, [...(groups.get(entry.name) ?? []), entry])
  return groups
}

/** The longest text that is read as a date: no form and no way to write a date comes near it. */
const maxDateText = 200

function findDate(value: string, form: DateForm): number | undefined {
  return value.length > maxDateText ? undefined : findInForm(value, form)
}

function readDate(at: number | undefined): Instant {
  if (at !== undefined) return new Instant(at)
  throw new Fault('parseDate() expects a date in its form; found another text, see isDate()')
}

/** Sorts ascending; equal items keep their order. @throws Fault when the items are not all of one kind. */
function sortItems<T extends Value>(items: readonly T[], call: Call): readonly T[] {
  return sortByKey(items, items, call)
}

/** Sorts items by keys that stand at the same places. */
export function sortByKey<T>(
  items: readonly T[],
  keys: readonly Value[],
  call: Call,
): readonly T[] {
  const [first = 0] = keys
  const odd = keys.find((key) => compare(first, key) === undefined)
  if (odd !== undefined) {
    const found = first === odd ? wordsOf(odd) : `${wordsOf(first)} and ${wordsOf(odd)}`
    throw new Fault(`only numbers, only texts or only timestamps have an order; found ${found}`)
  }
  return items
    .map((item, place) => ({ item, key: keys[place] ?? 0 }))
    .sort((a, b) => {
      call.spend(1 + (typeof a.key === 'string' ? a.key.length >> 10 : 0))
      return compare(a.key, b.key) ?? 0
    })
    .map(({ item }) => item)
}

function refuseEmpty(name: string): never {
  throw new Fault(`${name}() of an empty list has no value`)
}

/** Finding a text in a text costs at worst the product of their lengths. */
function spendOnSearch(value: string, part: string, call: Call): void {
  call.spend((value.length * (part.length + 1)) / 1024)
}

function splitText(value: string, separator: string, call: Call): readonly string[] {
  if (separator === '') throw new Fault('expected at least one character to look for; found none')
  spendOnSearch(value, separator, call)
  const parts = value.split(separator)
  call.spend(parts.length)
  return parts
}

function joinTexts(items: readonly string[], separator: string, call: Call): string {
  const gaps = Math.max(0, items.length - 1) * separator.length
  const length = items.reduce((total, item) => total + item.length, gaps)
  checkTextLength(length)
  call.spend(length / 64)
  return items.join(separator)
}

function rewrite(value: string, call: Call, change: (old: string) => string): string {
  checkTextLength(value.length)
  call.spend(value.length / 64)
  const changed = change(value)
  checkTextLength(changed.length)
  return changed
}

function countCharacters(value: string, call: Call): number {
  call.spend(value.length / 64)
  let count = 0
  // A character is a Unicode code point: iterating a string gives these.
  for (const _ of value) count += 1
  return count
}

/** Characters from `start` (from 0) to before `end`, by code point, so that none is cut in two. */
function substring(value: string, start: number, end: number, call: Call): string {
  checkTextLength(value.length)
  const length = countCharacters(value, call)
  if (start < 0 || end < start || end > length) {
    throw new Fault(
      'substring() expects 0 <= start <= end <= the length of the text; found a place outside it',
    )
  }
  return [...value].slice(start, end).join('')
}
