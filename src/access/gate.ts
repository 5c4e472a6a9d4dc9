import { createHmac, randomBytes } from 'node:crypto'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import type { Principal } from '../domain/principal.ts'
import { networkOf } from './network.ts'
import { createRateLimiter, type Rate } from './rate-limiter.ts'

/**
 * What stands before every door that is reached over a network. One for the whole process, so that two doors count
 * together:
 *
 *     const gate = createGate({ rateLimit: config.access.rateLimit })
 *     const principal = await gate.admit(request.ip, credential, () => authenticate(app, credential))
 *     const allowance = gate.take(principal)
 *     reply.headers(rateLimitHeaders(allowance))
 *     …
 *     if (isServiceError(error)) reply.headers(rateLimitHeadersOf(error))      // Retry-After, of a 429
 */
export interface Gate {
  /**
   * Runs `identify`, unless too many credentials from this address were refused of late: then one that this process has
   * not seen let in is refused unread, but for a few tries of each key that is none of those. What `identify` throws comes through; only `KEY_REFUSED` counts against the address.
   *
   * @throws ServiceError `RATE_LIMITED` without having called `identify`.
   */
  readonly admit: (
    address: string,
    credential: string,
    identify: () => Promise<Principal>,
  ) => Promise<Principal>
  /**
   * Counts a request of somebody who was let in. All keys and tokens of a principal count together. `cost` is 1 unless
   * the request is known to be dear.
   *
   * @throws ServiceError `RATE_LIMITED`; nothing was counted then.
   */
  readonly take: (principal: Pick<Principal, 'tenantId' | 'id'>, cost?: number) => Allowance
}

/** What is left to somebody; undefined when nothing is limited. */
export type Allowance =
  | { readonly limit: number; readonly remaining: number; readonly resetSeconds: number }
  | undefined

export interface GateOptions {
  /** Of each principal; undefined: as much as they like. */
  readonly rateLimit: Rate | undefined
  /** Of credentials that are refused, from each address; default 20 at once and one every three seconds. */
  readonly refusals?: Rate
  /** How many more keys from there are looked up then, that begin otherwise than those; default 100 and one a second. */
  readonly strangers?: Rate
  /** Milliseconds that never go back; default those of this process. */
  readonly now?: () => number
}

/** About 10 MB for each of the three things that are remembered. */
const maxKeys = 100_000

const usualRefusals: Rate = { perSecond: 1 / 3, burst: 20 }

/** A key that begins as none before it may be a good one: whoever guesses shares an address with others. */
const usualStrangers: Rate = { perSecond: 1, burst: 100 }
const triesOfOne: Rate = { perSecond: 1 / 60, burst: 3 }

/** How many unknown credentials of one address may be looked up at once before any was refused: a whole office starts. */
const maxAtOnce = 100

