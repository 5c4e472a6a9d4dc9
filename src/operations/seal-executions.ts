import { z } from 'zod'
import { defineOperation } from './define.ts'
import { sealRuns } from './seal-runs.ts'

/**
 * Seals every run that has ended and is not sealed, whoever was to do so, and waits for that. Each seal is an event of the
 * audit log. Repeating it seals nothing twice.
 */
export const sealExecutions = defineOperation({
  name: 'sealExecutions',
  administrative: true,
  summary: 'Seal all runs that have ended, at once',
  input: z.strictObject({}),
  output: z.object({
    seals: z.int().describe('How many seals were made'),
    records: z.int().describe('How many records are in them'),
    isBusy: z.boolean().describe('Another process was sealing just now, so some may be left to it'),
  }),
  errors: [],
  roles: ['admin', 'auditor'],
  async run({ app, caller, db }) {
    let seals = 0
    let records = 0
    for (;;) {
      const { principal, origin } = caller
      const count = await sealRuns(app, db.tenantId, { principal, origin, everything: true })
      if (count === undefined || count === 0) return { seals, records, isBusy: count === undefined }
      seals += 1
      records += count
      caller.onProgress?.(`${records} runs`)
    }
  },
})
