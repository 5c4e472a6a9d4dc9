import { type CryptoKey, createLocalJWKSet, errors, type JWSHeaderParameters } from 'jose'
import { z } from 'zod'
import { isSafeUrl } from '../config/access.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Logger } from '../logger.ts'
import { fetchJson } from './fetch-json.ts'

/** After that long the keys are fetched anew, so that one which the issuer has withdrawn is known no more. */
const freshMs = 10 * 60_000

/** For that long keys are gone on with while the issuer cannot be asked. */
const usableMs = 24 * 3_600_000

/** A key nobody knows is no reason to ask more often than that: anybody can name one. */
const cooldownMs = 10_000

/** While the issuer does not answer, it is asked again after that long. */
const retryMs = 5_000

const description = z.object({ issuer: z.string(), jwks_uri: z.string() })
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) })

/** The keys that an issuer signs with, fetched when they are needed and kept. */
export interface IssuerKeys extends Disposable {
  /**
   * The key that a token's header names; undefined when the issuer has none like it.
   *
   * @throws ServiceError `ISSUER_UNAVAILABLE` when that cannot be known.
   */
  readonly find: (header: JWSHeaderParameters) => Promise<CryptoKey | undefined>
}

export interface IssuerKeysOptions {
  readonly log: Logger
  /** Milliseconds that never go back; default those of this process. */
  readonly now?: () => number
}

type Fetched = { readonly keys: ReturnType<typeof createLocalJWKSet>; readonly at: number }

/** Nothing is fetched before the first `find`. Disposing ends what is being fetched. */
export function createIssuerKeys(
  issuer: string,
  { log, now = () => performance.now() }: IssuerKeysOptions,
): IssuerKeys {
  const closing = new AbortController()
  let fetched: Fetched | undefined
  let failed: { readonly problem: string; readonly at: number } | undefined
  let pending: Promise<void> | undefined

  const fetchKeys = async (): Promise<void> => {
    try {
      const keys = await readKeys(issuer, closing.signal)
      fetched = { keys, at: now() }
      failed = undefined
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      failed = { problem, at: now() }
      if (!closing.signal.aborted)
        log.warn({ issuer, problem }, 'the keys of the issuer are out of reach')
    } finally {
      pending = undefined
    }
  }

  /** Fetches once for all who ask meanwhile, and not at all soon after the last time. It never throws. */
  const refresh = async (): Promise<void> => {
    const isCooling =
      failed === undefined
        ? fetched !== undefined && now() - fetched.at < cooldownMs
        : now() - failed.at < retryMs
    if (pending === undefined && isCooling) return
    pending ??= fetchKeys()
    await pending
  }

  const usable = (): Fetched | undefined =>
    fetched !== undefined && now() - fetched.at < usableMs ? fetched : undefined

  const unavailable = () =>
    new ServiceError('ISSUER_UNAVAILABLE', { issuer, problem: failed?.problem ?? 'it has no keys' })

  return {
    async find(header) {
      if (usable() === undefined) await refresh()
      const before = usable()
      if (before === undefined) throw unavailable()
      // Whoever asks does not wait for it: what is known serves until it is replaced.
      if (now() - before.at >= freshMs) void refresh()
      const key = await pick(before, header)
      if (key !== undefined) return key
      await refresh()
      if (failed !== undefined) throw unavailable()
      return fetched && pick(fetched, header)
    },
    [Symbol.dispose]() {
      closing.abort()
    },
  }
}

/** @throws Error whose message says what was wrong. */
async function readKeys(issuer: string, signal: AbortSignal) {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const described = description.safeParse(await fetchJson(url, signal))
  if (!described.success) throw new Error(`${url} names no issuer and jwks_uri`)
  const { issuer: itself, jwks_uri: keysUrl } = described.data
  if (itself !== issuer) {
    throw new Error(`${url} describes the issuer '${itself}', and '${issuer}' is configured`)
  }
  if (!isSafeUrl(keysUrl)) throw new Error(`the jwks_uri '${keysUrl}' is no https URL`)
  const read = keySet.safeParse(await fetchJson(keysUrl, signal))
  if (!read.success) throw new Error(`${keysUrl} is no JSON Web Key Set of at most 100 keys`)
  return createLocalJWKSet(read.data)
}

async function pick({ keys }: Fetched, header: JWSHeaderParameters) {
  try {
    return await keys(header)
  } catch (error) {
    // A token that does not say which of several keys it means is as good as one that names none.
    if (error instanceof errors.JWKSNoMatchingKey) return undefined
    if (error instanceof errors.JWKSMultipleMatchingKeys) return undefined
    throw error
  }
}
