import { z } from 'zod'
import { defineOperation } from './define.ts'
import { runOutput } from './execution-output.ts'
import { readRun } from './read-run.ts'
import { executionId } from './shapes.ts'

export const getExecution = defineOperation({
  name: 'getExecution',
  summary: 'Show one execution with its steps and its reply',
  input: z.strictObject({ executionId }),
  output: runOutput,
  errors: ['EXECUTION_NOT_FOUND'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  run: (context, input) => readRun(context, input.executionId),
})
