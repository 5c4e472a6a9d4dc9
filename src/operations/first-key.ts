import type { AppContext } from '../context.ts'
import { hasAdminKey } from '../db/queries/principals.ts'
import { isServiceError } from '../domain/errors.ts'
import type { Principal } from '../domain/principal.ts'
import { createKey } from './create-key.ts'
import { createPrincipal } from './create-principal.ts'

/** How the first admin is called; they may be given a better name. */
const firstAdmin = 'admin'

/**
 * Makes an admin with a key where an embedded database has none who could come in; undefined where one has. On a server
 * whoever may reach the database makes them at the command line.
 */
export async function makeFirstKey(
  app: AppContext,
  principal: Principal,
): Promise<{ readonly principalId: string; readonly key: string } | undefined> {
  if (app.database.kind !== 'pglite') return undefined
  const { kysely } = app.database.forTenant(principal.tenantId)
  if (await hasAdminKey(kysely, new Date(app.clock.now()))) return undefined
  const caller = { principal, origin: 'cli' } as const
  try {
    await createPrincipal.invoke(app, caller, { principalId: firstAdmin, roles: ['admin'] })
  } catch (error) {
    // They are there, and their keys have expired or were revoked.
    if (!isServiceError(error, 'PRINCIPAL_EXISTS')) throw error
  }
  return createKey.invoke(app, caller, { principalId: firstAdmin, name: 'first key' })
}
