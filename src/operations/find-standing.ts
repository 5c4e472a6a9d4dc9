import type { AppContext } from '../context.ts'
import { type Execution, findExecution } from '../db/queries/executions.ts'
import { listClaims } from '../db/queries/work.ts'
import { type Id, isId } from '../domain/ids.ts'

/** How an execution stands, in short. */
export type Standing = Pick<
  Execution,
  'procedureKey' | 'status' | 'outcome' | 'reasonCode' | 'wakeAt'
>

/** How an execution of a tenant stands, without its steps; undefined when the tenant has none of that id. */
export async function findStanding(
  app: AppContext,
  tenantId: string,
  executionId: string,
): Promise<Standing | undefined> {
  if (!isId('execution', executionId)) return undefined
  return findExecution(app.database.forTenant(tenantId).kysely, executionId)
}

/** The executions, of all tenants, that the database holds to be with this process. */
export async function listOwn(app: AppContext): Promise<readonly Id<'execution'>[]> {
  const claims = await listClaims(app.database, app.worker.id)
  return claims.map(({ executionId }) => executionId).sort()
}
