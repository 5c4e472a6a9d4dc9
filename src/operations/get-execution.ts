import { z } from 'zod'
import { defineOperation } from './define.ts'
import { runDetailOutput } from './execution-output.ts'
import { noteRead } from './note-read.ts'
import { readRunDetail } from './read-run.ts'
import { executionId } from './shapes.ts'

export const getExecution = defineOperation({
  name: 'getExecution',
  summary: 'Show one execution with its steps, its reply and what people did to it',
  input: z.strictObject({ executionId }),
  output: runDetailOutput,
  errors: ['EXECUTION_NOT_FOUND'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run(context, input) {
    const { executionId: id } = input
    const run = await readRunDetail(context, id)
    await noteRead(context, { action: 'execution.read', entityKind: 'execution', id })
    return run
  },
})
