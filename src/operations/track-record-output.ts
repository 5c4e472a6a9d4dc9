import { z } from 'zod'

const count = z.int()

/** A record, as it is answered. */
export const trackRecordOutput = z.object({
  executionCount: count.describe('Runs that count'),
  successCount: count,
  successRate: z.number().describe('0 to 1; 0 without a run'),
  confidence: z.number().describe('min(runs / 10, 1)'),
  score: z.number().describe('Success rate × confidence'),
  avgDurationSeconds: z.number().describe('Of the runs that count; 0 without one'),
  meanDurationMs: z.number().nullable().describe('The same in milliseconds; null without a run'),
  low: z
    .number()
    .nullable()
    .describe('Where the 95 % confidence interval of the rate begins (Wilson); null without a run'),
  high: z.number().nullable().describe('Where it ends'),
})

/** Of runs that the record proves. */
export const verifiedRecordOutput = trackRecordOutput.extend({
  declinedCount: count.describe('Ended declined: neither success nor failure, and not counted'),
  cancelledCount: count.describe('Not counted'),
  openCount: count.describe('Have not ended, and are not counted'),
})
