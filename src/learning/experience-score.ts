import { canonicalJson } from '../domain/canonical.ts'
import type { ActionStep, OutcomeType } from './experience.ts'

/** What an outcome is worth when nothing was wasted on the way. */
const worth: Readonly<Record<OutcomeType, number>> = {
  success: 1,
  partial_success: 0.5,
  failure: 0,
}

/** What each wasted action takes away of that, and at most. */
const costOfWaste = 0.1
const mostWaste = 0.5

/** Above this a failure says of itself that it was none. */
export const maxFailureScore = 0.5

/**
 * The score of an experience that nobody has judged, 0 to 1: a success is worth 1, a partial one .5, a failure 0, less a
 * tenth of that for each wasted action, at most half: one that repeats an earlier one (the same tool with the same input),
 * and each attempt that failed. So a success never comes so low that it would be pruned.
 */
export function heuristicScore(
  outcomeType: OutcomeType,
  actions: readonly Pick<ActionStep, 'tool' | 'input'>[],
  failedAttempts = 0,
): number {
  const different = new Set(actions.map(({ tool, input }) => canonicalJson([tool, input])))
  const wasted = actions.length - different.size + failedAttempts
  const share = 1 - Math.min(wasted * costOfWaste, mostWaste)
  return Math.round(worth[outcomeType] * share * 1000) / 1000
}
