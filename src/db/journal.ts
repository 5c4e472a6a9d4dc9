import { ServiceError } from '../domain/errors.ts'
import type { Reason } from '../domain/escalation.ts'
import type { ExecutionEnd, StepRow } from '../domain/execution.ts'
import { newId } from '../domain/ids.ts'
import type { Clock, Flags, Journal } from '../executor/ports.ts'
import type { Database } from './connect.ts'

/**
 * The runner's journal over the database.
 *
 * Each commit is one statement. Its first part updates the execution row under the claim's fence and takes the row's
 * lock; all other parts select from what it returned, so a stale claim writes nothing at all. (`WHERE EXISTS (… fence
 * = $3)` would not do: it reads a snapshot and let one write of two through.)
 */
export function createJournal(database: Database, clock: Clock): Journal {
  return {
    async commit(claim, rows, end): Promise<Flags> {
      const db = database.forTenant(claim.tenantId)
      const { tenantId, executionId, fence } = claim
      const values = [tenantId, executionId, fence, JSON.stringify(rows.map(toRecord))]
      const [row] =
        end === undefined
          ? await db.query<CommitRow>('journal_commit', commitRows, values)
          : await db.query<CommitRow>('journal_end', commitEnd, [
              ...values,
              ...endValues(end, clock.now()),
            ])
      if (row === undefined) throw new ServiceError('LEASE_LOST', { executionId, fence })
      return { cancelRequested: row.cancel_requested_at !== null }
    },
  }
}

interface CommitRow {
  readonly cancel_requested_at: Date | null
}

// A row that is there already is a running one; finished rows are held by a trigger.
const insertSteps = `
  INSERT INTO step_executions AS s (
    tenant_id, execution_id, ordinal, step_key, iteration, kind, status, attempt, tool,
    input, output, error, attempts, started_at, ended_at, revision)
  SELECT $1, $2, r.ordinal, r.step_key, r.iteration, r.kind, r.status, r.attempt, r.tool,
    r.input, r.output, r.error, r.attempts, r.started_at, r.ended_at, e.revision
  FROM e CROSS JOIN jsonb_to_recordset($4::jsonb) AS r(
    ordinal int, step_key text, iteration text, kind text, status text, attempt int, tool text,
    input jsonb, output jsonb, error jsonb, attempts jsonb, started_at timestamptz, ended_at timestamptz)
  ON CONFLICT (tenant_id, execution_id, ordinal) DO UPDATE SET
    status = excluded.status, attempt = excluded.attempt, output = excluded.output, error = excluded.error,
    attempts = excluded.attempts, ended_at = excluded.ended_at, revision = excluded.revision`

const commitRows = `
  WITH e AS (
    UPDATE executions SET revision = revision + 1
    WHERE tenant_id = $1 AND id = $2 AND fence = $3 AND status = 'running'
    RETURNING revision, cancel_requested_at
  ), s AS (${insertSteps})
  SELECT revision, cancel_requested_at FROM e`

const commitEnd = `
  WITH e AS (
    UPDATE executions SET revision = revision + 1, worker_id = NULL, status = $5, outcome = $6,
      reason = $7::jsonb, result = $8::jsonb, conditions = $9::jsonb, ended_at = $10
    WHERE tenant_id = $1 AND id = $2 AND fence = $3 AND status = 'running'
    RETURNING revision, cancel_requested_at, ticket
  ), s AS (${insertSteps}
  ), x AS (
    INSERT INTO escalations (
      tenant_id, id, execution_id, reason, queue, priority, ticket, opened_at)
    SELECT $1, $11, $2, $7::jsonb, $12, $13, e.ticket, $10
    FROM e WHERE $5 = 'escalated'
  )
  SELECT revision, cancel_requested_at FROM e`

function toRecord(row: StepRow): Record<string, unknown> {
  return {
    ordinal: row.ordinal,
    step_key: row.stepKey,
    iteration: row.iteration,
    kind: row.kind,
    status: row.status,
    attempt: row.attempt,
    tool: row.tool,
    input: row.input,
    output: row.output,
    error: row.error,
    attempts: row.attempts,
    started_at: new Date(row.startedAt),
    ended_at: row.endedAt === null ? null : new Date(row.endedAt),
  }
}

function endValues(end: ExecutionEnd, now: number): readonly unknown[] {
  const target: Reason['escalateTo'] = end.reason?.escalateTo
  return [
    end.status,
    end.outcome,
    end.reason === null ? null : JSON.stringify(end.reason),
    JSON.stringify(end.result),
    JSON.stringify(end.conditions),
    new Date(end.endedAt),
    newId('escalation', now),
    target?.queue ?? 'support',
    target?.priority ?? 'normal',
  ]
}
