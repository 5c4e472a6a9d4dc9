import type { AppContext } from '../context.ts'
import {
  countExperiencesOf,
  findRetention,
  finishErasure,
  hasOldCounters,
  hasProposalsOf,
  insertErasure,
  listErasableRuns,
  listErasableTickets,
  lockErasure,
} from '../db/queries/erasures.ts'
import { clearNotesBefore } from '../db/queries/outside-executions.ts'
import { findRetentionDays } from '../db/queries/tenants.ts'
import { servicePrincipal } from './audit-chore.ts'
import { batchSize, eraseBatch } from './erase-batch.ts'

const dayMs = 86_400_000

/**
 * Erases what a tenant has kept longer than it wants to, and answers how many runs and tickets that were. It leaves to
 * another process what that one is at.
 */
export async function expireRuns(
  app: AppContext,
  tenantId: string,
  signal?: AbortSignal,
): Promise<number> {
  const { kysely } = app.database.forTenant(tenantId)
  const days = await findRetentionDays(kysely, tenantId)
  if (days === null) return 0
  const by = { principal: servicePrincipal(tenantId), origin: 'schedule' as const }
  const subject = { endedBefore: new Date(app.clock.now() - days * dayMs) }
  const limit = batchSize[app.database.kind]
  let after = ''
  let erased = 0
  while (signal?.aborted !== true) {
    const runs = await listErasableRuns(kysely, subject, { after, limit })
    const tickets = await listErasableTickets(kysely, subject, limit)
    if (runs.length + tickets.length === 0) break
    after = runs.at(-1) ?? after
    const erasureId = await retentionOf(app, tenantId, days)
    if (erasureId === undefined) break
    const done = await eraseBatch(app, { ...by, erasureId, isWaiting: false }, { runs, tickets })
    if (done === undefined) break
    erased += done.runs + done.tickets
  }
  await clearNotesBefore(kysely, subject.endedBefore)
  const isMore =
    (await hasOldCounters(kysely, subject.endedBefore)) ||
    (await countExperiencesOf(kysely, subject)) > 0 ||
    (await hasProposalsOf(kysely, subject))
  if (isMore) await retentionOf(app, tenantId, days)
  const running = await findRetention(kysely)
  if (running === undefined) return erased
  await kysely.transaction().execute(async (transaction) => {
    const held = await lockErasure(transaction, running.id, { isWaiting: false })
    if (held === undefined) return
    await finishErasure(transaction, held.id, null, { ...by, at: app.clock.now() })
  })
  return erased
}

async function retentionOf(app: AppContext, tenantId: string, days: number) {
  const { kysely } = app.database.forTenant(tenantId)
  const running = await findRetention(kysely)
  if (running !== undefined) return running.id
  await insertErasure(kysely, {
    principal: servicePrincipal(tenantId),
    reason: `older than ${days} days`,
    at: app.clock.now(),
  })
  return (await findRetention(kysely))?.id
}
