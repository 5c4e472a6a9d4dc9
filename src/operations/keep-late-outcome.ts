import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import { isOutage } from '../db/database-errors.ts'
import { attachLateOutcome } from '../db/queries/work.ts'
import type { StepRow } from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'

/** How long a late outcome looks for the escalation that its execution ends in, and how often. */
const lateOutcomeMs = 300_000
const lateOutcomeWaitMs = 500

/** What a write came to after its execution was taken over: whoever works the escalation off has to know. */
export async function keepLateOutcome(
  app: AppContext,
  db: TenantDb,
  executionId: Id<'execution'>,
  row: StepRow,
): Promise<void> {
  const givesUpAt = performance.now() + lateOutcomeMs
  while (performance.now() < givesUpAt) {
    try {
      if (await attachLateOutcome(db, executionId, row)) return
    } catch (error) {
      if (!isOutage(error)) {
        app.log.error({ err: error, executionId }, 'a late outcome could not be kept')
        return
      }
    }
    await new Promise((resolve) => setTimeout(resolve, lateOutcomeWaitMs).unref())
  }
  // The other worker has repeated the call, with the same key, and recorded that.
  app.log.info({ executionId, stepKey: row.stepKey }, 'a late outcome met no escalation')
}
