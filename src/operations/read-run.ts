import { findExecution, listSteps } from '../db/queries/executions.ts'
import { findReply } from '../db/queries/replies.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'
import type { OperationContext } from './define.ts'
import { type RunOutput, toRunOutput } from './execution-output.ts'
import { planOfExecution } from './execution-plan.ts'

/**
 * The whole record of an execution.
 *
 * @throws ServiceError `EXECUTION_NOT_FOUND`.
 */
export async function readRun(
  { app, db }: OperationContext,
  id: Id<'execution'>,
): Promise<RunOutput> {
  const execution = await findExecution(db.kysely, id)
  if (execution === undefined) throw new ServiceError('EXECUTION_NOT_FOUND', { executionId: id })
  const plan = await planOfExecution(app, db, execution)
  const actions = new Map([...plan.nodes.values()].map(({ key, step }) => [key, step.action]))
  const rows = await listSteps(db.kysely, id)
  return toRunOutput(execution, rows, actions, await findReply(db.kysely, id))
}
