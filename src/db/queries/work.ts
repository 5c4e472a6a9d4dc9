import { sql } from 'kysely'
import type { StepRow } from '../../domain/execution.ts'
import type { Id } from '../../domain/ids.ts'
import type { Claim } from '../../executor/ports.ts'
import type { Database, TenantDb, Transaction } from '../connect.ts'
import { deleteHold } from './execution-holds.ts'
import { pausesUntil } from './pauses.ts'

interface ClaimedRow {
  readonly tenant_id: string
  readonly id: Id<'execution'>
  readonly fence: number
}

/**
 * Claims up to `max` executions that nobody has, of all tenants in turn, the oldest first: those that were only stored,
 * were handed back or released, or whose timer is due. Their fence rises, so that whatever an earlier worker still writes
 * is refused. Any number of processes may ask at once; each execution goes to one of them.
 *
 * `suspects`: only those that two workers or more have lost; otherwise only the others.
 */
export async function claimExecutions(
  database: Database,
  workerId: Id<'worker'>,
  max: number,
  { suspects = false }: { readonly suspects?: boolean } = {},
): Promise<readonly Claim[]> {
  const rows = await database.system.query<ClaimedRow & { fence: number }>(
    'executions_claim',
    'SELECT tenant_id, id, fence FROM claim_executions($1, $2, $3)',
    [workerId, max, suspects],
  )
  return rows.map(toClaim)
}

/** The claims that a worker has on executions, as the database knows them. */
export async function listClaims(
  database: Database,
  workerId: Id<'worker'>,
): Promise<readonly Claim[]> {
  const rows = await database.system.query<ClaimedRow>(
    'executions_of',
    'SELECT tenant_id, id, fence FROM executions_of($1)',
    [workerId],
  )
  return rows.map(toClaim)
}

/** What came of looking at the workers that are gone. */
export interface Released {
  /** Executions that were theirs, and are anybody's now. */
  readonly released: number
  /** Whether executions wait that two workers or more have lost. */
  readonly suspects: boolean
}

/** Takes the executions of workers that are gone away from them. */
export async function releaseExecutions(
  database: Database,
  workerId: Id<'worker'>,
): Promise<Released> {
  const [row] = await database.system.query<{ released: number; suspects: boolean }>(
    'executions_release',
    'SELECT released, suspects FROM release_executions($1)',
    [workerId],
  )
  if (row === undefined) throw new TypeError('a function in FROM answers a row')
  return row
}

const claimOne = `
  UPDATE executions SET status = 'running', worker_id = $3, fence = fence + 1, revision = revision + 1, wake_at = NULL,
    started_at = coalesce(started_at, clock_timestamp())
  WHERE tenant_id = $1 AND id = $2
    AND (status = 'waiting' OR ($4 AND status = 'paused') OR (status IN ('pending', 'running') AND worker_id IS NULL))
  RETURNING tenant_id, id, fence`

/** Claims one execution that nobody has, whatever it waits for. Undefined when somebody has it, or it has ended. */
export async function claimExecution(
  db: TenantDb,
  id: Id<'execution'>,
  workerId: Id<'worker'>,
  evenPaused = true,
): Promise<Claim | undefined> {
  const values = [db.tenantId, id, workerId, evenPaused]
  const [row] = await db.query<ClaimedRow>('execution_claim', claimOne, values)
  return row && toClaim(row)
}

const handBackOne = `
  UPDATE executions SET worker_id = NULL, take_over_count = take_over_count + $4, revision = revision + 1
  WHERE tenant_id = $1 AND id = $2 AND fence = $3 AND status = 'running'`

/** Gives a claim up, so that anybody may take the execution. `failures` (0 or 1) counts as a take-over does. */
export async function handBackExecution(
  db: TenantDb,
  { tenantId, executionId, fence }: Claim,
  failures: 0 | 1,
): Promise<void> {
  await db.query('execution_hand_back', handBackOne, [tenantId, executionId, fence, failures])
}

/** What an operator may want of an execution that has not ended. */
export type Mark = 'cancel' | 'pause' | 'resume'

/**
 * Marks an execution that has not ended and is locked. One that nobody works on is paused at once, the others before
 * their next step; one that is resumed, or that waits and is to be cancelled, is anybody's. A mark that is there already
 * stays as it is.
 */
export async function markExecution(
  transaction: Transaction,
  mark: Mark,
  id: Id<'execution'>,
  at: Date,
): Promise<void> {
  await transaction
    .updateTable('executions')
    .set((eb) => ({
      revision: eb('revision', '+', 1),
      ...(mark === 'cancel' && {
        cancel_requested_at: eb.fn.coalesce('cancel_requested_at', eb.val(at)),
        // One that waits is woken, whoever finds it first.
        wake_at: null,
        status: eb
          .case()
          .when('status', '=', 'waiting')
          .then(eb.val('running' as const))
          .else(eb.ref('status'))
          .end(),
      }),
      ...(mark === 'pause' && {
        pause_requested_at: eb.fn.coalesce('pause_requested_at', eb.val(at)),
        wake_at: null,
        status: eb
          .case()
          .when('worker_id', 'is', null)
          .then(eb.val('paused' as const))
          .else(eb.ref('status'))
          .end(),
      }),
      ...(mark === 'resume' && {
        pause_requested_at: null,
        pauses: pausesUntil(at, 'executions'),
        status: eb
          .case()
          .when('status', '=', 'paused')
          .then(eb.val('running' as const))
          .else(eb.ref('status'))
          .end(),
      }),
    }))
    .where('id', '=', id)
    .execute()
  // What a person pauses or resumes is theirs: no switch lets it go on, or holds it, from now on.
  if (mark !== 'cancel') await deleteHold(transaction, id)
}

/** Pauses every execution of every tenant that has not ended, whoever has it, and answers how many these were. */
export async function holdExecutions(transaction: Transaction): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT hold_executions() AS n`.execute(transaction)
  return rows[0]?.n ?? 0
}

const attach = `
  UPDATE escalations SET late_outcomes = coalesce(late_outcomes, '[]') || $3::jsonb
  WHERE tenant_id = $1 AND execution_id = $2
  RETURNING id`

/** Adds what came of a call, after its execution was taken over, to the escalation; false when there is none. */
export async function attachLateOutcome(
  db: TenantDb,
  executionId: Id<'execution'>,
  row: StepRow,
): Promise<boolean> {
  const { stepKey, tool, status, attempt, output, attempts } = row
  const last = attempts?.at(-1)
  const outcome = {
    stepKey,
    tool,
    attempt,
    result: last === undefined || status === 'completed' ? 'done' : last.result,
    output,
    message: last?.message ?? null,
  }
  const rows = await db.query('late_outcome_attach', attach, [
    db.tenantId,
    executionId,
    JSON.stringify([outcome]),
  ])
  return rows.length > 0
}

function toClaim({ tenant_id, id, fence }: ClaimedRow): Claim {
  return { tenantId: tenant_id, executionId: id, fence }
}
