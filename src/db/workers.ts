import { type Id, newId } from '../domain/ids.ts'
import type { Claim, Clock, Lease } from '../executor/ports.ts'
import type { Logger } from '../logger.ts'
import type { Database } from './connect.ts'
import { handBackExecution, listClaims } from './queries/work.ts'
import type { ServerClock } from './server-clock.ts'
import { onUncaught } from './uncaught.ts'

/** This process as others see it: as long as its lease holds, the executions that it claimed are its own. */
export interface Worker extends AsyncDisposable {
  readonly id: Id<'worker'>
  readonly lease: Lease
  /**
   * Whether what the database shows of other workers is to be believed. Not while it may have lost them all at once, as it
   * does when it is restarted: those that live then come back within a second.
   */
  canTellWhoIsGone(): boolean
  /**
   * Notes that this process works on an execution, until `letGo`. `stepNow` is asked when an error that nobody caught
   * ends the process: the step that the execution is at, where it is at one.
   */
  hold(claim: Claim, stepNow?: () => string | undefined): void
  letGo(claim: Claim): void
  /**
   * Gives back what the database holds to be this process's and what it does not work on: the answer to a claim, or a
   * hand-back, was lost with its connection. Only what two looks in a row have found is given back, because a claim may be
   * under way. It is called with each renewal of the lease as well.
   */
  giveBackForgotten(): Promise<void>
}

/** How long a worker is believed to live after its last sign of life, by the database's clock. */
const leaseMs = 15_000
const renewEveryMs = 5_000
/** Between two looks for executions that this process has forgotten, so that a claim under way is none. */
const lookEveryMs = 900

// A renewal also brings back a row that was cleared away while this process was frozen.
const renew = `
  INSERT INTO workers (id, lease_until, started_at, lock_key)
  VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond', clock_timestamp(), $3)
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until
  RETURNING extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`
const sign = `
  SELECT lease_until - $2 * interval '1 millisecond' AS heard_at,
    lease_until < clock_timestamp() OR NOT EXISTS (
      SELECT FROM pg_locks l
      WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
        AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
        AND l.classid::bigint = lock_key >> 32 AND l.objid::bigint = lock_key & 4294967295) AS is_gone
  FROM workers WHERE id = $1`
const remove = `DELETE FROM workers WHERE id = $1`

/**
 * Registers this process and keeps its lease until it is disposed. A session of its own holds an advisory lock as long
 * as the process lives, so that others see it die at once; the embedded database has one process, whose predecessors
 * are all gone.
 *
 * A clock that follows the server's is set with each renewal. The process itself counts the lease by its own steady clock,
 * from when a renewal was sent: it can only believe that it has lost it too early, never too late.
 */
export async function registerWorker(
  database: Database,
  clock: Clock | ServerClock,
  log: Logger,
): Promise<Worker> {
  const id = newId('worker', clock.now())
  const lockKey = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)
  let heldUntil = 0

  async function renewLease(): Promise<void> {
    const sentAt = performance.now()
    const values = [id, leaseMs, lockKey]
    const [row] = await database.system.query<{ now: number }>('worker_renew', renew, values)
    heldUntil = sentAt + leaseMs
    if (row !== undefined && 'heard' in clock) clock.heard(row.now, sentAt, performance.now())
  }

  const held = new Map<string, (() => string | undefined) | undefined>()
  let missed: ReadonlySet<string> = new Set()
  let lookedAt = Number.NEGATIVE_INFINITY

  async function giveBackForgotten(): Promise<void> {
    if (performance.now() - lookedAt < lookEveryMs) return
    lookedAt = performance.now()
    const own = await listClaims(database, id)
    const forgotten = own.filter((claim) => !held.has(keyOf(claim)))
    for (const claim of forgotten.filter((one) => missed.has(keyOf(one)))) {
      log.warn(
        { executionId: claim.executionId },
        'an execution that nobody works on is given back',
      )
      await handBackExecution(database.forTenant(claim.tenantId), claim, 0)
    }
    missed = new Set(forgotten.map(keyOf))
  }

  // Any of these may be what ends it; those that are lost twice are tried alone, which tells.
  const listenNoMore = onUncaught((error) => {
    const executions = [...held].map(([key, stepNow]) => {
      const [executionId = ''] = key.split(' ')
      const stepKey = stepNow?.()
      return { executionId, ...(stepKey !== undefined && { stepKey }) }
    })
    log.fatal({ err: error, workerId: id, executions }, 'an error that nobody caught ends a worker')
  })

  if (database.kind === 'pglite')
    await database.system.query('workers_gone', 'DELETE FROM workers', [])
  const session = await database.holdSessionLock(lockKey)
  await renewLease()
  const timer = setInterval(() => {
    renewLease()
      .then(giveBackForgotten)
      .catch((error: unknown) => {
        log.warn({ err: error, workerId: id }, 'the lease could not be renewed; it is tried again')
      })
  }, renewEveryMs)
  timer.unref()
  return {
    id,
    lease: { isHeld: () => performance.now() < heldUntil, renew: renewLease },
    canTellWhoIsGone: session.isSteady,
    hold: (claim, stepNow) => void held.set(keyOf(claim), stepNow),
    letGo: (claim) => void held.delete(keyOf(claim)),
    giveBackForgotten,
    async [Symbol.asyncDispose]() {
      listenNoMore()
      clearInterval(timer)
      await using _session = session
      await database.system.query('worker_remove', remove, [id]).catch((error: unknown) => {
        // The lock is gone in any case, and the row without it says that this process is.
        log.warn({ err: error, workerId: id }, 'the worker could not sign off; its lease runs out')
      })
    },
  }
}

/** What is known of a worker, whichever process that is. */
export interface WorkerSign {
  /** Its last sign of life, of which there is one every 5 seconds; null when it is too long ago to be known. */
  readonly lastHeardAt: Date | null
  readonly isGone: boolean
}

/** Looks whether a worker lives, as those who take over from the ones that are gone do. */
export async function findWorkerSign(
  { kind, system }: Pick<Database, 'kind' | 'system'>,
  id: string,
): Promise<WorkerSign> {
  const [row] = await system.query<{ heard_at: Date; is_gone: boolean }>('worker_sign', sign, [
    id,
    leaseMs,
  ])
  if (row === undefined) return { lastHeardAt: null, isGone: true }
  // An embedded database holds no lock for its one process, and forgets all others when it is opened.
  return { lastHeardAt: row.heard_at, isGone: kind === 'postgres' && row.is_gone }
}

function keyOf({ executionId, fence }: Claim): string {
  return `${executionId} ${fence}`
}
