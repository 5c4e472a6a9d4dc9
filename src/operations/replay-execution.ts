import { z } from 'zod'
import { findErasedAt } from '../db/queries/erasures.ts'
import { findExecution, listSteps } from '../db/queries/executions.ts'
import { ServiceError } from '../domain/errors.ts'
import { replay } from '../executor/replay.ts'
import { defineOperation } from './define.ts'
import { planOfExecution } from './execution-plan.ts'
import { noteRead } from './note-read.ts'
import { openRun, sensitivityOf } from './sensitive-run.ts'
import { executionId, instant } from './shapes.ts'

/**
 * Makes every decision of a run again from its definition and its observations, calls nothing, and says whether the
 * record is what the definition demands.
 */
export const replayExecution = defineOperation({
  name: 'replayExecution',
  summary: 'Prove that a run did what its definition demands',
  input: z.strictObject({ executionId }),
  output: z.object({
    executionId: z.string(),
    agrees: z
      .boolean()
      .describe('False of an erased run as well: nothing of it can be decided again'),
    erasedAt: instant.nullable().describe('When its values were erased; null: they are there'),
    decisions: z.int().describe('Decisions that were made again and compared'),
    divergence: z
      .object({
        ordinal: z.int().nullable().describe('The first step that does not fit; null: the end'),
        expected: z.string(),
        found: z.string(),
      })
      .nullable(),
  }),
  errors: ['EXECUTION_NOT_FOUND', 'SENSITIVE_VALUE_LOST'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run(context, input) {
    const { app, db } = context
    const execution = await findExecution(db.kysely, input.executionId)
    if (execution === undefined) {
      throw new ServiceError('EXECUTION_NOT_FOUND', { executionId: input.executionId })
    }
    const erasedAt = await findErasedAt(db.kysely, execution.id)
    if (erasedAt !== undefined) {
      const nothing = { agrees: false, decisions: 0, divergence: null }
      return { executionId: execution.id, ...nothing, erasedAt: erasedAt.toISOString() }
    }
    const plan = await planOfExecution(app, db, execution)
    const rows = await listSteps(db.kysely, execution.id)
    const sensitivity = await sensitivityOf(app, db, plan, execution.further.pins)
    const { record } = await openRun(db.kysely, sensitivity, execution, rows)
    const { agrees, decisions, divergence } = replay(plan, record)
    const { id } = execution
    if (!agrees) await noteRead(context, { action: 'execution.read', entityKind: 'execution', id })
    return { executionId: id, agrees, erasedAt: null, decisions, divergence }
  },
})
