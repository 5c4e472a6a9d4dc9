import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRateLimiter } from '../../src/access/rate-limiter.ts'

let now = 0
const limiterOf = (perSecond: number, burst: number, maxKeys = 1000) =>
  createRateLimiter({ rate: { perSecond, burst }, maxKeys, now: () => now })

describe('a rate limiter', () => {
  it('gives the burst at once, then one after another, and says when', () => {
    now = 12_345
    const limiter = limiterOf(2, 3)

    const at = () => limiter.take('ann')
    expect([at(), at(), at()].map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
    ])
    expect(at()).toEqual({ allowed: false, remaining: 0, retryAfterSeconds: 1, resetSeconds: 2 })
    now += 499
    expect(at().allowed).toBe(false)
    now += 1
    expect(at()).toMatchObject({ allowed: true, remaining: 0 })
    now += 1_500
    expect(limiter.peek('ann')).toEqual({
      ...{ allowed: true, remaining: 3, retryAfterSeconds: 0, resetSeconds: 0 },
    })
  })

  it('counts each key by itself', () => {
    const limiter = limiterOf(1, 1)
    limiter.take('ann')

    expect(limiter.take('ann').allowed).toBe(false)
    expect(limiter.take('bob').allowed).toBe(true)
  })

  it('takes nothing for what it refuses, nor for a look', () => {
    const limiter = limiterOf(1, 5)
    limiter.take('ann', 3)

    for (let i = 0; i < 10; i += 1) expect(limiter.take('ann', 4).allowed).toBe(false)
    for (let i = 0; i < 10; i += 1) expect(limiter.peek('ann', 2).allowed).toBe(true)
    expect(limiter.take('ann', 2).allowed).toBe(true)
  })

  it('lets what costs more than the burst through when nothing was taken', () => {
    const limiter = limiterOf(1, 5)

    expect(limiter.take('ann', 50)).toMatchObject({ allowed: true, remaining: 0 })
    expect(limiter.take('ann', 50)).toMatchObject({ allowed: false, retryAfterSeconds: 5 })
  })

  it('never gives more than the burst and the rate together, and what it promises comes true', () => {
    const steps = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 1, max: 9 })),
    )
    const rates = fc.record({
      perSecond: fc.double({ min: 0.01, max: 1000, noNaN: true }),
      burst: fc.integer({ min: 1, max: 50 }),
    })
    fc.assert(
      fc.property(rates, steps, ({ perSecond, burst }, asked) => {
        now = 1_000_000
        const begun = now
        const limiter = limiterOf(perSecond, burst)
        let given = 0
        for (const [wait, cost] of asked) {
          now += wait
          const taken = limiter.take('ann', cost)
          if (taken.allowed) given += Math.min(cost, burst)
          expect(given).toBeLessThanOrEqual(burst + ((now - begun) / 1000) * perSecond + 1e-3)
          if (taken.remaining > 0) expect(limiter.peek('ann', taken.remaining).allowed).toBe(true)
          const { retryAfterSeconds } = limiter.peek('ann', cost)
          now += retryAfterSeconds * 1000
          expect(limiter.peek('ann', cost).allowed).toBe(true)
        }
      }),
    )
  })

  it('remembers a bounded number of keys, and forgets the one asked about longest ago', () => {
    const limiter = limiterOf(0.001, 1, 1000)
    limiter.take('busy')
    for (let i = 0; i < 1_000_000; i += 1) {
      limiter.take(`address-${i}`)
      if (i % 500 === 0) limiter.take('busy')
    }

    expect(limiter.size()).toBe(1000)
    expect(limiter.take('busy').allowed).toBe(false)
    expect(limiter.take('address-0').allowed).toBe(true)
  })
})
