import { sql } from 'kysely'
import { canonicalJson, storedValue } from '../../domain/canonical.ts'
import type { Said, StepRow } from '../../domain/execution.ts'
import type { Id } from '../../domain/ids.ts'
import type { Json } from '../../domain/json.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Db, Transaction } from '../connect.ts'

/**
 * Writes what somebody's word has made of a step that waits, of an execution that is locked and that nobody has.
 * `goesOn`: the execution is anybody's then, unless it is paused.
 */
export async function updateWaitingStep(
  transaction: Transaction,
  executionId: Id<'execution'>,
  row: StepRow,
  goesOn: boolean,
): Promise<void> {
  const { revision } = await transaction
    .updateTable('executions')
    .set((eb) => ({
      revision: eb('revision', '+', 1),
      ...(goesOn && {
        wake_at: null,
        status: eb
          .case()
          .when('status', '=', 'waiting')
          .then(eb.val('running' as const))
          .else(eb.ref('status'))
          .end(),
      }),
    }))
    .where('id', '=', executionId)
    .returning('revision')
    .executeTakeFirstOrThrow()
  await transaction
    .updateTable('step_executions')
    .set({
      status: row.status === 'pending' ? 'waiting' : row.status,
      output: row.output === null ? null : canonicalJson(row.output),
      error: row.error === null ? null : canonicalJson({ ...row.error }),
      exchange: JSON.stringify(row.exchange ?? []),
      ended_at: row.endedAt === null ? null : new Date(row.endedAt),
      revision,
    })
    .where('execution_id', '=', executionId)
    .where('ordinal', '=', row.ordinal)
    .execute()
}

/** A step that waits for somebody, with what a person needs to see. */
export interface WaitingStep {
  readonly executionId: Id<'execution'>
  readonly ordinal: number
  readonly stepKey: string
  readonly iteration: string
  readonly kind: string
  readonly tool: string | null
  readonly versionId: Id<'version'>
  readonly procedureKey: string
  readonly versionNumber: number
  readonly customerId: string | null
  readonly ticketId: string | null
  readonly input: Json
  readonly exchange: readonly Said[]
  readonly startedAt: Date
  /** When the case of its execution is to be done. */
  readonly dueAt: Date | null
  readonly dueWarnAt: Date | null
}

/** Steps that wait for people, the oldest execution first; after the place that a page ended at. */
export async function listWaitingSteps(
  db: Db,
  page: {
    readonly limit: number
    readonly after?: { readonly executionId: string; readonly ordinal: number } | undefined
    readonly executionId?: string | undefined
    /** Whom they ask; `confirm` are writes of guided runs. */
    readonly from?: readonly string[] | undefined
    /** Without the approvals that this one may not decide, whatever they ask for. */
    readonly judge?: Pick<Principal, 'id' | 'kind'> | undefined
    /** Those of cases that are late at this instant. */
    readonly overdueAt?: Date | undefined
  },
): Promise<readonly WaitingStep[]> {
  let query = db
    .selectFrom('step_executions as s')
    .innerJoin('executions as e', (join) =>
      join.onRef('e.tenant_id', '=', 's.tenant_id').onRef('e.id', '=', 's.execution_id'),
    )
    .select([
      's.execution_id',
      's.ordinal',
      's.step_key',
      's.iteration',
      's.kind',
      's.tool',
      's.input',
      's.exchange',
      's.started_at',
      'e.version_id',
      'e.procedure_key',
      'e.version_number',
      'e.customer_id',
      'e.ticket_id',
      'e.due_at',
      'e.due_warn_at',
    ])
    .where('s.status', '=', 'waiting')
    .where('s.kind', 'in', ['ask', 'approval', 'tool'])
    // Found by the index of what waits; no index of steps could be kept without a cost for every commit.
    .where('e.status', '=', 'waiting')
    .orderBy('s.execution_id')
    .orderBy('s.ordinal')
    .limit(page.limit)
  const { after, executionId, from, judge, overdueAt } = page
  if (overdueAt !== undefined) query = query.where('e.due_at', '<', overdueAt)
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(s.execution_id, s.ordinal) > (${after.executionId}, ${after.ordinal})`,
    )
  }
  if (executionId !== undefined) query = query.where('s.execution_id', '=', executionId)
  if (from !== undefined) {
    // A write of a guided run asks the agent, whatever is in its input.
    query = query.where(
      sql<boolean>`CASE s.kind WHEN 'tool' THEN 'agent' ELSE s.input ->> 'from' END = ANY(${from})`,
    )
  }
  if (judge !== undefined) {
    const approved = canonicalJson([{ kind: 'approved', by: { id: judge.id } }])
    // Whom a step leaves out by notBy stands in the definition alone, and is told when they look at it.
    query = query.where(
      sql<boolean>`(s.kind <> 'approval' OR (${judge.kind === 'human'}
        AND e.requester ->> 'id' <> ${judge.id} AND e.on_behalf_of IS DISTINCT FROM ${judge.id}
        AND NOT coalesce(s.exchange @> ${approved}::jsonb, false)))`,
    )
  }
  const rows = await query.execute()
  return rows.map((row) => ({
    executionId: row.execution_id as Id<'execution'>,
    ordinal: row.ordinal,
    stepKey: row.step_key,
    iteration: row.iteration,
    kind: row.kind,
    tool: row.tool,
    versionId: row.version_id as Id<'version'>,
    procedureKey: row.procedure_key,
    versionNumber: row.version_number,
    customerId: row.customer_id,
    ticketId: row.ticket_id,
    input: storedValue(row.input),
    exchange: (row.exchange ?? []) as unknown as readonly Said[],
    startedAt: row.started_at,
    dueAt: row.due_at,
    dueWarnAt: row.due_warn_at,
  }))
}
