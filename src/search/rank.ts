import type { Id } from '../domain/ids.ts'
import { trackScore } from '../domain/track-record.ts'
import type { Thresholds } from './embedder.ts'

/** How many candidates a search answers. */
export const topKLimits = { min: 1, max: 20, default: 3 } as const

/**
 * How runs of a procedure have ended so far. `runs` counts those that resolved or escalated: declining is neither
 * success nor failure, and a cancelled run says nothing.
 */
export interface TrackRecord {
  readonly runs: number
  /** Of `runs`, those that resolved. */
  readonly successes: number
}

/** An active version that may fit the issue. At most one per procedure. */
export interface Candidate {
  readonly procedureKey: string
  readonly versionId: Id<'version'>
  readonly versionNumber: number
  /** 1 − cosine distance of the issue and the version's purpose. */
  readonly similarity: number
  /** True when one of its issue patterns stands in the issue or its context: see `literalMatches`. */
  readonly literal: boolean
  readonly trackRecord: TrackRecord
}

/** A candidate with the parts of its rank. */
export interface RankedCandidate extends Candidate {
  /** At or above the threshold of a measured model. One that is not may be shown to a person, and never run unasked. */
  readonly qualified: boolean
  /** Above the threshold and so close behind the best that the track record decides the order. */
  readonly withinMargin: boolean
  /** Success rate × min(runs / 10, 1): 0 to 1, and 0 without a run. */
  readonly trackScore: number
}

export interface RankRequest {
  /** 1 to 20, default 3. */
  readonly topK?: number
  /** May only raise the model's threshold. */
  readonly minSimilarity?: number
}

/**
 * What a search decides. `selected` may be run; `ambiguous` is a list for the agent; `no_match` runs nothing, and its
 * candidates only show what was nearest.
 */
export type Ranking = {
  readonly candidates: readonly RankedCandidate[]
  /** The threshold that held: the model's, or the request's where that is higher. */
  readonly minSimilarity: number
  readonly margin: number
  /** How far the best is ahead of the second; null when there are not two. */
  readonly lead: number | null
} & (
  | { readonly decision: 'selected'; readonly selected: RankedCandidate }
  | { readonly decision: 'ambiguous' | 'no_match' }
)

/** How many candidates to fetch for a request: the second always counts for the margin. */
export function candidatesToFetch(topK: number = topKLimits.default): number {
  return Math.max(topK, 2)
}

/**
 * Decides between candidates, in any order; literal ones belong among them however dissimilar they are.
 *
 * The best by similarity is `selected` when it reaches the threshold of a measured model and leads the second by at
 * least the margin. A literal match never selects: short patterns stand in many tickets. It only keeps its procedure
 * on the list, and makes a search `ambiguous` that would have found nothing.
 *
 * Order of the answer: those within the margin of the best, by track record; then by similarity, the qualified and
 * the literal, then all others; ties by procedure key. At most `topK`.
 *
 * @see docs/search.md
 */
export function rankCandidates(
  found: readonly Candidate[],
  thresholds: Thresholds,
  request: RankRequest = {},
): Ranking {
  const minSimilarity = Math.max(thresholds.minSimilarity, request.minSimilarity ?? 0)
  const { margin, calibrated } = thresholds
  const bySimilarity = [...found].sort(compareSimilarity)
  const [best, second] = bySimilarity
  const bestSimilarity = best?.similarity ?? 0
  const lead = second === undefined ? null : bestSimilarity - second.similarity

  const ranked = bySimilarity.map((candidate): RankedCandidate => {
    const isNear = candidate.similarity >= minSimilarity
    return {
      ...candidate,
      qualified: calibrated && isNear,
      withinMargin: isNear && !isClearLead(bestSimilarity - candidate.similarity, margin),
      trackScore: trackScore(candidate.trackRecord.runs, candidate.trackRecord.successes),
    }
  })
  const candidates = [...ranked].sort(compareRank).slice(0, request.topK ?? topKLimits.default)
  const facts = { candidates, minSimilarity, margin, lead }

  const [first] = ranked
  if (first?.qualified && (lead === null || isClearLead(lead, margin))) {
    return { decision: 'selected', selected: first, ...facts }
  }
  const isListed = bestSimilarity >= minSimilarity || ranked.some(({ literal }) => literal)
  return { decision: first !== undefined && isListed ? 'ambiguous' : 'no_match', ...facts }
}

/** Equals are never clear, whatever the margin; 1e-9 absorbs the rounding of differences such as 0.82 − 0.72. */
function isClearLead(lead: number, margin: number): boolean {
  return lead > 0 && lead + 1e-9 >= margin
}

function compareSimilarity(a: Candidate, b: Candidate): number {
  return b.similarity - a.similarity || compareText(a.procedureKey, b.procedureKey)
}

function compareRank(a: RankedCandidate, b: RankedCandidate): number {
  const byTier = tier(a) - tier(b)
  if (byTier !== 0) return byTier
  const byRecord = a.withinMargin ? b.trackScore - a.trackScore : 0
  return byRecord || compareSimilarity(a, b)
}

function tier({ withinMargin, qualified, literal }: RankedCandidate): number {
  if (withinMargin) return 0
  return qualified || literal ? 1 : 2
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
