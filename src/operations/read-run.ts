import type { AppContext } from '../context.ts'
import type { TenantDb, Transaction } from '../db/connect.ts'
import { listExecutionActs } from '../db/queries/audit.ts'
import { findErasedAt } from '../db/queries/erasures.ts'
import { findHoldingSwitch } from '../db/queries/execution-holds.ts'
import {
  type Execution,
  findExecution,
  listSteps,
  lockExecution,
} from '../db/queries/executions.ts'
import { findReply, type StoredReply } from '../db/queries/replies.ts'
import { findWorkerSign } from '../db/workers.ts'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import { isExecutionEnded } from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'
import { stoppedBy } from '../domain/kill-switch.ts'
import type { OperationContext } from './define.ts'
import { type RunDetailOutput, type RunOutput, toRunOutput } from './execution-output.ts'
import { planOfExecution } from './execution-plan.ts'
import { replyToExecution } from './reply-to-execution.ts'
import { toWaitOutput } from './wait-output.ts'

/**
 * The whole record of an execution.
 *
 * @throws ServiceError `EXECUTION_NOT_FOUND`.
 */
export async function readRun(
  { app, caller, db }: OperationContext,
  id: Id<'execution'>,
): Promise<RunOutput> {
  const execution = await findExecution(db.kysely, id)
  if (execution === undefined) throw new ServiceError('EXECUTION_NOT_FOUND', { executionId: id })
  const plan = await planOfExecution(app, db, execution)
  const actions = new Map([...plan.nodes.values()].map(({ key, step }) => [key, step.action]))
  const rows = await listSteps(db.kysely, id)
  const { reply, erasedAt } = await replyOf(app, db, execution)
  const run = toRunOutput(execution, rows, actions, reply, erasedAt, app.clock.now())
  if (!rows.some(({ status }) => status === 'waiting')) return run
  const told = rows.map((row) => toWaitOutput(plan, caller.principal, execution, row, rows))
  return { ...run, steps: run.steps.map((step, index) => ({ ...step, ...told[index] })) }
}

/**
 * The same with what people did to it, from the audit log, and with how the worker is that has it.
 *
 * @throws ServiceError `EXECUTION_NOT_FOUND`.
 */
export async function readRunDetail(
  context: OperationContext,
  id: Id<'execution'>,
): Promise<RunDetailOutput> {
  const run = await readRun(context, id)
  const { createdAt, endedAt } = run.execution
  const acts = await listExecutionActs(context.db.kysely, {
    id,
    tenantId: context.db.tenantId,
    createdAt: new Date(createdAt),
    endedAt: endedAt === null ? null : new Date(endedAt),
  })
  return {
    ...run,
    worker: await readWorker(context, run),
    heldBy: await readHold(context, id, run),
    acts: acts.map((act) => ({ ...act, at: act.at.toISOString() })),
  }
}

async function readHold(
  { db }: OperationContext,
  id: Id<'execution'>,
  { execution: { status, pauseRequested } }: RunOutput,
): Promise<RunDetailOutput['heldBy']> {
  if (isExecutionEnded(status) || !pauseRequested) return null
  const found = await findHoldingSwitch(db.kysely, id)
  return found === undefined ? null : stoppedBy(found)
}

async function readWorker(
  { app }: OperationContext,
  { execution: { workerId } }: RunOutput,
): Promise<RunDetailOutput['worker']> {
  if (workerId === null) return null
  const { lastHeardAt, isGone } = await findWorkerSign(app.database, workerId)
  return { lastHeardAt: lastHeardAt?.toISOString() ?? null, isGone }
}

/**
 * An execution that has not ended, and does not before the transaction does.
 *
 * @throws ServiceError `EXECUTION_NOT_FOUND`, `EXECUTION_ENDED`.
 */
export async function lockGoing(transaction: Transaction, id: Id<'execution'>): Promise<Execution> {
  const execution = await lockExecution(transaction, id)
  if (execution === undefined) throw new ServiceError('EXECUTION_NOT_FOUND', { executionId: id })
  const { status } = execution
  if (isExecutionEnded(status))
    throw new ServiceError('EXECUTION_ENDED', { executionId: id, status })
  return execution
}

/**
 * The stored reply, and when it was erased with its run. A process that died right after the end of a run left none: it is
 * made now, from the record.
 */
async function replyOf(
  app: AppContext,
  db: TenantDb,
  { id, status }: Execution,
): Promise<{ readonly reply: StoredReply | undefined; readonly erasedAt: Date | null }> {
  const stored = await findReply(db.kysely, id)
  // A reply is never empty, so that no other run is asked about.
  const isWhole = stored !== undefined && stored.text !== ''
  if (isWhole || !isExecutionEnded(status)) return { reply: stored, erasedAt: null }
  const erasedAt = await findErasedAt(db.kysely, id)
  if (erasedAt !== undefined) return { reply: undefined, erasedAt }
  try {
    await replyToExecution(app, db, id)
  } catch (error) {
    // Nobody can tell any more what may be said of such a run; what is left of it is shown.
    if (!isServiceError(error, 'SENSITIVE_VALUE_LOST')) throw error
  }
  return { reply: await findReply(db.kysely, id), erasedAt: null }
}
