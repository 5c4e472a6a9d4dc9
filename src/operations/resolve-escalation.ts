import { z } from 'zod'
import {
  findEscalation,
  lockEscalation,
  updateEscalationResolved,
} from '../db/queries/escalations.ts'
import { ServiceError } from '../domain/errors.ts'
import { defineAdministration } from './define.ts'
import { escalationOutput, toEscalationOutput } from './escalation-output.ts'
import { escalationId } from './shapes.ts'

/** Closes an escalation with what the person did. The execution that it came from stays as it ended. */
export const resolveEscalation = defineAdministration({
  name: 'resolveEscalation',
  summary: 'Close an escalation with what was done',
  input: z.strictObject({
    escalationId,
    resolution: z.string().trim().min(1, 'must say what was done').max(10_000),
  }),
  output: escalationOutput,
  errors: ['ESCALATION_NOT_FOUND', 'ESCALATION_RESOLVED'],
  roles: ['agent', 'admin'],
  async change({ app, caller }, transaction, { escalationId: id, resolution }) {
    const before = await lockEscalation(transaction, id)
    if (before === undefined) throw new ServiceError('ESCALATION_NOT_FOUND', { escalationId: id })
    if (before.status === 'resolved')
      throw new ServiceError('ESCALATION_RESOLVED', { escalationId: id })
    await updateEscalationResolved(
      transaction,
      id,
      resolution,
      caller.principal,
      new Date(app.clock.now()),
    )
    const after = (await findEscalation(transaction, id)) ?? before
    return {
      output: toEscalationOutput(after, app.clock.now()),
      audit: [{ action: 'escalation.resolved', entityKind: 'escalation', entityId: id }],
    }
  },
})
