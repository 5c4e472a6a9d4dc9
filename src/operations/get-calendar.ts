import { z } from 'zod'
import { findCalendar } from '../db/queries/tenants.ts'
import { defaultCalendar } from '../domain/expression.ts'
import { calendarShape } from './calendar-shape.ts'
import { defineOperation } from './define.ts'

/** The working days that durations are counted in; Monday to Friday until somebody says otherwise. */
export const getCalendar = defineOperation({
  name: 'getCalendar',
  summary: 'Show the working days that durations are counted in',
  input: z.strictObject({}),
  output: z.object({
    calendar: calendarShape,
    isDefault: z.boolean().describe('Nobody has set it: Monday to Friday, without holidays'),
  }),
  errors: [],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ db }) {
    const calendar = await findCalendar(db.kysely, db.tenantId)
    return { calendar: calendar ?? defaultCalendar, isDefault: calendar === undefined }
  },
})
