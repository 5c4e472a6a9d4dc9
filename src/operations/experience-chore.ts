import type { AppContext } from '../context.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import { notePruned } from '../db/queries/experience-pruning.ts'
import { listTenantsToLearn, listUnembedded } from '../db/queries/experience-vectors.ts'
import { servicePrincipal } from './audit-chore.ts'
import { embedExperiences, type NeededVectors, neededVectors } from './embed-experiences.ts'
import { measureRecalls } from './measure-recalls.ts'
import { pause } from './pause.ts'
import { pruneBatch, prunedAtOnce, prunedEvent, pruningDefaults } from './prune-experiences.ts'
import { recordRuns } from './record-runs.ts'

const everyMs = 15_000
/** How many batches of runs and of vectors are made of one tenant in a round: the rest of the process has work to do. */
const batchesARound = 5
const embeddedAtOnce = 64
/** What share of the time it works at most, when others wait for the same processor: runs go before what is learned of them. */
const workingShare = 0.1
const longestRestMs = 2_000
/** Whether an index is there to be measured is looked at less often: it changes once in a while. */
const indexesEveryMs = 300_000
const dayMs = 86_400_000
const prunedEveryMs = 7 * dayMs

/**
 * Records what sealed runs have experienced, makes the vectors that are lacking, and prunes and measures once a week, of all
 * tenants in turn, until `signal` is aborted. Any number of processes may do so. What goes wrong is logged, and tried again.
 */
export async function lookAfterExperiences(
  app: AppContext,
  signal: AbortSignal,
  pauseMs = everyMs,
): Promise<void> {
  let looksAtIndexesFrom = 0
  while (await pause(pauseMs, signal)) {
    try {
      await learnOnce(app, signal, workingShare)
      if (performance.now() < looksAtIndexesFrom) continue
      looksAtIndexesFrom = performance.now() + indexesEveryMs
      await measureRecalls(app, signal)
    } catch (error) {
      app.log.warn({ err: error }, 'experiences could not be looked after; it is tried again')
    }
  }
}

/** One round over all tenants. After each batch it rests, so that it works for a share of the time; 1: it never rests. */
export async function learnOnce(app: AppContext, signal?: AbortSignal, share = 1): Promise<void> {
  const resting = async <T>(work: Promise<T>): Promise<T> => {
    const began = performance.now()
    const done = await work
    const restMs = (performance.now() - began) * (1 / share - 1)
    await pause(Math.min(restMs, longestRestMs), signal)
    return done
  }
  const needed = await neededVectors(app)
  const prunedBefore = new Date(app.clock.now() - prunedEveryMs)
  for (const tenant of await listTenantsToLearn(app.database, needed.mark, prunedBefore)) {
    if (signal?.aborted) return
    const { tenantId } = tenant
    for (let batch = 0; tenant.hasRuns && batch < batchesARound; batch += 1) {
      if (signal?.aborted || (await resting(recordRuns(app, tenantId))) === 0) break
    }
    await resting(embedSome(app, tenantId, needed))
    if (tenant.isPruningDue) await pruneTenant(app, tenantId)
  }
}

async function embedSome(app: AppContext, tenantId: string, needed: NeededVectors): Promise<void> {
  const { kysely } = app.database.forTenant(tenantId)
  const items = await listUnembedded(kysely, needed.mark, embeddedAtOnce)
  if (items.length > 0) await embedExperiences(app, tenantId, items, needed)
}

/** Prunes a tenant by the rule that holds without anybody asking, in batches with an event each. */
async function pruneTenant(app: AppContext, tenantId: string): Promise<void> {
  const { kysely } = app.database.forTenant(tenantId)
  const { unusedDays, ...rest } = pruningDefaults
  for (;;) {
    const at = app.clock.now()
    const rule = { ...rest, unusedSince: new Date(at - unusedDays * dayMs) }
    const pruned = await kysely.transaction().execute(async (transaction) => {
      const deleted = await pruneBatch(transaction, rule)
      await notePruned(transaction, tenantId, new Date(at))
      for (const entry of prunedEvent(tenantId, rule, deleted)) {
        const by = { principal: servicePrincipal(tenantId), origin: 'schedule' } as const
        await insertAuditEvent(transaction, { ...entry, ...by, at })
      }
      return deleted.length
    })
    if (pruned > 0) app.log.info({ tenantId, pruned }, 'experiences were pruned')
    if (pruned < prunedAtOnce) return
  }
}
