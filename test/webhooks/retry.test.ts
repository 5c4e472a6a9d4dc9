import { expect, it } from 'vitest'
import { askedRestMs, restMs } from '../../src/webhooks/retry.ts'

it('rests longer after each failure, for three days in all, and then gives up', () => {
  const rests = Array.from({ length: 10 }, (_, index) => restMs(index + 1, 0.5))

  expect(rests.map((rest) => rest && rest / 1_000)).toEqual([
    5,
    300,
    1_800,
    7_200,
    18_000,
    36_000,
    50_400,
    72_000,
    86_400,
    undefined,
  ])
})

it('is moved by chance by up to a tenth', () => {
  expect(restMs(2, 0)).toBe(270_000)
  expect(restMs(2, 0.999_999)).toBe(330_000)
})

it('is at least what the service has asked for', () => {
  expect(restMs(1, 0.5, 30_000)).toBe(30_000)
  expect(restMs(2, 0.5, 30_000)).toBe(300_000)
  expect(restMs(10, 0.5, 30_000)).toBeUndefined()
})

it.each([
  [undefined, 0],
  ['30', 30_000],
  ['Thu, 03 Dec 2026 12:01:00 GMT', 60_000],
  ['Thu, 03 Dec 2026 11:00:00 GMT', 0],
  ['soon', 0],
  ['-5', 0],
  ['999999999', 86_400_000],
])('reads a Retry-After of %s', (text, asked) => {
  expect(askedRestMs(text, Date.parse('2026-12-03T12:00:00Z'))).toBe(asked)
})
