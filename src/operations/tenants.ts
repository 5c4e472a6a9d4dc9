import type { AppContext } from '../context.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import { insertTenant, listTenantIds } from '../db/queries/tenants.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Principal } from '../domain/principal.ts'

/**
 * Makes a tenant. It is an act of whoever runs the deployment, as migrating is, and no operation: no tenant's admin may
 * make another tenant. `principal` is of the new tenant, whose audit log begins with this.
 *
 * @throws ServiceError `TENANT_EXISTS`.
 */
export async function addTenant(
  app: AppContext,
  principal: Principal,
  name: string,
): Promise<void> {
  const { tenantId } = principal
  const now = app.clock.now()
  const { kysely } = app.database.forTenant(tenantId)
  await kysely.transaction().execute(async (transaction) => {
    if (!(await insertTenant(transaction, tenantId, name, new Date(now)))) {
      throw new ServiceError('TENANT_EXISTS', { tenantId })
    }
    await insertAuditEvent(transaction, {
      action: 'tenant.created',
      entityKind: 'tenant',
      entityId: tenantId,
      details: { name },
      principal,
      origin: 'cli',
      at: now,
    })
  })
}

/** The ids of all tenants, for whoever runs the deployment. */
export function listTenants({ database }: AppContext): Promise<readonly string[]> {
  return listTenantIds(database)
}
