/** Which item of one list is which item of another. What is in no pair was removed or added. */
export class Alignment {
  readonly #afterOf: (number | undefined)[]
  readonly #beforeOf: (number | undefined)[]

  constructor(beforeCount: number, afterCount: number) {
    this.#afterOf = Array.from({ length: beforeCount })
    this.#beforeOf = Array.from({ length: afterCount })
  }

  /** Pairs items that are in no pair yet and have the same sign, in their order. An item without a sign is left out. */
  pairBy(
    beforeSign: (index: number) => string | undefined,
    afterSign: (index: number) => string | undefined,
  ): void {
    const waiting = new Map<string, number[]>()
    for (const [index, taken] of this.#beforeOf.entries()) {
      const sign = taken === undefined ? afterSign(index) : undefined
      if (sign === undefined) continue
      const same = waiting.get(sign)
      if (same === undefined) waiting.set(sign, [index])
      else same.push(index)
    }
    if (waiting.size === 0) return
    for (const queue of waiting.values()) queue.reverse()
    for (const [index, taken] of this.#afterOf.entries()) {
      const sign = taken === undefined ? beforeSign(index) : undefined
      const after = sign === undefined ? undefined : waiting.get(sign)?.pop()
      if (after === undefined) continue
      this.#afterOf[index] = after
      this.#beforeOf[after] = index
    }
  }

  /** The index in the later list, or undefined for what was removed. */
  afterOf(before: number): number | undefined {
    return this.#afterOf[before]
  }

  /** The index in the earlier list, or undefined for what was added. */
  beforeOf(after: number): number | undefined {
    return this.#beforeOf[after]
  }

  /** Indexes in the later list of what stands in another order than it did: as few as there can be. */
  moved(): ReadonlySet<number> {
    const paired = this.#beforeOf.flatMap((before, after) =>
      before === undefined ? [] : [{ before, after }],
    )
    const kept = new Set(longestRise(paired.map(({ before }) => before)))
    return new Set(paired.flatMap(({ after }, place) => (kept.has(place) ? [] : [after])))
  }
}

/** The places of one longest rising run within a list of different numbers, in time n log n. */
export function longestRise(numbers: readonly number[]): readonly number[] {
  /** By length, the place where the run of that length that ends lowest ends. */
  const ends: number[] = []
  const previous: (number | undefined)[] = []
  for (const [place, number] of numbers.entries()) {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1
      else high = middle
    }
    previous.push(low === 0 ? undefined : ends[low - 1])
    ends[low] = place
  }
  const run: number[] = []
  for (let place = ends.at(-1); place !== undefined; place = previous[place]) run.push(place)
  return run.reverse()
}
