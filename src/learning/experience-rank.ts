/** An experience as it was found, before it is ranked. */
export interface FoundExperience {
  readonly id: string
  /** 1 − cosine distance. */
  readonly similarity: number
  /** 0 to 1. */
  readonly score: number
}

export type RankedExperience<F extends FoundExperience> = F & {
  /** Similarity × score. */
  readonly relevance: number
}

export const experienceTopK = { min: 1, max: 50, default: 5 } as const

/**
 * Of an unmeasured model, and of OpenAI's text-embedding-3-small, with which it is the figure of the source that this
 * follows.
 */
const commonMinSimilarity = 0.72
const followedModel = 'text-embedding-3-small'

/** The similarity with the best F1 where situations are messages: docs/experiences.md says how it was measured. */
const measuredMinSimilarities: ReadonlyMap<string, number> = new Map([
  ['use-ngram-1024-v1', 0.5],
  ['ngram-512-v1', 0.43],
])

/**
 * The least similarity that is found, where a caller names none. `ofSearch`: what was measured for search, which stands in
 * for models that were never measured on situations.
 */
export function defaultMinSimilarity(model: string, ofSearch?: number): number {
  if (model === followedModel) return commonMinSimilarity
  return measuredMinSimilarities.get(model) ?? ofSearch ?? commonMinSimilarity
}

/**
 * From this similarity on, two situations of one agent, met by the same tools with the same kind of outcome, are one in
 * other words: only the first is found, with the score that it has.
 */
export function repeatSimilarity(model: string): number {
  return repeatSimilarities.get(model) ?? 0.92
}

const repeatSimilarities: ReadonlyMap<string, number> = new Map([
  ['use-ngram-1024-v1', 0.85],
  ['ngram-512-v1', 0.8],
])

/** Ranks all that reach the least similarity by relevance, then cuts; ties by id. */
export function rankExperiences<F extends FoundExperience>(
  found: readonly F[],
  { minSimilarity, topK }: { readonly minSimilarity: number; readonly topK: number },
): readonly RankedExperience<F>[] {
  return found
    .filter(({ similarity }) => similarity >= minSimilarity)
    .map((one) => ({ ...one, relevance: one.similarity * one.score }))
    .sort((a, b) => b.relevance - a.relevance || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
    .slice(0, topK)
}

/**
 * Whether the nearest so far decide the ranking, so that whatever is further away changes nothing. A relevance is at most
 * a similarity: once the last of the answer has a relevance above the similarity of the furthest that was looked at, no
 * other can come before it; nor can one below the least similarity. `slack`: by how much a similarity that was only
 * estimated may be off.
 */
export function isDecided(
  ranked: readonly { readonly relevance: number }[],
  furthest: number,
  {
    minSimilarity,
    topK,
    slack = 0,
  }: { readonly minSimilarity: number; readonly topK: number; readonly slack?: number },
): boolean {
  if (furthest + slack < minSimilarity) return true
  const last = ranked[topK - 1]
  return last !== undefined && last.relevance > furthest + slack
}
