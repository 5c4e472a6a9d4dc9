import type { AppContext } from '../context.ts'
import { findLastStep } from '../db/queries/executions.ts'
import { reasonOf } from '../domain/escalation.ts'
import { type ExecutionEnd, isStepEnded, nameOf } from '../domain/execution.ts'
import { endFromOutside } from '../executor/decide.ts'
import type { Claim } from '../executor/ports.ts'
import { cancelCalled } from './called-runs.ts'
import { replyToExecution } from './reply-to-execution.ts'

/** Ends a run for a reason that lies outside its definition; a person takes it from there. */
export async function endFor(
  app: AppContext,
  claim: Claim,
  code: 'internal_error' | 'recovery_exhausted',
): Promise<void> {
  const { executionId } = claim
  const db = app.database.forTenant(claim.tenantId)
  const reason = reasonOf(code, whereItStood(await findLastStep(db.kysely, executionId)))
  const end = endFromOutside({ status: 'escalated', reason }, app.clock.now())
  await cancelCalled(app, db, executionId)
  await app.journal.commit(claim, { added: [], changed: [], end })
  noteEnd(app, end)
  await replyToExecution(app, db, executionId)
}

/** Where a person begins to look: the step that was going, or the last that left a record. */
function whereItStood(
  last: Awaited<ReturnType<typeof findLastStep>>,
): Parameters<typeof reasonOf>[1] {
  if (last === undefined) return { detail: 'nothing of it is recorded but its start' }
  const { stepKey, status, tool } = last
  const name = `step '${nameOf(last)}'${tool === null ? '' : ` (${tool})`}`
  return isStepEnded(status)
    ? { detail: `the last that is recorded is ${name}; what came next is not` }
    : { stepKey, detail: `it was at ${name}` }
}

/** Counts an end that is committed, and marks what is under way by it. */
export function noteEnd(
  { meter, span }: AppContext,
  { status, outcome, reason }: ExecutionEnd,
): void {
  meter?.executionEnded(status, reason?.code ?? 'none')
  span?.set({
    'stepwarden.execution.status': status,
    'stepwarden.execution.outcome': outcome ?? undefined,
    'stepwarden.execution.reason': reason?.code,
  })
}
