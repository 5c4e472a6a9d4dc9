import { type Id, newId } from '../domain/ids.ts'
import type { Clock, Lease } from '../executor/ports.ts'
import type { Logger } from '../logger.ts'
import type { Database } from './connect.ts'

/** This process as others see it: as long as its lease holds, the executions that it claimed are its own. */
export interface Worker extends AsyncDisposable {
  readonly id: Id<'worker'>
  readonly lease: Lease
  /**
   * Whether what the database shows of other workers is to be believed. Not while it may have lost them all at once, as it
   * does when it is restarted: those that live then come back within a second.
   */
  canTellWhoIsGone(): boolean
}

/** How long a worker is believed to live after its last sign of life, by the database's clock. */
const leaseMs = 15_000
const renewEveryMs = 5_000

// A renewal also brings back a row that was cleared away while this process was frozen.
const renew = `
  INSERT INTO workers (id, lease_until, started_at, lock_key)
  VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond', clock_timestamp(), $3)
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`
const remove = `DELETE FROM workers WHERE id = $1`

/**
 * Registers this process and keeps its lease until it is disposed. A session of its own holds an advisory lock as long
 * as the process lives, so that others see it die at once; the embedded database has one process, whose predecessors
 * are all gone.
 *
 * The process itself counts the lease by its own steady clock, from when a renewal was sent: it can only believe that
 * it has lost it too early, never too late.
 */
export async function registerWorker(
  database: Database,
  clock: Clock,
  log: Logger,
): Promise<Worker> {
  const id = newId('worker', clock.now())
  const lockKey = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)
  let heldUntil = 0

  async function renewLease(): Promise<void> {
    const sentAt = performance.now()
    await database.system.query('worker_renew', renew, [id, leaseMs, lockKey])
    heldUntil = sentAt + leaseMs
  }

  if (database.kind === 'pglite')
    await database.system.query('workers_gone', 'DELETE FROM workers', [])
  const session = await database.holdSessionLock(lockKey)
  await renewLease()
  const timer = setInterval(() => {
    renewLease().catch((error: unknown) => {
      log.warn({ err: error, workerId: id }, 'the lease could not be renewed; it is tried again')
    })
  }, renewEveryMs)
  timer.unref()
  return {
    id,
    lease: { isHeld: () => performance.now() < heldUntil, renew: renewLease },
    canTellWhoIsGone: session.isSteady,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await using _session = session
      await database.system.query('worker_remove', remove, [id]).catch((error: unknown) => {
        // The lock is gone in any case, and the row without it says that this process is.
        log.warn({ err: error, workerId: id }, 'the worker could not sign off; its lease runs out')
      })
    },
  }
}
