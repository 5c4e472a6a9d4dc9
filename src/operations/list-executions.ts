import { z } from 'zod'
import { listExecutions as listRows } from '../db/queries/executions.ts'
import { defineOperation } from './define.ts'
import { overdueFilter } from './due-output.ts'
import { executionListItem, toExecutionListItem } from './execution-output.ts'
import { noteRead } from './note-read.ts'
import { nextCursor, pageById, procedureKey } from './shapes.ts'

/** A page of executions, newest first. */
export const listExecutions = defineOperation({
  name: 'listExecutions',
  summary: 'List executions, newest first',
  input: z.strictObject({
    ...pageById('execution'),
    procedureKey: procedureKey.optional(),
    status: executionListItem.shape.status.optional(),
    ticketId: z.string().min(1).max(200).optional().describe('Only runs for this ticket'),
    customerId: z.string().min(1).max(200).optional().describe('Only runs for this customer'),
    requesterId: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Only runs that this principal has started'),
    overdue: overdueFilter,
  }),
  output: z.object({ items: z.array(executionListItem), nextCursor }),
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
    await noteRead(context, { action: 'executions.listed', entityKind: 'tenant' })
    return {
      items: items.map((item) => toExecutionListItem(item, now)),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
