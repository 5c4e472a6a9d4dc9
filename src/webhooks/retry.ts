const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** How long a message rests after each failure, as Standard Webhooks recommends. After one more it is given up. */
const restsMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]

/**
 * After how many milliseconds a message that has failed so often, from 1, is tried again; undefined when it is given up.
 * `chance`, from 0 up to 1, moves that by up to a tenth, so that messages that have failed together do not come together.
 * It is never less than the service has asked for.
 */
export function restMs(failureCount: number, chance: number, askedMs = 0): number | undefined {
  const rest = restsMs[failureCount - 1]
  if (rest === undefined) return undefined
  return Math.max(Math.round(rest * (0.9 + 0.2 * chance)), askedMs)
}

/**
 * How long a service asks to be left alone by `Retry-After` (RFC 9110, 10.2.3), seconds or a date, at `now`: at most a day, 0
 * for what cannot be read.
 */
export function askedRestMs(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0
  const text = retryAfter.trim()
  const asked = /^\d{1,9}$/.test(text) ? Number(text) * second : Date.parse(text) - now
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), 24 * hour)
}

/** A webhook to which nothing could be delivered for so long is paused. */
export const longestFailureMs = 5 * 24 * hour
