import { z } from 'zod'
import { findRetentionDays } from '../db/queries/tenants.ts'
import { defineOperation } from './define.ts'
import { retentionDays } from './set-retention.ts'

/** How long the values of runs are kept; for ever until somebody says otherwise. */
export const getRetention = defineOperation({
  name: 'getRetention',
  summary: 'Show after how long the values of runs that have ended are erased',
  input: z.strictObject({}),
  output: z.object({ days: retentionDays }),
  errors: [],
  roles: ['admin'],
  async run({ db }) {
    return { days: await findRetentionDays(db.kysely, db.tenantId) }
  },
})
