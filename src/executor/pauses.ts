/** Times for which a run was paused: from when nothing of it went on until it could again. Epoch milliseconds, in order. */
export type Pauses = readonly (readonly [from: number, to: number])[]

/**
 * An instant at which time is over that does not count in pauses: later by each that began before it. A pause that comes
 * after a decision changes nothing of that, so that a replay, which knows all of them, decides the same.
 */
export function withoutPauses(instant: number, pauses: Pauses | undefined): number {
  // Asked before each step, and almost no run was ever paused.
  if (pauses === undefined) return instant
  return pauses.reduce((end, [from, to]) => (from < end ? end + to - from : end), instant)
}

/** For how much of a span of time a run was paused, in milliseconds. */
export function pausedWithin(pauses: Pauses | undefined, since: number, until: number): number {
  return (pauses ?? []).reduce(
    (sum, [from, to]) => sum + Math.max(0, Math.min(to, until) - Math.max(from, since)),
    0,
  )
}
