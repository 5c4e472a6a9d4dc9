import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import {
  claimExecution,
  findExecution,
  insertExecution,
  listSteps,
  type NewExecution,
  toRecord,
} from '../db/queries/executions.ts'
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
  await carryOut(
    app,
    db,
    plan,
    initialState(plan, execution.start),
    claim,
    execution.durability,
    extras,
  )
  return true
}

/**
 * Takes over the executions of workers that are gone, of all tenants, and runs each to its end. Answers their ids.
 * Safe to call at any time and from many processes: each execution is claimed by one of them.
 */
export async function recoverExecutions(app: AppContext): Promise<readonly Id<'execution'>[]> {
  const recovered: Id<'execution'>[] = []
  for (;;) {
    const orphans = await app.database.system.query<{ tenant_id: string; id: Id<'execution'> }>(
      'orphaned_executions',
      'SELECT tenant_id, id FROM orphaned_executions($1, 100)',
      [app.worker.id],
    )
    let progress = 0
    for (const orphan of orphans) {
      if (await takeOver(app, app.database.forTenant(orphan.tenant_id), orphan.id)) {
        recovered.push(orphan.id)
        progress += 1
      }
    }
    if (progress === 0) return recovered
  }
}

async function takeOver(app: AppContext, db: TenantDb, id: Id<'execution'>): Promise<boolean> {
  const execution = await findExecution(db.kysely, id)
  const claim = execution && (await claimExecution(db.kysely, execution, app.worker.id))
  if (execution === undefined || claim === undefined) return false
  const plan = await planOfExecution(app, db, execution)
  const rows = await listSteps(db.kysely, id)
  const { agrees, divergence, state } = replay(plan, toRecord(execution, rows))
  if (!agrees) {
    app.log.error({ executionId: id, divergence }, 'the record does not follow from the definition')
    await endInternally(app, plan, state, claim)
  } else if (execution.takeOverCount >= maxTakeOvers) {
    const end = endFromOutside(
      plan,
      state,
      { status: 'escalated', reason: reasonOf('recovery_exhausted') },
      app.clock.now(),
    )
    await app.journal.commit(claim, [], end)
    await replyToExecution(app, db, id)
  } else {
    await carryOut(app, db, plan, state, claim, execution.durability)
  }
  return true
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
    ...(onSteps && { onCommitted: onSteps }),
  }
  try {
    await runExecution(ports, plan, state, claim, durability)
  } catch (error) {
    // What the service could not do now, whoever claims the execution next can. What is wrong with our own code would
    // go wrong again: that run goes to a person.
    if (!(error instanceof TypeError)) throw error
    app.log.error(
      { err: error, executionId: claim.executionId },
      'the run failed inside the service',
    )
    const rows = await listSteps(db.kysely, claim.executionId)
    const execution = await findExecution(db.kysely, claim.executionId)
    if (execution === undefined) throw error
    await endInternally(app, plan, replay(plan, toRecord(execution, rows)).state, claim)
  }
  await replyToExecution(app, db, claim.executionId, inputRecord)
}

async function endInternally(
  app: AppContext,
  plan: Plan,
  state: ExecutionState,
  claim: Claim,
): Promise<void> {
  const end = endFromOutside(
    plan,
    state,
    { status: 'escalated', reason: reasonOf('internal_error') },
    app.clock.now(),
  )
  await app.journal.commit(claim, [], end)
}
