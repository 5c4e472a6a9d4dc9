import { decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import type { OidcConfig } from '../config/access.ts'
import { isServiceError } from '../domain/errors.ts'
import { issuedId } from '../domain/issued-id.ts'
import type { Principal } from '../domain/principal.ts'
import { findClaim, groupsOf, kindOf, nameOf, rolesOf } from './claims.ts'
import { createIssuerKeys, type IssuerKeysOptions } from './issuer-keys.ts'

/** Whom a token is about, as the issuer says. */
export interface Issued extends Principal {
  readonly name: string
  /** When the issuer said so. */
  readonly issuedAt: Date
}

/** Reads tokens of one issuer. Disposing ends what it still fetches. */
export interface TokenReader extends Disposable {
  /**
   * `at`: the time, in epoch milliseconds. `refused` says why a token is worth nothing, for the log and nobody else.
   *
   * @throws ServiceError `ISSUER_UNAVAILABLE`
   */
  readonly read: (
    token: string,
    at: number,
  ) => Promise<{ readonly issued: Issued } | { readonly refused: string }>
}

/** Signatures that only the holder of a private key can make. With a shared secret the issuer's public key would do. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** By these a token would bring its own key, or name where to fetch it. */
const ownKeys = ['jwk', 'jku', 'x5u', 'x5c']

/** No issuer's tokens are longer, in characters; a header of HTTP carries hardly more. */
const maxLength = 16_384

/** How far the clocks of the issuer and of this service may be apart. */
const leewaySeconds = 60

const form = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Whether a credential has the form of a signed token. Nothing is proved by that. */
export function isToken(credential: string): boolean {
  return credential.length <= maxLength && form.test(credential)
}

/** Nothing is fetched before the first token. */
export function createTokenReader(config: OidcConfig, options: IssuerKeysOptions): TokenReader {
  const keys = createIssuerKeys(config.issuer, options)
  return {
    async read(token, at) {
      try {
        const flaw = findFlaw(token, config.issuer)
        if (flaw !== undefined) return { refused: flaw }
        const { payload } = await jwtVerify(
          token,
          async (header) => {
            const key = await keys.find(header)
            if (key === undefined) throw new Error('the issuer has no such key')
            return key
          },
          {
            algorithms,
            issuer: config.issuer,
            audience: config.audience,
            requiredClaims: ['sub', 'exp', 'iat'],
            clockTolerance: leewaySeconds,
            currentDate: new Date(at),
          },
        )
        return toIssued(payload, config, at)
      } catch (error) {
        if (isServiceError(error)) throw error
        // Whatever is wrong with a token, jose throws.
        return { refused: error instanceof Error ? error.message : String(error) }
      }
    },
    [Symbol.dispose]: () => keys[Symbol.dispose](),
  }
}

/** What is wrong with a token before any key is looked for; a token of somebody else's is no reason to ask the issuer. */
function findFlaw(token: string, issuer: string): string | undefined {
  const header = decodeProtectedHeader(token)
  const { alg, typ } = header
  if (alg === undefined || !algorithms.includes(alg)) return `its algorithm is ${alg}`
  const own = ownKeys.find((name) => Object.hasOwn(header, name))
  if (own !== undefined) return `its header has '${own}'`
  if (typ !== undefined && !/^(application\/)?(at\+)?jwt$/i.test(typ)) return `it is a '${typ}'`
  return decodeJwt(token).iss === issuer ? undefined : 'it is of another issuer'
}

function toIssued(
  payload: JWTPayload,
  config: OidcConfig,
  at: number,
): { readonly issued: Issued } | { readonly refused: string } {
  const { sub, iat = 0 } = payload
  if (typeof sub !== 'string' || sub === '' || !sub.isWellFormed()) {
    return { refused: 'its subject is no text' }
  }
  if (!(iat >= 0 && iat * 1000 <= at + leewaySeconds * 1000)) {
    return { refused: 'it says to be issued in the future, or before 1970' }
  }
  // A token that is bound to a key of its holder (RFC 7800) proves nothing by itself.
  if (payload.cnf !== undefined) return { refused: 'it is bound to a key that was not shown' }
  const tenantId =
    config.tenantClaim === undefined ? config.tenantId : findClaim(payload, config.tenantClaim)
  if (typeof tenantId !== 'string' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(tenantId)) {
    return { refused: 'it names no tenant' }
  }
  const id = issuedId(config.issuer, sub)
  const roles = rolesOf(payload, config)
  const groups = groupsOf(payload, config)
  const name = nameOf(payload) ?? id
  const issuedAt = new Date(Math.floor(iat) * 1000)
  return { issued: { id, kind: kindOf(payload), name, roles, groups, tenantId, issuedAt } }
}
