import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import {
  claimExecution,
  type Execution,
  findExecution,
  insertExecution,
  listSteps,
  type NewExecution,
  toRecord,
} from '../db/queries/executions.ts'
import { isServiceError } from '../domain/errors.ts'
import { reasonOf } from '../domain/escalation.ts'
import type { Durability } from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'
import { type ExecutionState, initialState } from '../executor/apply.ts'
import { endFromOutside } from '../executor/decide.ts'
import type { Plan } from '../executor/plan.ts'
import type { Claim, RunnerPorts } from '../executor/ports.ts'
import { replay } from '../executor/replay.ts'
import { runExecution } from '../executor/runner.ts'
import type { InputRecord } from '../reply/reply.ts'
import type { Caller } from './define.ts'
import { planOfExecution } from './execution-plan.ts'
import { replyToExecution } from './reply-to-execution.ts'

/** A run that its worker lost this often is handed to a person: something in it may be what kills workers. */
const maxTakeOvers = 5

/** What a run that was just started has besides its record. */
export interface RunExtras {
  readonly onSteps?: Caller['onSteps']
  /** What a model was asked to read in the ticket; kept with the reply. */
  readonly inputRecord?: InputRecord | undefined
}

/**
 * Stores a new execution and runs it to its end, reply included. Answers false when the idempotency key of the
 * execution is taken; nothing was started then.
 */
export async function startAndRun(
  app: AppContext,
  db: TenantDb,
  plan: Plan,
  execution: NewExecution,
  extras: RunExtras = {},
): Promise<boolean> {
  app.onBoundary?.('before_commit', 'start')
  const claim = await insertExecution(db, execution)
  app.onBoundary?.('after_commit', 'start')
  if (claim === undefined) return false
  const state = initialState(plan, execution.start)
  await remembering(app, claim, () =>
    carryOut(app, db, plan, state, claim, execution.durability, extras),
  )
  return true
}

/** An execution that nobody works on, as it was when it was found to be so. */
interface Orphan {
  readonly tenant_id: string
  readonly id: Id<'execution'>
  readonly fence: number
}

/**
 * Takes over the executions that nobody works on, of all tenants, and runs each to its end: those of workers that are
 * gone, and those that this process itself had to leave. Answers their ids. Safe to call at any time and from many
 * processes: each execution is claimed by one of them. What goes wrong with one is that one's, and is logged.
 */
export async function recoverExecutions(app: AppContext): Promise<readonly Id<'execution'>[]> {
  const recovered: Id<'execution'>[] = []
  const failed = new Set<string>()
  for (;;) {
    const orphans = [...app.abandoned.values(), ...(await listOrphans(app))].filter(
      ({ id }) => !failed.has(id),
    )
    let progress = 0
    for (const orphan of orphans) {
      try {
        if (!(await takeOver(app, app.database.forTenant(orphan.tenant_id), orphan))) {
          app.abandoned.delete(orphan.id)
          continue
        }
        recovered.push(orphan.id)
        progress += 1
      } catch (error) {
        failed.add(orphan.id)
        // Another process was faster with this one.
        if (isServiceError(error, 'LEASE_LOST')) continue
        app.log.error(
          { err: error, executionId: orphan.id },
          'an execution could not be carried on',
        )
      }
    }
    if (progress === 0) return recovered
  }
}

function listOrphans(app: AppContext): Promise<readonly Orphan[]> {
  return app.database.system.query<{ tenant_id: string; id: Id<'execution'>; fence: number }>(
    'orphaned_executions',
    'SELECT tenant_id, id, fence FROM orphaned_executions($1, 100)',
    [app.worker.id],
  )
}

async function takeOver(app: AppContext, db: TenantDb, { id, fence }: Orphan): Promise<boolean> {
  const execution = await findExecution(db.kysely, id)
  // A fence that has risen since means that somebody else has it now, and lives.
  if (execution === undefined || execution.fence !== fence) return false
  const claim = await claimExecution(db.kysely, execution, app.worker.id)
  if (claim === undefined) return false
  await remembering(app, claim, () => carryOn(app, db, execution, claim))
  return true
}

/** What becomes of an execution that was taken over. */
async function carryOn(
  app: AppContext,
  db: TenantDb,
  execution: Execution,
  claim: Claim,
): Promise<void> {
  // Beyond the limit nothing more of it is touched: whatever it is, it may be what ended five workers.
  if (execution.takeOverCount >= maxTakeOvers) return endFor(app, claim, 'recovery_exhausted')
  const plan = await planOfExecution(app, db, execution)
  const rows = await listSteps(db.kysely, execution.id)
  const { agrees, divergence, state } = replay(plan, toRecord(execution, rows))
  if (agrees) return carryOut(app, db, plan, state, claim, execution.durability)
  const executionId = execution.id
  app.log.error({ executionId, divergence }, 'the record does not follow from the definition')
  return endFor(app, claim, 'internal_error')
}

/**
 * Works on a claimed execution, and remembers it when that fails: this process alone knows that nobody works on it any
 * more. What could not be done now (the database is away) can be done later, by `recoverExecutions`.
 */
async function remembering(
  app: AppContext,
  { tenantId, executionId, fence }: Claim,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
    app.abandoned.delete(executionId)
  } catch (error) {
    if (isServiceError(error, 'LEASE_LOST')) app.abandoned.delete(executionId)
    else app.abandoned.set(executionId, { tenant_id: tenantId, id: executionId, fence })
    throw error
  }
}

/** Runs a claimed execution from where it stands to its end, and answers the customer. */
async function carryOut(
  app: AppContext,
  db: TenantDb,
  plan: Plan,
  state: ExecutionState,
  claim: Claim,
  durability: Durability,
  { onSteps, inputRecord }: RunExtras = {},
): Promise<void> {
  const ports: RunnerPorts = {
    journal: app.journal,
    tools: app.tools,
    clock: app.clock,
    ...(app.onBoundary && { onBoundary: app.onBoundary }),
    ...(onSteps && { onCommitted: (rows) => tell(app, onSteps, rows) }),
  }
  try {
    await runExecution(ports, plan, state, claim, durability)
  } catch (error) {
    // What is wrong with our own code would go wrong again: that run goes to a person.
    if (!(error instanceof TypeError || isServiceError(error, 'VALUE_INVALID'))) throw error
    const { executionId } = claim
    app.log.error({ err: error, executionId }, 'the run failed inside the service')
    return endFor(app, claim, 'internal_error')
  }
  await replyToExecution(app, db, claim.executionId, inputRecord)
}

/** Whoever listens must not be able to stop a run. */
function tell(
  app: AppContext,
  onSteps: NonNullable<Caller['onSteps']>,
  rows: Parameters<NonNullable<Caller['onSteps']>>[0],
): void {
  try {
    onSteps(rows)
  } catch (error) {
    app.log.warn({ err: error }, 'a listener to steps has failed')
  }
}

/** Ends a run for a reason that lies outside its definition; a person takes it from there. */
async function endFor(
  app: AppContext,
  claim: Claim,
  code: 'internal_error' | 'recovery_exhausted',
): Promise<void> {
  const how = { status: 'escalated', reason: reasonOf(code) } as const
  const end = endFromOutside(how, app.clock.now())
  await app.journal.commit(claim, { added: [], changed: [], end })
  await replyToExecution(app, app.database.forTenant(claim.tenantId), claim.executionId)
}
