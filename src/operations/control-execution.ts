import { z } from 'zod'
import { type Mark, markExecution } from '../db/queries/work.ts'
import { carryOnById } from './carry-out.ts'
import { defineAdministration } from './define.ts'
import { runOutput } from './execution-output.ts'
import { lockGoing, readRun } from './read-run.ts'
import { executionId } from './shapes.ts'

/** A mark that a person puts on an execution; the answer is how it stands then. */
export function defineControl(
  name: string,
  mark: Mark,
  {
    summary,
    action,
    goesOn,
  }: {
    readonly summary: string
    /** For the audit log. */
    readonly action: string
    /** Whether this process takes the execution up then, unless another one has it. */
    readonly goesOn: boolean
  },
) {
  return defineAdministration({
    name,
    summary,
    input: z.strictObject({ executionId }),
    output: runOutput,
    errors: ['EXECUTION_NOT_FOUND', 'EXECUTION_ENDED'],
    roles: ['agent', 'admin'],
    async change(context, transaction, { executionId: id }) {
      const { app, db } = context
      const { status } = await lockGoing(transaction, id)
      await markExecution(transaction, mark, id, new Date(app.clock.now()))
      return {
        audit: [{ action, entityKind: 'execution', entityId: id, details: { status } }],
        output: async () => {
          if (goesOn) await carryOnById(app, db, id)
          return readRun(context, id)
        },
      }
    },
  })
}
