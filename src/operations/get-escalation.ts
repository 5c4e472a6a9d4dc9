import { z } from 'zod'
import { findEscalation } from '../db/queries/escalations.ts'
import { ServiceError } from '../domain/errors.ts'
import { defineOperation } from './define.ts'
import { escalationOutput, toEscalationOutput } from './escalation-output.ts'
import { runDetailOutput } from './execution-output.ts'
import { noteRead } from './note-read.ts'
import { readRunDetail } from './read-run.ts'
import { escalationId } from './shapes.ts'

/** One escalation with its brief: what was asked, what was done and seen, and what is open. */
export const getEscalation = defineOperation({
  name: 'getEscalation',
  summary: 'Show one escalation, with the run that it came from',
  input: z.strictObject({ escalationId }),
  output: z.object({ escalation: escalationOutput, run: runDetailOutput.nullable() }),
  errors: ['ESCALATION_NOT_FOUND'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run(context, input) {
    const escalation = await findEscalation(context.db.kysely, input.escalationId)
    if (escalation === undefined) {
      throw new ServiceError('ESCALATION_NOT_FOUND', { escalationId: input.escalationId })
    }
    const { id, executionId } = escalation
    const run = executionId === null ? null : await readRunDetail(context, executionId)
    await noteRead(context, { action: 'escalation.read', entityKind: 'escalation', id })
    return { escalation: toEscalationOutput(escalation, context.app.clock.now()), run }
  },
})
