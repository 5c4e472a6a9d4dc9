import { describe, expect, test } from 'vitest'
import { pausedWithin, withoutPauses } from '../../src/executor/pauses.ts'

describe('an instant that does not count in pauses', () => {
  test.each([
    ['without any', undefined, 100],
    ['is later by one that began before it', [[40, 60]], 120],
    [
      'is later by those that began before it as it is then',
      [
        [90, 110],
        [115, 120],
      ],
      125,
    ],
    ['stays where it is when they began later', [[100, 200]], 100],
  ] as const)('%s', (_name, pauses, expected) => {
    expect(withoutPauses(100, pauses)).toBe(expected)
  })
})

test('of a span of time, what was paused within it', () => {
  expect(
    pausedWithin(
      [
        [0, 10],
        [15, 18],
        [25, 40],
      ],
      5,
      30,
    ),
  ).toBe(5 + 3 + 5)
  expect(pausedWithin(undefined, 5, 30)).toBe(0)
})
