import { z } from 'zod'
import { readStats } from '../db/queries/stats.ts'
import { defineOperation } from './define.ts'

const counts = z.record(z.string(), z.int())

export const getStats = defineOperation({
  name: 'getStats',
  summary: 'Count procedures, versions, executions and escalations',
  input: z.strictObject({}),
  output: z.object({
    procedures: z.int(),
    versions: counts,
    executions: counts.describe('By outcome, or by status where there is none'),
    escalations: counts,
    coverageGaps: z.int().describe('Tickets that no playbook fitted'),
  }),
  errors: [],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ db }) {
    const { versions, escalations, executions, ...rest } = await readStats(db.kysely)
    return {
      ...rest,
      versions: { ...versions },
      escalations: { ...escalations },
      executions: { ...executions },
    }
  },
})
