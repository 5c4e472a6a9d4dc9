import { isToken } from '../access/tokens.ts'
import type { AppContext } from '../context.ts'
import { findPrincipalByKey, hasAdminKey } from '../db/queries/principals.ts'
import { apiKeyHash, tenantOfKey } from '../domain/api-key.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Principal } from '../domain/principal.ts'
import { admitToken } from './admit-token.ts'

/**
 * Who shows this credential, a key or a token of the issuer, as they are at this moment. It is looked up anew for every
 * call, so that a key that was revoked a moment ago lets nobody in.
 *
 * @throws ServiceError `KEY_REFUSED`, which does not say why; of a token `ISSUER_UNAVAILABLE`.
 */
export async function authenticate(app: AppContext, credential: string): Promise<Principal> {
  if (isToken(credential)) return admitToken(app, credential)
  const tenantId = tenantOfKey(credential)
  if (tenantId === undefined) throw new ServiceError('KEY_REFUSED', {})
  // Compared as digests by an index: what time it takes tells nothing of any key.
  const found = await findPrincipalByKey(
    app.database.forTenant(tenantId).kysely,
    apiKeyHash(credential),
    new Date(app.clock.now()),
  )
  if (found === undefined) throw new ServiceError('KEY_REFUSED', {})
  const { id, kind, roles, groups } = found
  return { id, kind, roles, groups, tenantId }
}

/**
 * Lets somebody work who shows no key. On an embedded folder that is always so; on a server only as long as the tenant has
 * no admin who could come in with one.
 *
 * @throws ServiceError `KEY_MISSING`.
 */
export async function admitWithoutKey(app: AppContext, tenantId: string): Promise<void> {
  if (app.database.kind === 'pglite') return
  const { kysely } = app.database.forTenant(tenantId)
  if (await hasAdminKey(kysely, new Date(app.clock.now()))) {
    throw new ServiceError('KEY_MISSING', { tenantId })
  }
}
