import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import { findExecution, listSteps, toRecord } from '../db/queries/executions.ts'
import { insertReply } from '../db/queries/replies.ts'
import { isExecutionEnded } from '../domain/execution.ts'
import { fillInput } from '../domain/fill-input.ts'
import type { Id } from '../domain/ids.ts'
import { scopeOf } from '../executor/evaluate.ts'
import { replay } from '../executor/replay.ts'
import { composeReply } from '../reply/built-in.ts'
import { planOfExecution } from './execution-plan.ts'

/**
 * Composes the answer to the customer of an execution that has ended, from its record, and stores it. An execution
 * that has an answer keeps it.
 */
export async function replyToExecution(
  app: AppContext,
  db: TenantDb,
  id: Id<'execution'>,
): Promise<void> {
  const execution = await findExecution(db.kysely, id)
  if (execution === undefined || !isExecutionEnded(execution.status)) return
  const plan = await planOfExecution(app, db, execution)
  const record = toRecord(execution, await listSteps(db.kysely, id))
  const { state } = replay(plan, record)
  const { definition } = plan
  const reply = composeReply({
    procedure: {
      key: execution.procedureKey,
      name: definition.name,
      versionNumber: execution.versionNumber,
    },
    status: execution.status,
    outcome: execution.outcome,
    reason: execution.reason,
    replies: definition.replies,
    scope: scopeOf(plan, state, state.lastEndedAt),
    missing: fillInput({
      schema: definition.input,
      input: execution.input,
      text: execution.ticket?.text,
    }).missing,
  })
  await insertReply(db.kysely, {
    ...reply,
    tenantId: db.tenantId,
    executionId: id,
    at: new Date(app.clock.now()),
  })
}
