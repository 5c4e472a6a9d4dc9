import { setTimeout as sleep } from 'node:timers/promises'
import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import {
  hasMoreToHold,
  hasMoreToRelease,
  holdSome,
  releaseSome,
} from '../db/queries/execution-holds.ts'
import {
  findSwitch,
  listUnsettledSwitches,
  lockSwitches,
  updateSettled,
} from '../db/queries/kill-switches.ts'
import type { Id } from '../domain/ids.ts'
import type { KillSwitch } from '../domain/kill-switch.ts'

/** How long one caller looks for executions that somebody else has locked; whoever comes next goes on. */
const settleWithinMs = 30_000
const lockedPauseMs = 20
const switchesAtOnce = 100

/**
 * Holds whatever goes on that an engaged switch stops, or lets go what a lifted one has held. What is held does not begin
 * another write: its worker hears of it with its next commit. May be repeated, and called by several at once.
 */
export async function settleSwitch(app: AppContext, db: TenantDb, id: Id<'switch'>): Promise<void> {
  const givesUpAt = performance.now() + settleWithinMs
  while (performance.now() < givesUpAt) {
    const found = await findSwitch(db.kysely, id)
    if (found === undefined) return
    const moved = await moveSome(app, db, found)
    if (moved > 0) continue
    if (!(await hasMore(db, found))) return updateSettled(db.kysely, id, found)
    // The rest is locked at this moment, by commits that take milliseconds.
    await sleep(lockedPauseMs)
  }
  app.log.warn({ switchId: id }, 'not all that a switch concerns is held, or let go, yet')
}

function moveSome(app: AppContext, db: TenantDb, found: KillSwitch): Promise<number> {
  return db.kysely.transaction().execute(async (transaction) => {
    const now = new Date(app.clock.now())
    if (found.liftedAt === null) return holdSome(transaction, found, now)
    // Another switch that is engaged meanwhile finds what goes on again, or is found here.
    await lockSwitches(transaction, db.tenantId, 'share')
    return releaseSome(transaction, found.id, now)
  })
}

function hasMore({ kysely }: TenantDb, found: KillSwitch): Promise<boolean> {
  return found.liftedAt === null ? hasMoreToHold(kysely, found) : hasMoreToRelease(kysely, found.id)
}

/** Settles the switches, of all tenants, that whoever engaged or lifted them could not. */
export async function settleSwitches(app: AppContext): Promise<void> {
  const places = await listUnsettledSwitches(app.database.system, switchesAtOnce)
  for (const { tenantId, switchId } of places) {
    await settleSwitch(app, app.database.forTenant(tenantId), switchId)
  }
}
