import { z } from 'zod'
import { lockCalendar, updateCalendar } from '../db/queries/tenants.ts'
import { hashOf } from '../domain/canonical.ts'
import { calendarShape, inOrder } from './calendar-shape.ts'
import { defineAdministration } from './define.ts'

/** Sets the working days of the tenant, whole. Runs that have started keep those that they were started with. */
export const setCalendar = defineAdministration({
  name: 'setCalendar',
  summary: 'Set the working days that durations are counted in',
  input: z.strictObject({ calendar: calendarShape }),
  output: z.object({ calendar: calendarShape }),
  errors: [],
  roles: ['admin'],
  async change({ db }, transaction, { calendar }) {
    const before = await lockCalendar(transaction, db.tenantId)
    const after = inOrder(calendar)
    await updateCalendar(transaction, db.tenantId, after)
    return {
      output: { calendar: after },
      audit: [
        {
          action: 'calendar.set',
          entityKind: 'tenant',
          entityId: db.tenantId,
          ...(before !== undefined && { beforeHash: hashOf(before) }),
          afterHash: hashOf(after),
          details: { weekdays: after.weekdays, holidays: after.holidays },
        },
      ],
    }
  },
})