export function createGate({
  rateLimit,
  refusals = usualRefusals,
  strangers: strangersRate = usualStrangers,
  now = () => performance.now(),
}: GateOptions): Gate {
  const requests = rateLimit && createRateLimiter({ rate: rateLimit, maxKeys, now })
  const failures = createRateLimiter({ rate: refusals, maxKeys, now })
  const strangers = createRateLimiter({ rate: strangersRate, maxKeys, now })
  const tries = createRateLimiter({ rate: triesOfOne, maxKeys, now })
  const known = createKnownCredentials()
  const underWay = new Map<string, number>()

  /** @throws ServiceError `RATE_LIMITED` when nothing unknown is looked up for this place now. */
  const enter = (place: string, credential: string): void => {
    const { allowed, remaining, retryAfterSeconds } = failures.peek(place)
    // Those under way may all be refused, so each of them has its place among those that may still be.
    const room = remaining < refusals.burst ? remaining : Math.max(maxAtOnce, refusals.burst)
    const count = underWay.get(place) ?? 0
    if ((!allowed || count >= room) && !mayBeGood(place, credential, count)) {
      throw new ServiceError('RATE_LIMITED', {
        limited: 'address',
        retryAfterSeconds: Math.max(1, retryAfterSeconds),
      })
    }
    underWay.set(place, count + 1)
  }

  /** Whether the tries of others at this place say nothing of this one. */
  const mayBeGood = (place: string, credential: string, count: number): boolean => {
    const beginning = beginningOf(credential)
    if (beginning === undefined || count >= maxAtOnce) return false
    return strangers.peek(place).allowed && tries.peek(`${place} ${beginning}`).allowed
  }

  const refused = (place: string, credential: string): void => {
    failures.take(place)
    const beginning = beginningOf(credential)
    if (beginning === undefined) return
    strangers.take(place)
    tries.take(`${place} ${beginning}`)
  }

  const leave = (place: string): void => {
    const count = underWay.get(place) ?? 0
    if (count > 1) underWay.set(place, count - 1)
    else underWay.delete(place)
  }

  return {
    async admit(address, credential, identify) {
      const place = networkOf(address)
      const isKnown = known.has(credential)
      if (!isKnown) enter(place, credential)
      try {
        const principal = await identify()
        known.add(credential)
        return principal
      } catch (error) {
        if (isServiceError(error, 'KEY_REFUSED')) {
          known.forget(credential)
          refused(place, credential)
        }
        throw error
      } finally {
        if (!isKnown) leave(place)
      }
    },
    take({ tenantId, id }, cost = 1) {
      if (requests === undefined || rateLimit === undefined) return undefined
      // A tenant's id has no blank.
      const taken = requests.take(`${tenantId} ${id}`, cost)
      const { allowed, remaining, retryAfterSeconds, resetSeconds } = taken
      const allowance = { limit: rateLimit.burst, remaining, resetSeconds }
      if (allowed) return allowance
      throw new ServiceError('RATE_LIMITED', {
        limited: 'principal',
        retryAfterSeconds,
        perSecond: rateLimit.perSecond,
        allowance,
      })
    },
  }
}

/** The tenant and the first eight characters of the secret of what has the form of a key; it is shown to nobody. */
function beginningOf(credential: string): string | undefined {
  return /^sw_[a-z0-9-]{1,63}_[\w-]{8}(?=[\w-]{35}$)/.exec(credential)?.[0]
}

/** The headers of an answer to somebody who was let in, as draft-ietf-httpapi-ratelimit-headers-06 names them. */
export function rateLimitHeaders(allowance: Allowance): Readonly<Record<string, string>> {
  if (allowance === undefined) return {}
  const { limit, remaining, resetSeconds } = allowance
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
  }
}

/** The headers that an error asks for: `Retry-After` and the limits, of `RATE_LIMITED`; of any other none. */
export function rateLimitHeadersOf(error: unknown): Readonly<Record<string, string>> {
  if (!isServiceError(error, 'RATE_LIMITED')) return {}
  const { retryAfterSeconds, allowance } = error.details
  return { 'retry-after': String(retryAfterSeconds), ...rateLimitHeaders(allowance) }
}

/**
 * The credentials that were let in lately, by a keyed digest: their texts are not kept. It lets nobody in by itself, it
 * only lets a credential be looked up, so one that was revoked meanwhile is refused all the same.
 */
function createKnownCredentials() {
  const secret = randomBytes(32)
  const digests = new Set<string>()
  const digestOf = (credential: string) =>
    createHmac('sha256', secret).update(credential).digest('base64')
  return {
    has: (credential: string): boolean => digests.has(digestOf(credential)),
    add(credential: string): void {
      const digest = digestOf(credential)
      digests.delete(digest)
      digests.add(digest)
      if (digests.size <= maxKeys) return
      const [oldest] = digests
      if (oldest !== undefined) digests.delete(oldest)
    },
    forget: (credential: string): void => {
      digests.delete(digestOf(credential))
    },
  }
}
