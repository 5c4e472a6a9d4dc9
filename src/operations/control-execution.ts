import { z } from 'zod'
import type { Transaction } from '../db/connect.ts'
import type { Execution } from '../db/queries/executions.ts'
import { type Mark, markExecution } from '../db/queries/work.ts'
import type { ErrorCode, ServiceError } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'
import { carryOnAfter } from './carry-out.ts'
import { defineAdministration, type OperationContext } from './define.ts'
import { runOutput } from './execution-output.ts'
import { lockGoing, readRun } from './read-run.ts'
import { executionId } from './shapes.ts'

/** What most marks take: the execution alone. */
export const controlInput = z.strictObject({ executionId })

/** A mark that a person puts on an execution; the answer is how it stands then. */
export function defineControl<I extends { readonly executionId: Id<'execution'> }>(
  name: string,
  mark: Mark,
  {
    summary,
    action,
    input,
    refuses,
    goesOn,
  }: {
    readonly summary: string
    /** For the audit log. */
    readonly action: string
    readonly input: z.ZodType<I>
    /** What it cannot be put on, and the errors that say so. */
    readonly refuses?: {
      readonly codes: readonly ErrorCode[]
      readonly when: (
        transaction: Transaction,
        execution: Execution,
        context: OperationContext,
      ) => Promise<ServiceError | undefined>
    }
    /** Whether this process takes the execution up then, unless another one has it. */
    readonly goesOn: (input: I) => boolean
  },
) {
  return defineAdministration({
    name,
    summary,
    input,
    output: runOutput,
    errors: ['EXECUTION_NOT_FOUND', 'EXECUTION_ENDED', ...(refuses?.codes ?? [])],
    roles: ['agent', 'admin'],
    async change(context, transaction, request) {
      const { app, db } = context
      const { executionId: id } = request
      const execution = await lockGoing(transaction, id)
      const refusal = await refuses?.when(transaction, execution, context)
      if (refusal !== undefined) throw refusal
      const { status } = execution
      await markExecution(transaction, mark, id, new Date(app.clock.now()))
      return {
        audit: [{ action, entityKind: 'execution', entityId: id, details: { status } }],
        output: async () => {
          if (goesOn(request)) await carryOnAfter(app, db, id)
          return readRun(context, id)
        },
      }
    },
  })
}
