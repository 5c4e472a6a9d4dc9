/** How much somebody may take: `perSecond` in the long run, and `burst` at once. Both are above zero. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** What came of asking for something. */
export interface Taken {
  readonly allowed: boolean
  /** How many more of cost 1 would be allowed now, 0 to `burst`. */
  readonly remaining: number
  /** After how many whole seconds the same would be allowed; 0 when it was. */
  readonly retryAfterSeconds: number
  /** After how many whole seconds without taking anything all of `burst` is there again. */
  readonly resetSeconds: number
}

/** Counts what is taken under each key, in this process alone. */
export interface RateLimiter {
  /** Takes `cost`, at most `burst`, if that much is there; what is refused takes nothing. */
  readonly take: (key: string, cost?: number) => Taken
  /** The same answer without taking anything. */
  readonly peek: (key: string, cost?: number) => Taken
  /** How many keys are remembered, never above `maxKeys`. */
  readonly size: () => number
}

export interface RateLimiterOptions {
  readonly rate: Rate
  /** Beyond that many, the key that was asked about longest ago is forgotten, and has all of its burst again. */
  readonly maxKeys: number
  /** Milliseconds that never go back. */
  readonly now: () => number
}

/**
 * The generic cell rate algorithm (ITU-T I.371): a token bucket that needs one number for each key, the instant at which
 * its bucket is full again. A key whose instant is past is as good as one that never came.
 */
export function createRateLimiter({ rate, maxKeys, now }: RateLimiterOptions): RateLimiter {
  const { perSecond, burst } = rate
  const msPerToken = 1000 / perSecond
  const capacityMs = burst * msPerToken
  // A map keeps the order of insertion, so the first key is the one that was asked about longest ago.
  const fullAt = new Map<string, number>()

  const weigh = (key: string, cost: number, isTaken: boolean): Taken => {
    const at = now()
    const filled = Math.max(at, fullAt.get(key) ?? at)
    const wanted = filled + Math.min(cost, burst) * msPerToken
    // Fractions of a nanosecond come of the division above, and are nobody's.
    const lateMs = wanted - at - capacityMs
    const allowed = lateMs < 1e-6
    const after = allowed && isTaken ? wanted : filled
    if (isTaken) remember(key, after)
    return {
      allowed,
      remaining: Math.max(0, Math.floor((capacityMs - (after - at)) / msPerToken + 1e-6)),
      retryAfterSeconds: allowed ? 0 : Math.ceil(lateMs / 1000),
      resetSeconds: Math.ceil((after - at) / 1000),
    }
  }

  const remember = (key: string, at: number): void => {
    fullAt.delete(key)
    fullAt.set(key, at)
    if (fullAt.size <= maxKeys) return
    const [oldest] = fullAt.keys()
    if (oldest !== undefined) fullAt.delete(oldest)
  }

  return {
    take: (key, cost = 1) => weigh(key, cost, true),
    peek: (key, cost = 1) => weigh(key, cost, false),
    size: () => fullAt.size,
  }
}
