/** A span of time: exact milliseconds, or working days that only a calendar can turn into an instant. */
export type Duration = { readonly ms: number } | { readonly workdays: number }

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** The longest duration: a leap year, or as many working days. */
export const maxDurationDays = 366

const clockPattern = /^(0|[1-9][0-9]{0,8})([smhd])$/
const workdayPattern = /^(0|[1-9][0-9]{0,8}) workdays?$/

/**
 * Reads `30s`, `10m`, `6h`, `5d` or `10 workdays`; undefined for anything else, and for more than 366 days. A day is
 * 24 hours. Whole numbers only: `90m`, not `1.5h`.
 */
export function parseDuration(text: string): Duration | undefined {
  const clock = clockPattern.exec(text)
  if (clock !== null) {
    const unit = clock[2]
    if (unit !== 's' && unit !== 'm' && unit !== 'h' && unit !== 'd') return undefined
    const ms = Number(clock[1]) * unitMs[unit]
    return ms <= maxDurationDays * unitMs.d ? { ms } : undefined
  }
  const workdays = workdayPattern.exec(text)
  if (workdays === null) return undefined
  const count = Number(workdays[1])
  return count <= maxDurationDays ? { workdays: count } : undefined
}

/** Reads a duration of a clock (no working days) in milliseconds; undefined for anything else. */
export function parseDurationMs(text: string): number | undefined {
  const duration = parseDuration(text)
  return duration !== undefined && 'ms' in duration ? duration.ms : undefined
}

/**
 * Reads a duration of a definition that has been parsed, whose durations are known to be good.
 *
 * @throws TypeError for a text that `parseDuration` does not know.
 */
export function durationOf(text: string): Duration {
  const duration = parseDuration(text)
  if (duration === undefined) throw new TypeError(`'${text}' is not a duration`)
  return duration
}

/**
 * Reads a clock duration of a definition that has been parsed (`timeout`, `delay`, `every`, `timeLimit`), in
 * milliseconds.
 *
 * @throws TypeError for working days and for a text that is no duration.
 */
export function durationMs(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === undefined) throw new TypeError(`'${text}' is not a duration of a clock`)
  return ms
}

/** Milliseconds as people read them, at most two units: `1h 30m`, `2d`, `4.2s`, `250ms`. */
export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.floor(ms)}ms`
  if (ms < unitMs.m) return `${Math.floor(ms / 100) / 10}s`
  const units = [
    ['d', unitMs.d],
    ['h', unitMs.h],
    ['m', unitMs.m],
    ['s', unitMs.s],
  ] as const
  const first = units.findIndex(([, size]) => ms >= size)
  let rest = ms
  const parts: string[] = []
  for (const [name, size] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / size)
    if (count > 0) parts.push(`${count}${name}`)
    rest -= count * size
  }
  return parts.join(' ')
}
