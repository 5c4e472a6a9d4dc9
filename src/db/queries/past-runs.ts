import { type Selectable, sql } from 'kysely'
import { storedValue } from '../../domain/canonical.ts'
import type { Reason } from '../../domain/escalation.ts'
import type { StepRow, Ticket } from '../../domain/execution.ts'
import type { Id } from '../../domain/ids.ts'
import { isJsonObject } from '../../domain/json.ts'
import type { Principal } from '../../domain/principal.ts'
import type { SealedPart, SensitiveValue } from '../../domain/sensitive-value.ts'
import type { Db } from '../connect.ts'
import type { ExecutionsTable } from '../rows/executions.ts'
import { type Execution, type RecordedExecution, toFurther, toStepRow } from './executions.ts'

/** Which finished runs of a procedure. Ids are in the order of time, so a range of them is a period. */
export interface PastRunsFilter {
  readonly procedureKey: string
  /** From this id on, and before that one. */
  readonly fromId: Id<'execution'> | null
  readonly beforeId: Id<'execution'>
  readonly statuses: readonly ('completed' | 'escalated' | 'cancelled')[]
  readonly outcome: 'resolved' | 'declined' | null
  readonly versionNumber: number | null
}

/** A finished run as it is stored: what is sensitive of it stands apart. Verdicts on single conditions are not read. */
export interface StoredRun {
  readonly execution: RecordedExecution &
    Pick<Execution, 'versionId' | 'versionNumber' | 'definitionHash' | 'toolContracts'>
  /** By ordinal. */
  readonly rows: readonly StepRow[]
  readonly values: readonly SensitiveValue[]
}

/** How many runs match, counted up to a limit. */
export async function countPastRuns(
  db: Db,
  filter: PastRunsFilter,
  limit: number,
): Promise<number> {
  const { n } = await db
    .selectFrom(matching(db, filter).select('id').limit(limit).as('found'))
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

/**
 * The newest runs that match, whole, in three statements. They are found along the primary key, backwards: an index by
 * procedure would cost every start (docs/decisions/0005-track-record.md), and a page that passes over other procedures'
 * runs costs only whoever asks for it.
 */
export async function listPastRuns(
  db: Db,
  filter: PastRunsFilter,
  limit: number,
): Promise<readonly StoredRun[]> {
  const executions = await matching(db, filter)
    .select(columns)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  if (executions.length === 0) return []
  const ids = executions.map(({ id }) => id)
  const steps = await db
    .selectFrom('step_executions')
    .selectAll()
    .where(sql<boolean>`execution_id = ANY (${ids})`)
    .orderBy('execution_id')
    .orderBy('ordinal')
    .execute()
  const apart = await db
    .selectFrom('sensitive_values')
    .select(['execution_id', 'ordinal', 'part', 'pointer', 'is_whole', 'digest', 'salt', 'value'])
    .where(sql<boolean>`execution_id = ANY (${ids})`)
    .execute()
  const rows = byExecution(steps, toStepRow)
  const values = byExecution(
    apart,
    ({ execution_id: _id, is_whole: isWhole, ...row }): SensitiveValue => ({
      ...row,
      isWhole,
      part: row.part as SealedPart,
    }),
  )
  return executions.map((row) => ({
    execution: toPastExecution(row),
    rows: rows.get(row.id) ?? [],
    values: values.get(row.id) ?? [],
  }))
}

/** All that a verdict depends on: half of a row is not. */
const columns = [
  'tenant_id',
  'id',
  'version_id',
  'version_number',
  'definition_hash',
  'tool_contracts',
  'semantics_version',
  'requester',
  'on_behalf_of',
  'customer_id',
  'input',
  'ticket',
  'mode',
  'calendar',
  'pins',
  'parent_id',
  'parent_ordinal',
  'root_id',
  'call_path',
  'pauses',
  'status',
  'outcome',
  'reason',
  'result',
  'created_at',
  'started_at',
  'ended_at',
] as const

// The JSON columns are written only by this service, from values of the types that they are read as.
function toPastExecution(
  row: Pick<Selectable<ExecutionsTable>, (typeof columns)[number]>,
): StoredRun['execution'] {
  const input = storedValue(row.input)
  return {
    id: row.id as Id<'execution'>,
    versionId: row.version_id as Id<'version'>,
    versionNumber: row.version_number,
    definitionHash: row.definition_hash,
    toolContracts: row.tool_contracts as Readonly<Record<string, string>>,
    semanticsVersion: row.semantics_version,
    requester: { ...(row.requester as unknown as Principal), tenantId: row.tenant_id },
    onBehalfOf: row.on_behalf_of,
    customerId: row.customer_id,
    input: isJsonObject(input) ? input : {},
    ticket: row.ticket as Ticket | null,
    further: toFurther(row),
    status: row.status,
    outcome: row.outcome,
    reason: row.reason as Reason | null,
    result: storedValue(row.result),
    conditions: [],
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  }
}

function matching(db: Db, filter: PastRunsFilter) {
  let query = db
    .selectFrom('executions')
    .where('id', '<', filter.beforeId)
    .where('procedure_key', '=', filter.procedureKey)
    .where('status', 'in', filter.statuses)
    // Nothing can be tried on a run that was erased.
    .where(
      sql<boolean>`NOT EXISTS (
        SELECT FROM erased_records r WHERE r.tenant_id = executions.tenant_id AND r.execution_id = executions.id)`,
    )
  if (filter.fromId !== null) query = query.where('id', '>=', filter.fromId)
  if (filter.outcome !== null) query = query.where('outcome', '=', filter.outcome)
  if (filter.versionNumber !== null) {
    query = query.where('version_number', '=', filter.versionNumber)
  }
  return query
}

function byExecution<R extends { readonly execution_id: string }, T>(
  rows: readonly R[],
  convert: (row: R) => T,
): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>()
  for (const row of rows) {
    const own = found.get(row.execution_id)
    if (own === undefined) found.set(row.execution_id, [convert(row)])
    else own.push(convert(row))
  }
  return found
}
