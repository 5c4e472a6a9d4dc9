import { expect, it } from 'vitest'
import { restMs } from '../../src/webhooks/retry.ts'

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
