/** A share of a whole, with where it lies in truth. */
export interface Proportion {
  readonly count: number
  /** Of the whole, 0 to 1; null where the whole is nothing. */
  readonly rate: number | null
  /** The 95 % confidence interval of the rate; null where the whole is nothing. */
  readonly low: number | null
  readonly high: number | null
}

/** The 97.5 % quantile of the normal distribution: 2.5 % lie on either side of an interval of 95 %. */
const z = 1.959963984540054

/**
 * A count as a share of a whole, with the score interval of Wilson (1927). Unlike the usual one it stays within 0 and 1 and
 * means something for few runs: of 3 of 3 it says 44 to 100 %, and not that all will always be well.
 *
 * `whole` is at least `count`, and both are whole numbers from 0.
 */
export function proportionOf(count: number, whole: number): Proportion {
  if (whole === 0) return { count, rate: null, low: null, high: null }
  const rate = count / whole
  const scale = 1 + z ** 2 / whole
  const middle = (rate + z ** 2 / (2 * whole)) / scale
  const half = (z / scale) * Math.sqrt((rate * (1 - rate)) / whole + z ** 2 / (4 * whole ** 2))
  return {
    count,
    rate,
    // At the ends rounding may leave them a hair outside.
    low: count === 0 ? 0 : Math.max(0, middle - half),
    high: count === whole ? 1 : Math.min(1, middle + half),
  }
}
