import { storedValue } from '../../domain/canonical.ts'
import type { Id } from '../../domain/ids.ts'
import type { Json } from '../../domain/json.ts'
import type { TenantDb } from '../connect.ts'

/** A call of a tool of which nobody knows whether it was made, and which no person has settled. */
export interface UnknownWrite {
  readonly executionId: Id<'execution'>
  readonly ordinal: number
  /** As it is stored, with marks where something is sensitive. */
  readonly input: Json
}

// A call that was refused because of another such call has certainly done nothing.
const unknownWrites = `
  SELECT s.execution_id, s.ordinal, s.input
  FROM escalations x
    JOIN step_executions s ON s.tenant_id = x.tenant_id AND s.execution_id = x.execution_id
  WHERE x.tenant_id = $1 AND x.status <> 'resolved'
    AND x.reason_code IN ('outcome_unknown', 'recovery_exhausted', 'internal_error')
    AND s.execution_id <> $2 AND s.tool = $3
    AND (s.status = 'running' OR s.error ->> 'code' = 'outcome_unknown')
    AND s.attempts -> -1 ->> 'result' IS DISTINCT FROM 'refused'
  ORDER BY s.execution_id, s.ordinal`

/** Of all runs of the tenant but one, those whose call of a tool is open. */
export async function listUnknownWrites(
  db: TenantDb,
  besides: Id<'execution'>,
  tool: string,
): Promise<readonly UnknownWrite[]> {
  const values = [db.tenantId, besides, tool]
  const rows = await db.query<{ execution_id: string; ordinal: number; input: Json }>(
    'unknown_writes',
    unknownWrites,
    values,
  )
  return rows.map((row) => ({
    executionId: row.execution_id as Id<'execution'>,
    ordinal: row.ordinal,
    input: storedValue(row.input),
  }))
}
