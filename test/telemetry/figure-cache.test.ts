import { expect, it, vi } from 'vitest'
import { createFigureCache } from '../../src/telemetry/figure-cache.ts'
import type { Figure } from '../../src/telemetry/meter.ts'

const pool = { totalCount: 3, idleCount: 2, waitingCount: 1 }

it('asks the database once for all who look within five seconds', async () => {
  let now = 0
  let count = 0
  const cache = createFigureCache(() => now)
  const figures = async (): Promise<Figure[]> => {
    count += 1
    return [{ figure: 'asked', label: '', value: count }]
  }
  cache.from({ pool, figures })

  const [first, same] = await Promise.all([cache.now(), cache.now()])
  now = 4_999
  const still = await cache.now()
  now = 5_000
  const next = await cache.now()

  expect(first).toEqual({ pool, figures: [{ figure: 'asked', label: '', value: 1 }] })
  expect([same, still]).toEqual([first, first])
  expect(next.figures).toEqual([{ figure: 'asked', label: '', value: 2 }])
})

it('has no figures of a database that fails or does not answer, and all others', async () => {
  vi.useFakeTimers()
  try {
    const failing = createFigureCache()
    failing.from({ pool, figures: () => Promise.reject(new Error('away')) })
    const silent = createFigureCache()
    silent.from({ pool, figures: () => new Promise(() => {}) })

    const readings = Promise.all([failing.now(), silent.now()])
    await vi.runAllTimersAsync()

    expect(await readings).toEqual([{ pool }, { pool }])
  } finally {
    vi.useRealTimers()
  }
})
