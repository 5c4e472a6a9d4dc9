import type { AppContext } from '../context.ts'
import { listTenantsWithRetention } from '../db/queries/erasures.ts'
import { expireRuns } from './expire-runs.ts'
import { pause } from './pause.ts'

/** A worker that has just started has other things to do. */
const firstAfterMs = 60_000
/** A round looks at all runs that are old enough, also at those that were erased before. */
const roundEveryMs = 6 * 3_600_000

/**
 * Erases what tenants keep only for some time, in rounds, until `signal` is aborted. Any number of processes may do so.
 * What goes wrong is logged, and tried again in the next round.
 */
export async function lookAfterRetention(app: AppContext, signal: AbortSignal): Promise<void> {
  for (let pauseMs = firstAfterMs; await pause(pauseMs, signal); pauseMs = roundEveryMs) {
    try {
      for (const tenantId of await listTenantsWithRetention(app.database)) {
        const erased = await expireRuns(app, tenantId, signal)
        if (erased > 0) app.log.info({ tenantId, erased }, 'what was kept long enough was erased')
      }
    } catch (error) {
      app.log.warn({ err: error }, 'old runs could not be erased; it is tried again')
    }
  }
}
