import { expect, it } from 'vitest'
import { createServerClock } from '../../src/db/server-clock.ts'

it('follows the server, whatever this machine believes', () => {
  const clock = createServerClock()
  const now = performance.now()

  clock.heard(1_000_000, now - 10, now + 10)

  expect(clock.now()).toBeGreaterThanOrEqual(1_000_000)
  expect(clock.now()).toBeLessThan(1_005_000)
})

it('moves no further than the time that the answer took leaves open', () => {
  const clock = createServerClock()
  const now = performance.now()
  clock.heard(1_000_000, now, now)

  clock.heard(1_000_040, now - 100, now + 100)

  expect(clock.now()).toBeLessThan(1_005_000)
  expect(Number.isInteger(clock.now())).toBe(true)
})
