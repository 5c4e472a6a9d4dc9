import { z } from 'zod'
import { listSchedules as listRows } from '../db/queries/activation-schedules.ts'
import { defineOperation } from './define.ts'
import { scheduleOutput, scheduleStatus, toScheduleOutput } from './schedule-output.ts'
import { nextCursor, pageById, procedureKey } from './shapes.ts'

/** A page of scheduled activations and what came of them, newest first. */
export const listSchedules = defineOperation({
  name: 'listSchedules',
  summary: 'List scheduled activations and what came of them, newest first',
  input: z.strictObject({
    ...pageById('schedule'),
    procedureKey: procedureKey.optional(),
    status: scheduleStatus.optional(),
  }),
  output: z.object({ items: z.array(scheduleOutput), nextCursor }),
  errors: [],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ db }, { limit, cursor, ...filters }) {
    const rows = await listRows(db.kysely, { ...filters, limit: limit + 1, before: cursor })
    const items = rows.slice(0, limit)
    return {
      items: items.map(toScheduleOutput),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
