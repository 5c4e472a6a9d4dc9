import { z } from 'zod'
import { markExecution } from '../db/queries/work.ts'
import { carryOnById } from './carry-out.ts'
import { defineAdministration } from './define.ts'
import { runOutput } from './execution-output.ts'
import { lockGoing, readRun } from './read-run.ts'
import { executionId } from './shapes.ts'

/**
 * Lets a paused execution go on: in this process, to its end or its next wait.
 */
export const resumeExecution = defineAdministration({
  name: 'resumeExecution',
  summary: 'Let a paused execution go on',
  input: z.strictObject({ executionId }),
  output: runOutput,
  errors: ['EXECUTION_NOT_FOUND', 'EXECUTION_ENDED'],
  roles: ['agent', 'admin'],
  async change(context, transaction, { executionId: id }) {
    const { app, db } = context
    const before = await lockGoing(transaction, id)
    await markExecution(transaction, 'resume', id, new Date(app.clock.now()))
    return {
      audit: [
        {
          action: 'execution.resumed',
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
