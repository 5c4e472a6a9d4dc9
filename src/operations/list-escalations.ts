import { z } from 'zod'
import { listEscalations as listRows } from '../db/queries/escalations.ts'
import { defineOperation } from './define.ts'
import { overdueFilter } from './due-output.ts'
import { escalationOutput, toEscalationOutput } from './escalation-output.ts'
import { noteRead } from './note-read.ts'
import { executionId, nextCursor, pageById } from './shapes.ts'

/** A page of escalations and triage items, newest first. */
export const listEscalations = defineOperation({
  name: 'listEscalations',
  summary: 'List what waits for a person, newest first',
  input: z.strictObject({
    ...pageById('escalation'),
    status: escalationOutput.shape.status.optional(),
    queue: z.string().max(200).optional(),
    executionId: executionId.optional().describe('Only the one that this run has led to'),
    overdue: overdueFilter,
  }),
  output: z.object({ items: z.array(escalationOutput), nextCursor }),
  errors: [],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run(context, { limit, cursor, overdue, ...filters }) {
    const { app, db } = context
    const now = app.clock.now()
    const rows = await listRows(db.kysely, {
      ...filters,
      limit: limit + 1,
      before: cursor,
      ...(overdue && { overdueAt: new Date(now) }),
    })
    const items = rows.slice(0, limit)
    await noteRead(context, { action: 'escalations.listed', entityKind: 'tenant' })
    return {
      items: items.map((item) => toEscalationOutput(item, now)),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
