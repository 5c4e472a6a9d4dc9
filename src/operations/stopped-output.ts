import { z } from 'zod'
import { instant } from './shapes.ts'

/** A switch that stops something, as answers tell of it. */
export const stoppedShape = z.object({
  kind: z.enum(['procedure', 'tool']),
  name: z.string(),
  reason: z.string(),
  by: z.string(),
  since: instant,
})

/** What a list says of something that may be stopped. */
export const stoppedOutput = stoppedShape
  .nullable()
  .describe('The switch that stops it; null: none does')
