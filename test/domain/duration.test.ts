import fc from 'fast-check'
import { expect, test } from 'vitest'
import { durationMs, durationOf, formatMs, parseDuration } from '../../src/domain/duration.ts'

test.each([
  ['30s', { ms: 30_000 }],
  ['10m', { ms: 600_000 }],
  ['6h', { ms: 21_600_000 }],
  ['5d', { ms: 432_000_000 }],
  ['0s', { ms: 0 }],
  ['366d', { ms: 31_622_400_000 }],
  ['10 workdays', { workdays: 10 }],
  ['1 workday', { workdays: 1 }],
  ['366 workdays', { workdays: 366 }],
])('%s is read', (text, duration) => {
  expect(parseDuration(text)).toEqual(duration)
})

test.each([
  ...[
    '',
    's',
    '5',
    '5 s',
    '05s',
    '1.5h',
    '-5s',
    '5S',
    '1h30m',
    ' 5s',
    '5s\n',
    '10workdays',
    '10 days',
  ],
  ...['367d', '31622401s', '367 workdays', '999999999d', '99999999999999999999s'],
])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined()
})

test('durations of a parsed definition are read, and anything else is a broken promise', () => {
  expect(durationOf('2 workdays')).toEqual({ workdays: 2 })
  expect(durationMs('2h')).toBe(7_200_000)
  expect(() => durationMs('2 workdays')).toThrow(TypeError)
  expect(() => durationOf('soon')).toThrow(TypeError)
})

test.each([
  [0, '0ms'],
  [250, '250ms'],
  [999.6, '999ms'],
  [4_250, '4.2s'],
  [30_000, '30s'],
  [90_000, '1m 30s'],
  [3_600_000, '1h'],
  [5_400_000, '1h 30m'],
  [3_605_000, '1h'],
  [190_800_000, '2d 5h'],
])('%d milliseconds read as %s', (ms, text) => {
  expect(formatMs(ms)).toBe(text)
})

test('whole units are written as they are read', () => {
  const unit = fc.constantFrom(['s', 59], ['m', 59], ['h', 23], ['d', 366])
  fc.assert(
    fc.property(unit, fc.nat(), ([name, most], count) => {
      const text = `${(count % Number(most)) + 1}${name}`

      expect(formatMs(durationMs(text))).toBe(text)
    }),
  )
})
