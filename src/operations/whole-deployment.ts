import type { AppContext } from '../context.ts'
import { listTenantIds } from '../db/queries/tenants.ts'
import type { Caller } from './define.ts'

/**
 * Whether a caller may see to what all tenants share. Whoever works at the database itself may: at the command line and in
 * an application. Who comes over a network is of one tenant, and speaks for all only where that is the only one.
 */
export async function isForDeployment(
  { database }: Pick<AppContext, 'database'>,
  { origin }: Pick<Caller, 'origin'>,
): Promise<boolean> {
  if (origin !== 'http' && origin !== 'mcp') return true
  const tenants = await listTenantIds(database)
  return tenants.length === 1
}
