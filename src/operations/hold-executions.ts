import { z } from 'zod'
import { holdExecutions as holdAll } from '../db/queries/work.ts'
import { defineAdministration } from './define.ts'

/**
 * Pauses every run that has not ended, of all tenants. For a database that came out of a backup: what it shows as going
 * on may have gone on in the world since, so a person compares each with what the tools have done before it is resumed
 * or cancelled.
 */
export const holdExecutions = defineAdministration({
  name: 'holdExecutions',
  summary: 'Pause every run that has not ended, after a backup was restored',
  input: z.strictObject({}),
  output: z.object({ held: z.int().describe('Runs that are paused now, of all tenants') }),
  errors: [],
  roles: ['admin'],
  concernsAllTenants: true,
  async change({ db }, transaction) {
    const held = await holdAll(transaction)
    return {
      output: { held },
      audit: [
        {
          action: 'executions.held',
          entityKind: 'execution',
          entityId: db.tenantId,
          details: { held },
        },
      ],
    }
  },
})
