import { proportionOf } from './proportion.ts'

/** What a record is made of: runs that count, and how long those took together. */
export interface RecordCounts {
  /** Runs that went well, and those that did not: of ours, resolved and escalated. */
  readonly executionCount: number
  /** Of them, those that went well. */
  readonly successCount: number
  readonly totalDurationMs: number
}

/** How runs of one version have gone. */
export interface TrackRecord {
  readonly executionCount: number
  readonly successCount: number
  /** 0 to 1, and 0 without a run. */
  readonly successRate: number
  /** min(runs / 10, 1): how far the rate is to be believed. */
  readonly confidence: number
  /** Success rate × confidence: what orders near equals. */
  readonly score: number
  /** 0 without a run. */
  readonly avgDurationSeconds: number
  /** The same in milliseconds; null without a run. */
  readonly meanDurationMs: number | null
  /** The 95 % confidence interval of the rate (Wilson); null without a run. */
  readonly low: number | null
  readonly high: number | null
}

/** So many runs make a record that is believed whole. */
const trustedRuns = 10

/** `successCount` is at most `executionCount`, and both are whole numbers from 0. */
export function toTrackRecord(counts: RecordCounts): TrackRecord {
  const { executionCount, successCount, totalDurationMs } = counts
  const { rate, low, high } = proportionOf(successCount, executionCount)
  const meanDurationMs = executionCount === 0 ? null : totalDurationMs / executionCount
  return {
    executionCount,
    successCount,
    successRate: rate ?? 0,
    confidence: Math.min(executionCount / trustedRuns, 1),
    score: trackScore(executionCount, successCount),
    avgDurationSeconds: (meanDurationMs ?? 0) / 1_000,
    meanDurationMs,
    low,
    high,
  }
}

/** Success rate × min(runs / 10, 1): 0 to 1, and 0 without a run. */
export function trackScore(executionCount: number, successCount: number): number {
  if (executionCount === 0) return 0
  return (successCount / executionCount) * Math.min(executionCount / trustedRuns, 1)
}
