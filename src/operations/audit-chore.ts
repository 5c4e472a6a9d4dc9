import type { AppContext } from '../context.ts'
import { listTenantsToSeal } from '../db/queries/seals.ts'
import type { Principal } from '../domain/principal.ts'
import { makeDueCheckpoints } from './checkpoints.ts'
import { pause } from './pause.ts'
import { sealRuns } from './seal-runs.ts'

/** How often it is done, in milliseconds. */
export interface ChoreTimes {
  /** From the end of a round of sealing to the next; default 10 s. */
  readonly sealEveryMs: number
  /** How often it is looked which chains have grown enough for a checkpoint; default 60 s. */
  readonly checkpointEveryMs: number
}

const defaultTimes: ChoreTimes = { sealEveryMs: 10_000, checkpointEveryMs: 60_000 }

/**
 * Seals what has ended and signs checkpoints, of all tenants in turn, until `signal` is aborted. Any number of processes may
 * do so: one works on a tenant at a time. What goes wrong is logged, and tried again.
 */
export async function lookAfterAudit(
  app: AppContext,
  signal: AbortSignal,
  { sealEveryMs, checkpointEveryMs }: ChoreTimes = defaultTimes,
): Promise<void> {
  let checkpointsAt = performance.now()
  while (await pause(sealEveryMs, signal)) {
    try {
      await sealAll(app, signal)
      if (performance.now() - checkpointsAt < checkpointEveryMs) continue
      checkpointsAt = performance.now()
      await makeDueCheckpoints(app)
    } catch (error) {
      app.log.warn({ err: error }, 'runs could not be sealed; it is tried again')
    }
  }
}

/** One seal of each tenant, and again of those that have filled one. */
async function sealAll(app: AppContext, signal: AbortSignal): Promise<void> {
  let tenants = await listTenantsToSeal(app.database)
  while (tenants.length > 0) {
    const full: string[] = []
    for (const tenantId of tenants) {
      if (signal.aborted) return
      const count = await sealRuns(app, tenantId, {
        principal: servicePrincipal(tenantId),
        origin: 'schedule',
        everything: false,
      })
      if (count !== undefined && count >= 100) full.push(tenantId)
    }
    tenants = full
  }
}

/** The service itself: what it does by the clock, nobody has asked for. */
export function servicePrincipal(tenantId: string): Principal {
  return { id: 'stepwarden', kind: 'service', roles: [], groups: [], tenantId }
}
