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

/** Few samples may show no near miss at all; two procedures this close are never told apart for certain. */
const leastMargin = 0.03

/**
 * Measures the thresholds of a model: the similarity with the best mean F1, the middle one where several are as good,
 * then the smallest margin from 0.03 on at which selecting is right at least `precision` of the time. Both in
 * hundredths.
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

  const qualities = hundredths(100).map((similarity) => meanOf('f1', similarity, 0))
  const bestF1 = Math.max(...qualities)
  const best = hundredths(100).filter((_, index) => qualities[index] === bestF1)
  const minSimilarity = best[Math.floor((best.length - 1) / 2)] ?? 0
  const margin = hundredths(50).find(
    (step) => step >= leastMargin && meanOf('precision', minSimilarity, step) >= precision,
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
