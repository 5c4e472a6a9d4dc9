import type { Run, SeenAction } from './demonstration.ts'

/** A tool in one of its ways. */
export type Slot = Pick<SeenAction, 'tool' | 'way'>

/**
 * The places of the actions of several runs in one order that fits them all: the runs that are most alike come first, and
 * what another run does besides is put in where it does it.
 */
export function alignRuns(runs: readonly Run[]): readonly Slot[] {
  const kinds = new Map<string, { readonly slots: readonly Slot[]; count: number }>()
  for (const { actions } of runs) {
    const slots = actions.map(({ tool, way }) => ({ tool, way }))
    const kind = kinds.get(JSON.stringify(slots)) ?? { slots, count: 0 }
    kind.count += 1
    kinds.set(JSON.stringify(slots), kind)
  }
  const ordered = [...kinds].sort(
    ([aText, a], [bText, b]) =>
      b.count - a.count || b.slots.length - a.slots.length || (aText < bText ? -1 : 1),
  )
  let all: readonly Slot[] = []
  for (const [, { slots }] of ordered) all = merged(all, slots)
  return all
}

/** The action of a run at each place; undefined where the run does nothing there. What fits no place is left out. */
export function placedIn(
  slots: readonly Slot[],
  { actions }: Pick<Run, 'actions'>,
): readonly (SeenAction | undefined)[] {
  const places: (SeenAction | undefined)[] = slots.map(() => undefined)
  for (const [slot, at] of commonPlaces(slots, actions)) places[slot] = actions[at]
  return places
}

function merged(slots: readonly Slot[], others: readonly Slot[]): readonly Slot[] {
  const result: Slot[] = []
  let slot = 0
  let at = 0
  for (const [nextSlot, nextAt] of [
    ...commonPlaces(slots, others),
    [slots.length, others.length],
  ]) {
    result.push(...slots.slice(slot, nextSlot), ...others.slice(at, nextAt))
    const common = slots[nextSlot ?? slots.length]
    if (common !== undefined) result.push(common)
    slot = (nextSlot ?? 0) + 1
    at = (nextAt ?? 0) + 1
  }
  return result
}

/** The longest common subsequence, as places in both, the earliest of several. */
function commonPlaces(
  left: readonly Slot[],
  right: readonly Slot[],
): readonly (readonly [number, number])[] {
  const width = right.length + 1
  const lengths = new Uint16Array((left.length + 1) * width)
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = isAlike(left[i], right[j])
        ? lengthAt(i + 1, j + 1) + 1
        : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
    }
  }
  const places: (readonly [number, number])[] = []
  let [i, j] = [0, 0]
  while (i < left.length && j < right.length) {
    if (isAlike(left[i], right[j])) {
      places.push([i, j])
      i += 1
      j += 1
    } else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i += 1
    else j += 1
  }
  return places
}

function isAlike(left: Slot | undefined, right: Slot | undefined): boolean {
  return left?.tool === right?.tool && left?.way === right?.way
}
