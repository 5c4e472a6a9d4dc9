import { z } from 'zod'
import { lockRetentionDays, updateRetentionDays } from '../db/queries/tenants.ts'
import { defineAdministration } from './define.ts'

export const retentionDays = z
  .int()
  .min(1)
  .max(36_500)
  .nullable()
  .describe('Days after the end of a run; null: for ever')

/** Sets how long the values of runs are kept. What is older is erased within hours, and does not come back. */
export const setRetention = defineAdministration({
  name: 'setRetention',
  summary: 'Set after how long the values of runs that have ended are erased',
  input: z.strictObject({ days: retentionDays }),
  output: z.object({ days: retentionDays }),
  errors: [],
  roles: ['admin'],
  async change({ db }, transaction, { days }) {
    const before = await lockRetentionDays(transaction, db.tenantId)
    await updateRetentionDays(transaction, db.tenantId, days)
    return {
      output: { days },
      audit: [
        {
          action: 'retention.set',
          entityKind: 'tenant',
          entityId: db.tenantId,
          details: { days, before },
        },
      ],
    }
  },
})
