import { z } from 'zod'
import { markExecution } from '../db/queries/work.ts'

import { defineAdministration } from './define.ts'
import { runOutput } from './execution-output.ts'
import { lockGoing, readRun } from './read-run.ts'
import { executionId } from './shapes.ts'

/**
 * Holds an execution before its next step until it is resumed; no timer wakes it meanwhile.
 */
export const pauseExecution = defineAdministration({
  name: 'pauseExecution',
  summary: 'Hold an execution before its next step, until it is resumed',
  input: z.strictObject({ executionId }),
  output: runOutput,
  errors: ['EXECUTION_NOT_FOUND', 'EXECUTION_ENDED'],
  roles: ['agent', 'admin'],
  async change(context, transaction, { executionId: id }) {
    const { app } = context
    const before = await lockGoing(transaction, id)
    await markExecution(transaction, 'pause', id, new Date(app.clock.now()))
    return {
      audit: [
        {
          action: 'execution.pause_requested',
          entityKind: 'execution',
          entityId: id,
          details: { status: before.status },
        },
      ],
      output: async () => {
        return readRun(context, id)
      },
    }
  },
})
