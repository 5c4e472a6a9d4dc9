import { z } from 'zod'
import { listEscalations as listRows } from '../db/queries/escalations.ts'
import { defineOperation } from './define.ts'
import { escalationOutput, toEscalationOutput } from './escalation-output.ts'
import { nextCursor, page } from './shapes.ts'

/** A page of escalations and triage items, newest first. */
export const listEscalations = defineOperation({
  name: 'listEscalations',
  summary: 'List what waits for a person, newest first',
  input: z.strictObject({
    ...page,
    status: escalationOutput.shape.status.optional(),
    queue: z.string().max(200).optional(),
  }),
  output: z.object({ items: z.array(escalationOutput), nextCursor }),
  errors: [],
  roles: ['agent', 'approver', 'admin', 'auditor'],
  async run({ db }, { limit, cursor, ...filters }) {
    const rows = await listRows(db.kysely, { ...filters, limit: limit + 1, before: cursor })
    const items = rows.slice(0, limit)
    return {
      items: items.map(toEscalationOutput),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
