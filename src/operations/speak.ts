import type { AppContext } from '../context.ts'
import { type Execution, findExecution, listSteps, toRecord } from '../db/queries/executions.ts'
import { updateWaitingStep } from '../db/queries/waiting-steps.ts'
import { ServiceError } from '../domain/errors.ts'
import { isStepEnded, nameOf, type Speaker, type StepRow } from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'
import { isJsonObject } from '../domain/json.ts'
import type { Principal } from '../domain/principal.ts'
import type { ExecutionState } from '../executor/apply.ts'
import type { Plan, PlanNode } from '../executor/plan.ts'
import { replay } from '../executor/replay.ts'
import { carryOnAfter } from './carry-out.ts'
import type { OperationContext } from './define.ts'
import type { RunOutput } from './execution-output.ts'
import { planOfExecution } from './execution-plan.ts'
import { lockGoing, readRun } from './read-run.ts'

/** Which wait is spoken to. */
export interface WaitRef {
  readonly executionId: Id<'execution'>
  readonly step: string
  /** Empty outside loops. */
  readonly iteration: string
}

/** A wait as somebody who speaks to it finds it. */
export interface Heard {
  readonly row: StepRow
  readonly node: PlanNode
  readonly state: ExecutionState
  readonly rows: readonly StepRow[]
  readonly execution: Execution
  /** Epoch milliseconds; not before anything that the run has recorded. */
  readonly at: number
}

/** What somebody's word makes of a wait: its row, and whether the run has to look again. */
export interface Word {
  readonly row: StepRow
  readonly goesOn: boolean
}

/** What anybody who speaks to a step may be answered. */
export const wordErrors = [
  'EXECUTION_NOT_FOUND',
  'EXECUTION_ENDED',
  'EXECUTION_BUSY',
  'WAIT_NOT_FOUND',
  'WAIT_CLOSED',
  'WAIT_DIFFERS',
  'NOT_ASKED',
] as const

/** How long a word waits for a worker that has the run at this moment. */
const busyTries = 50
const busyPauseMs = 100

/**
 * Writes somebody's word into the row that waits for it, while nobody has the run, and lets the run go on here. Either
 * the word comes first or a worker has claimed the run, for its deadline or another word: never both.
 *
 * @throws ServiceError `EXECUTION_NOT_FOUND`, `EXECUTION_ENDED`, `WAIT_NOT_FOUND`, `WAIT_CLOSED`, `EXECUTION_BUSY`; what
 *   `speak` throws, and nothing is written then.
 */
export async function speakTo(
  context: OperationContext,
  ref: WaitRef,
  speak: (heard: Heard) => Word,
): Promise<RunOutput> {
  const { app, db } = context
  const { executionId } = ref
  // Before the transaction: on the embedded database nothing else is read while one is open.
  const plan = await planOf(context, executionId)
  for (let tries = 1; ; tries += 1) {
    const word = await db.kysely.transaction().execute(async (transaction) => {
      const execution = await lockGoing(transaction, executionId)
      if (execution.workerId !== null) return undefined
      const rows = await listSteps(transaction, executionId)
      const found = speak(hear(app, plan, execution, rows, ref))
      await updateWaitingStep(transaction, executionId, found.row, found.goesOn)
      return found
    })
    if (word !== undefined) {
      if (word.goesOn) await carryOnAfter(app, db, executionId, { evenPaused: false })
      return readRun(context, executionId)
    }
    if (tries >= busyTries) throw new ServiceError('EXECUTION_BUSY', { executionId })
    await new Promise((resolve) => setTimeout(resolve, busyPauseMs))
  }
}

async function planOf({ app, db }: OperationContext, executionId: Id<'execution'>): Promise<Plan> {
  const execution = await findExecution(db.kysely, executionId)
  if (execution === undefined) throw new ServiceError('EXECUTION_NOT_FOUND', { executionId })
  return planOfExecution(app, db, execution)
}

function hear(
  app: AppContext,
  plan: Plan,
  execution: Execution,
  rows: readonly StepRow[],
  { executionId, step, iteration }: WaitRef,
): Heard {
  const row = rows.findLast((one) => one.stepKey === step && one.iteration === iteration)
  if (row === undefined || row.status === 'running') {
    const waiting = rows.filter(({ status }) => status === 'waiting').map(nameOf)
    throw new ServiceError('WAIT_NOT_FOUND', {
      executionId,
      step: nameOf({ stepKey: step, iteration }),
      waiting,
    })
  }
  const { agrees, state } = replay(plan, toRecord(execution, rows))
  const node = plan.nodes.get(step)
  if (!agrees || node === undefined) {
    throw new TypeError(`the record of ${executionId} does not follow from its definition`)
  }
  const at = Math.max(app.clock.now(), state.lastEndedAt, row.startedAt)
  const closed = isStepEnded(row.status) ? row.status : isTooLate(row, at) ? 'expired' : undefined
  if (closed !== undefined) {
    throw new ServiceError('WAIT_CLOSED', { executionId, step: nameOf(row), status: closed })
  }
  return { row, node, state, rows, execution, at }
}

/** A deadline counts from when it has passed, also before a worker has looked. */
function isTooLate({ input }: StepRow, at: number): boolean {
  const deadline = isJsonObject(input) ? input.deadline : null
  return typeof deadline === 'string' && Date.parse(deadline) <= at
}

export function speakerOf({ id, kind, unauthenticated }: Principal): Speaker {
  return { id, kind, ...(unauthenticated && { unauthenticated }) }
}
