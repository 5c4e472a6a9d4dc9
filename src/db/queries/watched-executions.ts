import type { Database } from '../connect.ts'

/** A run that somebody follows, and the revision of it that is known; null: none yet. */
export interface WatchedExecution {
  readonly tenantId: string
  readonly executionId: string
  readonly revision: number | null
}

/** Which of these runs have another revision now, of whatever tenants they are; one that is not there has none. */
export async function listChangedExecutions(
  database: Database,
  watched: readonly WatchedExecution[],
): Promise<readonly (WatchedExecution & { readonly revision: number })[]> {
  const rows = await database.system.query<{ tenant_id: string; id: string; revision: number }>(
    'executions_changed',
    'SELECT tenant_id, id, revision FROM changed_executions($1, $2, $3)',
    [
      watched.map(({ tenantId }) => tenantId),
      watched.map(({ executionId }) => executionId),
      watched.map(({ revision }) => revision),
    ],
  )
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    executionId: row.id,
    revision: row.revision,
  }))
}
