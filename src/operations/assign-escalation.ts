import { z } from 'zod'
import {
  findEscalation,
  lockEscalation,
  updateEscalationAssignee,
} from '../db/queries/escalations.ts'
import { ServiceError } from '../domain/errors.ts'
import { defineAdministration } from './define.ts'
import { escalationOutput, toEscalationOutput } from './escalation-output.ts'
import { escalationId } from './shapes.ts'

/** Gives an escalation to a person; one that is assigned may be given on. */
export const assignEscalation = defineAdministration({
  name: 'assignEscalation',
  summary: 'Give an escalation to a person',
  input: z.strictObject({
    escalationId,
    assignee: z.string().trim().min(1, 'must name a person').max(200),
  }),
  output: escalationOutput,
  errors: ['ESCALATION_NOT_FOUND', 'ESCALATION_RESOLVED'],
  roles: ['agent', 'admin'],
  async change({ app }, transaction, { escalationId: id, assignee }) {
    const before = await lockEscalation(transaction, id)
    if (before === undefined) throw new ServiceError('ESCALATION_NOT_FOUND', { escalationId: id })
    if (before.status === 'resolved')
      throw new ServiceError('ESCALATION_RESOLVED', { escalationId: id })
    await updateEscalationAssignee(transaction, id, assignee, new Date(app.clock.now()))
    const after = (await findEscalation(transaction, id)) ?? before
    return {
      output: toEscalationOutput(after, app.clock.now()),
      audit: [
        {
          action: 'escalation.assigned',
          entityKind: 'escalation',
          entityId: id,
          details: { assignee, before: before.assignee },
        },
      ],
    }
  },
})
