import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import { isOutage } from '../db/database-errors.ts'
import { findExecution, listCalled, listSteps } from '../db/queries/executions.ts'
import { firstClaim, insertExecution, type NewExecution } from '../db/queries/insert-execution.ts'
import {
  claimExecution,
  claimExecutions,
  handBackExecution,
  releaseExecutions,
} from '../db/queries/work.ts'
import { isServiceError } from '../domain/errors.ts'
import type { Durability, StepRow } from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'
import { type ExecutionState, initialState } from '../executor/apply.ts'
import type { Plan } from '../executor/plan.ts'
import type { Claim, Flags, RunnerPorts } from '../executor/ports.ts'
import { replay } from '../executor/replay.ts'
import { runExecution } from '../executor/runner.ts'
import type { InputRecord } from '../reply/reply.ts'
import { inSpan } from '../telemetry/span.ts'
import { watchRun } from '../telemetry/watch-run.ts'
import { createChildren } from './called-runs.ts'
import { doChores } from './chores.ts'
import type { Caller } from './define.ts'
import { endFor, noteEnd } from './end-for.ts'
import { planOfExecution } from './execution-plan.ts'
import { keepLateOutcome } from './keep-late-outcome.ts'
import { replyToExecution } from './reply-to-execution.ts'
import { openRun, sensitivityOf } from './sensitive-run.ts'
import { findUnknownWrite } from './unknown-writes.ts'
import { sealingJournal, Vault } from './vault.ts'

/** A run that its worker lost this often is handed to a person: something in it may be what kills workers. */
const maxTakeOvers = 5

/** What a run that was just started has besides its record. */
export interface RunExtras {
  readonly onStarted?: Caller['onStarted']
  readonly onSteps?: Caller['onSteps']
  /** What a model was asked to read in the ticket; kept with the reply. */
  readonly inputRecord?: InputRecord | undefined
  readonly isStopping?: () => boolean
}

/**
 * Stores a new execution and runs it to its end, reply included, or until it has to wait. Answers false when the
 * idempotency key of the execution is taken; nothing was started then.
 */
export async function startAndRun(
  app: AppContext,
  db: TenantDb,
  plan: Plan,
  execution: NewExecution,
  extras: RunExtras = {},
): Promise<boolean> {
  const { start, durability } = execution
  const sensitivity =
    plan.calls.length === 0 ? plan.sensitivity : await sensitivityOf(app, db, plan, start.pins)
  const vault = sensitivity && new Vault(sensitivity, [])
  const sealed = vault?.sealStart(execution)
  const insert = async (): Promise<boolean> => {
    app.onBoundary?.('before_commit', 'start')
    const isNew = await insertExecution(db, sealed?.value ?? execution, sealed?.apart)
    app.onBoundary?.('after_commit', 'start')
    if (isNew) {
      app.meter?.executionStarted()
      extras.onStarted?.(start.executionId)
    }
    return isNew
  }
  if (execution.workerId === null) return insert()
  const claim = firstClaim(start)
  // Before the database can know of it.
  app.worker.hold(claim)
  try {
    if (!(await insert())) return false
    const state = initialState(plan, start)
    const run = { plan, state, claim, durability, vault }
    await handingBack(app, claim, () => carryOut(app, db, run, extras))
  } finally {
    app.worker.letGo(claim)
  }
  return true
}

/**
 * Does the chores that are due, and carries on the executions that nobody has, of all tenants, each to its end or its next wait: what workers that are
 * gone have left, what was handed back or only stored, and what a timer has woken. Answers their ids. Safe to call at any
 * time and from many processes: each execution is claimed by one of them. What goes wrong with one is that one's, and is
 * logged.
 */
export async function carryOnAll(app: AppContext): Promise<readonly Id<'execution'>[]> {
  const done: Id<'execution'>[] = []
  const kept = new Map<string, Claim>()
  await doChores(app)
  await takeFromTheGone(app)
  for (;;) {
    // One at a time: should it end this process, it alone was with it.
    const [claim] = await claimNext(app)
    if (claim === undefined) break
    const { executionId } = claim
    // One that has failed, or that waits again for a clock that is behind, is kept until the others were tried: it would
    // be claimed again and again.
    if (kept.has(executionId) || done.includes(executionId)) kept.set(executionId, claim)
    else if ((await carryOnOne(app, claim)) === 'done') done.push(executionId)
    else kept.set(executionId, claim)
  }
  for (const claim of kept.values()) {
    await leave(app, claim, 0)
    app.worker.letGo(claim)
  }
  return done
}

async function claimNext(app: AppContext): Promise<readonly Claim[]> {
  const claims = await claimWork(app, 1)
  return claims.length > 0 ? claims : claimWork(app, 1, { suspects: true })
}

