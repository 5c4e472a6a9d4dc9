import fc from 'fast-check'
import { expect, it } from 'vitest'
import { proportionOf } from '../../src/domain/proportion.ts'

it.each([
  // From the literature: Newcombe (1998), table I, method 3 (score, no continuity correction).
  [81, 263, 0.308, 0.2553, 0.3662],
  [15, 148, 0.1014, 0.0624, 0.1605],
  [0, 20, 0, 0, 0.1611],
  [1, 29, 0.0345, 0.0061, 0.1718],
  [29, 29, 1, 0.883, 1],
])('%d of %d', (count, whole, rate, low, high) => {
  const found = proportionOf(count, whole)

  expect(found.count).toBe(count)
  expect(found.rate).toBeCloseTo(rate, 4)
  expect(found.low).toBeCloseTo(low, 4)
  expect(found.high).toBeCloseTo(high, 4)
})

it('is nothing of nothing', () => {
  expect(proportionOf(0, 0)).toEqual({ count: 0, rate: null, low: null, high: null })
})

it('lies around the rate, within 0 and 1', () => {
  const pair = fc
    .integer({ min: 1, max: 1_000_000 })
    .chain((whole) => fc.tuple(fc.integer({ min: 0, max: whole }), fc.constant(whole)))
  fc.assert(
    fc.property(pair, ([count, whole]) => {
      const { rate, low, high } = proportionOf(count, whole)

      expect(low).toBeGreaterThanOrEqual(0)
      expect(low).toBeLessThanOrEqual(rate ?? -1)
      expect(high).toBeGreaterThanOrEqual(rate ?? 2)
      expect(high).toBeLessThanOrEqual(1)
    }),
  )
})
