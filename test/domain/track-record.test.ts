import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toTrackRecord, trackScore } from '../../src/domain/track-record.ts'

/** The store of the seed document, line by line. */
function asTheSeedHasIt(runs: readonly { readonly success: boolean; readonly seconds: number }[]) {
  let [executionCount, successCount, avgDurationSeconds] = [0, 0, 0]
  for (const { success, seconds } of runs) {
    executionCount += 1
    if (success) successCount += 1
    const total = avgDurationSeconds * (executionCount - 1)
    avgDurationSeconds = (total + seconds) / executionCount
  }
  const successRate = executionCount === 0 ? 0 : successCount / executionCount
  const confidence = Math.min(executionCount / 10, 1)
  const score = successRate * confidence
  return { executionCount, successCount, successRate, confidence, score, avgDurationSeconds }
}

describe('a track record', () => {
  it('is nothing without a run', () => {
    expect(toTrackRecord({ executionCount: 0, successCount: 0, totalDurationMs: 0 })).toEqual({
      executionCount: 0,
      successCount: 0,
      successRate: 0,
      confidence: 0,
      score: 0,
      avgDurationSeconds: 0,
      meanDurationMs: null,
      low: null,
      high: null,
    })
  })

  it('has the figures of the seed, with milliseconds and an interval beside them', () => {
    const record = toTrackRecord({ executionCount: 4, successCount: 3, totalDurationMs: 10_000 })

    expect(record).toEqual({
      executionCount: 4,
      successCount: 3,
      successRate: 0.75,
      confidence: 0.4,
      score: 0.75 * 0.4,
      avgDurationSeconds: 2.5,
      meanDurationMs: 2_500,
      low: expect.closeTo(0.3006, 3),
      high: expect.closeTo(0.9544, 3),
    })
    const many = { executionCount: 40, successCount: 40, totalDurationMs: 40 }
    expect(toTrackRecord(many)).toMatchObject({ successRate: 1, confidence: 1, score: 1 })
  })

  it('is what the store of the seed makes of the same runs, one after the other', () => {
    const run = fc.record({ success: fc.boolean(), seconds: fc.nat(10_000) })
    fc.assert(
      fc.property(fc.array(run, { maxLength: 40 }), (runs) => {
        const record = toTrackRecord({
          executionCount: runs.length,
          successCount: runs.filter(({ success }) => success).length,
          totalDurationMs: runs.reduce((sum, { seconds }) => sum + seconds * 1_000, 0),
        })
        const { avgDurationSeconds, ...exact } = asTheSeedHasIt(runs)

        expect(record).toMatchObject(exact)
        expect(record.avgDurationSeconds).toBeCloseTo(avgDurationSeconds, 6)
        expect(trackScore(record.executionCount, record.successCount)).toBe(exact.score)
      }),
    )
  })
})
