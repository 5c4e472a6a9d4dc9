import type { Thresholds } from './embedder.ts'

/** What the ranking saw for one text whose right answer is known. */
export interface CalibrationSample {
  /** False for a text that no procedure is for. */
  readonly hasAnswer: boolean
  /** The best candidate is the right procedure. */
  readonly isBestRight: boolean
  /** Similarity of the best, and its lead over the second. */
  readonly similarity: number
  readonly lead: number
}

/** How good a set of thresholds is on samples. All are shares from 0 to 1; a share of nothing is 0. */
export interface Quality {
  /** Harmonic mean of precision and recall, with every best candidate above the threshold counted as an answer. */
  readonly f1: number
  /** Of the selected, those that are right. */
  readonly precision: number
  /** Of all samples, those that were selected. */
  readonly selected: number
}

/**
 * Measures the thresholds of a model: the similarity with the best mean F1, then the smallest margin at which
 * selecting is right at least `precision` of the time. Both in hundredths.
 *
 * Groups of samples weigh the same whatever their size: a large catalogue must not set the thresholds for all.
 * `calibrated` is false when no margin up to 0.5 reaches the precision.
 */
export function calibrate(
  groups: readonly (readonly CalibrationSample[])[],
  precision = 0.9,
): Thresholds {
  const meanOf = (field: keyof Quality, minSimilarity: number, margin: number): number =>
    groups.reduce((sum, group) => sum + measure(group, { minSimilarity, margin })[field], 0) /
    Math.max(groups.length, 1)

  let minSimilarity = 0
  let bestF1 = 0
  for (const similarity of hundredths(100)) {
    const f1 = meanOf('f1', similarity, 0)
    if (f1 > bestF1) [minSimilarity, bestF1] = [similarity, f1]
  }
  const margin = hundredths(50).find(
    (step) => meanOf('precision', minSimilarity, step) >= precision,
  )
  return { minSimilarity, margin: margin ?? 0, calibrated: margin !== undefined }
}

/** The quality that thresholds have on samples. */
export function measure(
  samples: readonly CalibrationSample[],
  { minSimilarity, margin }: Pick<Thresholds, 'minSimilarity' | 'margin'>,
): Quality {
  const answerable = samples.filter(({ hasAnswer }) => hasAnswer)
  const answered = samples.filter(({ similarity }) => similarity >= minSimilarity)
  const selected = answered.filter(({ lead }) => lead >= margin)
  return {
    f1: share(2 * countRight(answered), answered.length + answerable.length),
    precision: share(countRight(selected), selected.length),
    selected: share(selected.length, samples.length),
  }
}

function countRight(samples: readonly CalibrationSample[]): number {
  return samples.filter(({ isBestRight }) => isBestRight).length
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

function hundredths(count: number): readonly number[] {
  return Array.from({ length: count + 1 }, (_, step) => step / 100)
}
