import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluate, problemsOf } from './expression-scope.ts'

const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September'],
  ...['October', 'November', 'December'],
]
const two = (value: number) => String(value).padStart(2, '0')

/** How each form writes an instant, told apart from how it is read. Forms without a time write its day alone. */
const writers: readonly (readonly [form: string, write: (at: Date) => string])[] = [
  ['YYYY-MM-DD', (at) => at.toISOString().slice(0, 10)],
  ['DD.MM.YYYY', (at) => at.toISOString().slice(0, 10).split('-').reverse().join('.')],
  ['M/D/YYYY', (at) => `${at.getUTCMonth() + 1}/${at.getUTCDate()}/${yearOf(at)}`],
  ['MMMM Do, YYYY', (at) => `${monthOf(at)} ${at.getUTCDate()}${endingOf(at)}, ${yearOf(at)}`],
  ['D MMM YYYY', (at) => `${at.getUTCDate()} ${monthOf(at).slice(0, 3)} ${yearOf(at)}`],
  ['YYYYMMDD', (at) => at.toISOString().slice(0, 10).replaceAll('-', '')],
]
const timedWriters: readonly (readonly [form: string, write: (at: Date) => string])[] = [
  ['YYYY-MM-DDTHH:mm:ss', (at) => at.toISOString().slice(0, 19)],
  ['YYYY-MM-DD HH:mm:ssZ', (at) => `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`],
  ['DD/MM/YYYY H:mm:ss', (at) => `${dayOf(at)} ${at.getUTCHours()}:${clockOf(at)}`],
  [
    'DD/MM/YYYY h:mm:ss A',
    (at) => {
      const hour = at.getUTCHours()
      return `${dayOf(at)} ${hour % 12 || 12}:${clockOf(at)} ${hour < 12 ? 'AM' : 'pm'}`
    },
  ],
]

function yearOf(at: Date): string {
  return String(at.getUTCFullYear()).padStart(4, '0')
}

function monthOf(at: Date): string {
  return monthNames[at.getUTCMonth()] ?? ''
}

function dayOf(at: Date): string {
  return `${two(at.getUTCDate())}/${two(at.getUTCMonth() + 1)}/${yearOf(at)}`
}

function clockOf(at: Date): string {
  return `${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`
}

function endingOf(at: Date): string {
  const rule = new Intl.PluralRules('en', { type: 'ordinal' }).select(at.getUTCDate())
  return { one: 'st', two: 'nd', few: 'rd', other: 'th', zero: 'th', many: 'th' }[rule]
}

const seconds = fc
  .integer({ min: -62_167_219_200, max: 253_402_300_799 })
  .map((second) => new Date(second * 1_000))