/**
 * Makes the executions of workers that are gone, and those that this process itself has forgotten, anybody's; answers
 * whether some wait that may be what ended their workers.
 */
export async function takeFromTheGone(app: AppContext): Promise<boolean> {
  await app.worker.giveBackForgotten()
  if (!app.worker.canTellWhoIsGone()) return false
  const { released, suspects } = await releaseExecutions(app.database, app.worker.id)
  if (released > 0) app.meter?.leasesTakenOver(released)
  return suspects
}

/** Claims up to `max` executions that nobody has, for `carryOnOne`. */
export async function claimWork(
  app: AppContext,
  max: number,
  which?: { readonly suspects: boolean },
): Promise<readonly Claim[]> {
  const claims = await claimExecutions(app.database, app.worker.id, max, which)
  for (const claim of claims) app.worker.hold(claim)
  return claims
}

/** What came of carrying an execution on: all went well, it failed, or the database could not be asked. */
type CarriedOn = 'done' | 'failed' | 'away'

/**
 * Carries a claimed execution on, and answers what came of that. It never throws. Once `isStopping`, the run gives
 * itself back before its next step.
 */
export async function carryOnOne(
  service: AppContext,
  claim: Claim,
  isStopping?: () => boolean,
): Promise<CarriedOn> {
  const app = { ...service, log: service.log.child({ tenantId: claim.tenantId }) }
  try {
    await handingBack(app, claim, () => carryOn(app, claim, isStopping))
    return 'done'
  } catch (error) {
    const { executionId } = claim
    // Another process was faster with this one.
    if (!isServiceError(error, 'LEASE_LOST')) {
      app.log.error({ err: error, executionId }, 'an execution could not be carried on')
    }
    return isOutage(error) ? 'away' : 'failed'
  } finally {
    app.worker.letGo(claim)
  }
}

/**
 * Carries one execution on that nobody has, whatever it waits for. Answers false when somebody has it, or it has ended.
 * `evenPaused`: one that is paused is looked at too, for what else is wanted of it; default true.
 */
export async function carryOnById(
  app: AppContext,
  db: TenantDb,
  id: Id<'execution'>,
  {
    isStopping,
    evenPaused = true,
  }: { isStopping?: (() => boolean) | undefined; evenPaused?: boolean } = {},
): Promise<boolean> {
  const claim = await claimExecution(db, id, app.worker.id, evenPaused)
  if (claim === undefined) return false
  app.worker.hold(claim)
  try {
    await handingBack(app, claim, () => carryOn(app, claim, isStopping))
  } finally {
    app.worker.letGo(claim)
  }
  return true
}

/**
 * The same after something was done to an execution that is committed. It never throws: what goes wrong then says nothing
 * of what was done, and the execution goes on with whoever takes it.
 */
export async function carryOnAfter(
  app: AppContext,
  db: TenantDb,
  id: Id<'execution'>,
  options?: Parameters<typeof carryOnById>[3],
): Promise<void> {
  try {
    await carryOnById(app, db, id, options)
  } catch (error) {
    // Another process was faster.
    if (isServiceError(error, 'LEASE_LOST')) return
    app.log.error({ err: error, executionId: id }, 'an execution is left to whoever takes it')
  }
}

/** What becomes of an execution that was claimed. */
async function carryOn(app: AppContext, claim: Claim, isStopping?: () => boolean): Promise<void> {
  const { executionId } = claim
  const db = app.database.forTenant(claim.tenantId)
  const execution = await findExecution(db.kysely, executionId)
  if (execution === undefined) throw new TypeError(`execution ${executionId} was claimed just now`)
  // Beyond the limit nothing more of it is touched: whatever it is, it may be what ended five workers.
  if (execution.takeOverCount > maxTakeOvers) return endFor(app, claim, 'recovery_exhausted')
  const plan = await planOfExecution(app, db, execution)
  const rows = await listSteps(db.kysely, executionId)
  const sensitivity = await sensitivityOf(app, db, plan, execution.further.pins)
  const { record, vault } = await openRun(db.kysely, sensitivity, execution, rows)
  const { agrees, divergence, state } = replay(plan, record)
  if (agrees) {
    const run = { plan, state, claim, durability: execution.durability, vault, flags: execution }
    return carryOut(app, db, run, isStopping && { isStopping })
  }
  app.log.error({ executionId, divergence }, 'the record does not follow from the definition')
  return endFor(app, claim, 'internal_error')
}

/**
 * Works on a claimed execution, and gives it back when that fails, so that it is taken up again: what could not be done
 * now (the database is away) can be done later.
 */
async function handingBack(
  app: AppContext,
  claim: Claim,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    // One that another process has is not ours to give.
    if (!isServiceError(error, 'LEASE_LOST')) await leave(app, claim, isOutage(error) ? 0 : 1)
    throw error
  }
}

