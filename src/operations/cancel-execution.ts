import { z } from 'zod'
import { markExecution } from '../db/queries/work.ts'
import { carryOnById } from './carry-out.ts'
import { defineAdministration } from './define.ts'
import { runOutput } from './execution-output.ts'
import { lockGoing, readRun } from './read-run.ts'
import { executionId } from './shapes.ts'

/**
 * Ends an execution as cancelled, before its next step: at once when nobody works on it. A write that is under way is let finish
 * and recorded first.
 */
export const cancelExecution = defineAdministration({
  name: 'cancelExecution',
  summary: 'Stop an execution before its next step',
  input: z.strictObject({ executionId }),
  output: runOutput,
  errors: ['EXECUTION_NOT_FOUND', 'EXECUTION_ENDED'],
  roles: ['agent', 'admin'],
  async change(context, transaction, { executionId: id }) {
    const { app, db } = context
    const before = await lockGoing(transaction, id)
    await markExecution(transaction, 'cancel', id, new Date(app.clock.now()))
    return {
      audit: [
        {
          action: 'execution.cancel_requested',
          entityKind: 'execution',
          entityId: id,
          details: { status: before.status },
        },
      ],
      output: async () => {
        await carryOnById(app, db, id)
        return readRun(context, id)
      },
    }
  },
})