describe('parseDate', () => {
  it.each(writers)('reads back the day that %s writes', (form, write) => {
    fc.assert(
      fc.property(seconds, (at) => {
        const day = `${at.toISOString().slice(0, 10)}T00:00:00.000Z`

        expect(evaluate(`parseDate(input, '${form}')`, { input: write(at) })).toBe(day)
      }),
    )
  })

  it.each(timedWriters)('reads back the time that %s writes', (form, write) => {
    fc.assert(
      fc.property(seconds, (at) => {
        expect(evaluate(`parseDate(input, '${form}')`, { input: write(at) })).toBe(at.toISOString())
      }),
    )
  })

  it.each([
    ['2026-11-29', '2026-11-29T00:00:00.000Z'],
    ['2026-11-29T10:05:06', '2026-11-29T10:05:06.000Z'],
    ['2026-11-29 10:05:06', '2026-11-29T10:05:06.000Z'],
    ['2026-11-29T10:05', '2026-11-29T10:05:00.000Z'],
    ['2026-11-29 10:05:06.25', '2026-11-29T10:05:06.250Z'],
    ['2026-11-29T10:05:06Z', '2026-11-29T10:05:06.000Z'],
    ['2026-11-29 10:05+02:00', '2026-11-29T08:05:00.000Z'],
  ])('reads %s without a form', (text, expected) => {
    expect(evaluate('parseDate(input)', { input: text })).toBe(expected)
    expect(evaluate('isDate(input)', { input: text })).toBe(true)
  })

  it.each([
    '2026-02-29',
    '2026-11-29T24:00',
    '2026-11-29T10',
    '2026-11-29T10:60:00',
    '2026-11-29  10:00',
    '2026-11-29T10:00 Z',
    '26-11-29',
    '29.11.2026',
    'today',
    '',
    ' 2026-11-29',
    '0000-01-01T00:00+01:00',
  ])('takes %j for no date, and isDate says so', (text) => {
    expect(evaluate('isDate(input)', { input: text })).toBe(false)
    expect(() => evaluate('parseDate(input)', { input: text })).toThrow('see isDate()')
  })

  it.each([
    ['30.02.2026', 'DD.MM.YYYY'],
    ['1.11.2026', 'DD.MM.YYYY'],
    ['01.11.2026 ', 'DD.MM.YYYY'],
    ['01.13.2026', 'DD.MM.YYYY'],
    ['October 10st, 2026', 'MMMM Do, YYYY'],
    ['October 11st, 2026', 'MMMM Do, YYYY'],
    ['Octobre 10th, 2026', 'MMMM Do, YYYY'],
    ['Oct 10th, 2026', 'MMMM Do, YYYY'],
    ['0:05 PM 1.1.2026', 'h:mm A D.M.YYYY'],
    ['13:05 PM 1.1.2026', 'h:mm A D.M.YYYY'],
    ['24:00 1.1.2026', 'HH:mm D.M.YYYY'],
    ['2026-11-29 10:00+2', 'YYYY-MM-DD HH:mmZ'],
    ['0000-01-01 00:00+01:00', 'YYYY-MM-DD HH:mmZ'],
    ['x'.repeat(50_000), 'D.M.YYYY'],
  ])('takes %j for no date in the form %s', (text, form) => {
    expect(evaluate(`isDate(input, '${form}')`, { input: text })).toBe(false)
    expect(() => evaluate(`parseDate(input, '${form}')`, { input: text })).toThrow('see isDate()')
  })

  it('fails exactly where isDate is false, and isDate never fails', () => {
    const forms = [...writers, ...timedWriters]
    const texts = fc.oneof(
      fc.tuple(seconds, fc.constantFrom(...forms)).map(([at, [, write]]) => write(at)),
      fc.string({ unit: fc.constantFrom(...'0123456789-:./ TZAPMOct,th+'), maxLength: 24 }),
      fc.string(),
    )
    fc.assert(
      fc.property(texts, fc.constantFrom(...forms.map(([form]) => form)), (input, form) => {
        for (const args of ['input', `input, '${form}'`]) {
          const isDate = evaluate(`isDate(${args})`, { input })
          const read = () => evaluate(`parseDate(${args})`, { input })

          if (isDate === true) expect(typeof read()).toBe('string')
          else expect(read).toThrow('parseDate() expects')
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

it.each([
  [
    "parseDate('a', input.form)",
    'parseDate() takes a form of dates such as DD.MM.YYYY, written out',
  ],
  ["isDate('a', 5)", 'isDate() takes a form of dates such as DD.MM.YYYY, written out'],
  ["isDate('a', 'DD.MM')", 'year is missing'],
  ["isDate('a', 'YYYY-MM')", 'day is missing'],
  ["isDate('a', 'DD.MM.YY')", "found 'YY'"],
  ["isDate('a', 'YYYY-MM-DD of')", "found 'of'"],
  ["isDate('a', 'YYYY-MM-DD DD')", 'each part of a date once'],
  ["isDate('a', 'YYYY-MM-DD h:mm')", 'h and A go together'],
  ["isDate('a', 'YYYY-MM-DD HH:mm A')", 'h and A go together'],
  ["isDate('a', 'YYYY-MM-DD HH:ss')", 'seconds with minutes'],
  ["isDate('a', 'YYYY-MM-DD Z')", 'a zone with a time'],
  [`isDate('a', 'YYYY-MM-DD${' '.repeat(60)}')`, 'at most 64 characters'],
  ["isDate('a', 'YYYY-MM-DD', 1)", 'takes 1 or 2 arguments'],
])('%s is refused before anything runs: %s', (source, message) => {
  expect(problemsOf(source)).toContain(message)
})