/** Gives a claim up. When that cannot be done, the worker finds it later among those that it has forgotten. */
async function leave(app: AppContext, claim: Claim, failures: 0 | 1): Promise<void> {
  try {
    await handBackExecution(app.database.forTenant(claim.tenantId), claim, failures)
  } catch (error) {
    const { executionId } = claim
    app.log.warn({ err: error, executionId }, 'an execution is not given back yet')
  }
}

/** An execution that is claimed and loaded. */
interface ClaimedRun {
  readonly plan: Plan
  readonly state: ExecutionState
  readonly claim: Claim
  readonly durability: Durability
  /** Absent where nothing of it is sensitive. */
  readonly vault: Vault | undefined
  readonly flags?: Flags
}

/** Runs a claimed execution from where it stands to its end, and answers the customer. */
async function carryOut(
  app: AppContext,
  db: TenantDb,
  run: ClaimedRun,
  extras?: RunExtras,
): Promise<void> {
  const { tenantId, executionId } = run.claim
  const attributes = () => ({
    'stepwarden.tenant.id': tenantId,
    'stepwarden.execution.id': executionId,
    'stepwarden.procedure.key': run.plan.definition.key,
  })
  const ended = app.meter?.runBegan()
  try {
    await inSpan(
      app,
      'execution',
      () => ({ attributes: attributes() }),
      (spanned) => runToEnd(spanned, db, run, extras),
    )
  } finally {
    ended?.()
  }
}

async function runToEnd(
  app: AppContext,
  db: TenantDb,
  { plan, state, claim, durability, vault, flags }: ClaimedRun,
  { onSteps, inputRecord, isStopping }: RunExtras = {},
): Promise<void> {
  const { executionId } = claim
  const watched = watchRun(app)
  const shown = (row: StepRow): StepRow => vault?.shown(row) ?? row
  let stepNow: string | undefined
  app.worker.hold(claim, () => stepNow)
  const ports: RunnerPorts = {
    journal: vault === undefined ? app.journal : sealingJournal(app.journal, vault),
    tools: app.tools,
    clock: app.clock,
    children: createChildren(app, db, vault),
    lease: app.worker.lease,
    findUnknownWrite: (row) => findUnknownWrite(db, executionId, row),
    ...(isStopping && { isStopping }),
    onLateOutcome: (row) => void keepLateOutcome(app, db, executionId, shown(row)),
    onBoundary(boundary, detail) {
      if (boundary === 'before_call') stepNow = detail
      app.onBoundary?.(boundary, detail)
    },
    observer: watched,
    ...((watched ?? onSteps) && {
      onCommitted(rows: readonly StepRow[]) {
        watched?.committed(rows)
        if (onSteps !== undefined) tell(app, onSteps, rows.map(shown))
      },
    }),
  }
  try {
    const { end, state: left } = await runExecution(ports, plan, state, claim, durability, flags)
    const calls = left.waiting.some(({ kind }) => kind === 'call')
    if (end === undefined) {
      return calls ? carryOnCalled(app, db, executionId, isStopping) : undefined
    }
    noteEnd(app, end)
    if (calls) await stopCalled(app, db, executionId)
  } catch (error) {
    // What is wrong with our own code would go wrong again: that run goes to a person.
    if (!(error instanceof TypeError || isServiceError(error, 'VALUE_INVALID'))) throw error
    app.log.error({ err: error, executionId }, 'the run failed inside the service')
    return endFor(app, claim, 'internal_error')
  } finally {
    watched?.left()
  }
  await replyToExecution(app, db, executionId, inputRecord)
  // Nobody else may be there to take up the run that has called this one.
  const parentId = state.start.calledFrom?.parentId
  if (parentId !== undefined && isStopping?.() !== true) {
    await carryOnById(app, db, parentId, { evenPaused: false })
  }
}

/** Begins the runs that were called just now, one after the other. Each of them takes its caller up when it ends. */
async function carryOnCalled(
  app: AppContext,
  db: TenantDb,
  parentId: Id<'execution'>,
  isStopping?: () => boolean,
): Promise<void> {
  for (const { id, status } of await listCalled(db.kysely, parentId)) {
    if (status === 'pending' && isStopping?.() !== true)
      await carryOnById(app, db, id, { isStopping })
  }
}

/** A run has ended, and with it those that it called are cancelled: nobody asks for what they come to any more. */
async function stopCalled(app: AppContext, db: TenantDb, parentId: Id<'execution'>): Promise<void> {
  for (const { id, endedAt } of await listCalled(db.kysely, parentId)) {
    if (endedAt === null) await carryOnById(app, db, id)
  }
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
