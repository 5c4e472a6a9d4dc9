import type { z } from 'zod'
import type { stopProcedure } from '../operations/stop-procedure.ts'
import { instantText } from './value-line.ts'

type Stopped = z.infer<typeof stopProcedure.output>['stopped']

/** Who has stopped something, when and why. */
export function stoppedText({ by, since, reason }: Stopped): string {
  return `by ${by} at ${instantText(since)}: ${reason}`
}
