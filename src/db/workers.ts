import { type Id, newId } from '../domain/ids.ts'
import type { Clock } from '../executor/ports.ts'
import type { Logger } from '../logger.ts'
import type { Database } from './connect.ts'

/** This process as others see it: as long as its lease holds, the executions that it claimed are its own. */
export interface Worker extends AsyncDisposable {
  readonly id: Id<'worker'>
}

/** How long a worker is believed to live after its last sign of life, by the database's clock. */
const leaseMs = 15_000
const renewEveryMs = 5_000

const insert = `
  INSERT INTO workers (id, lease_until, started_at, lock_key)
  VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond', clock_timestamp(), $3)`
const renew = `
  UPDATE workers SET lease_until = clock_timestamp() + $2 * interval '1 millisecond' WHERE id = $1`
const remove = `DELETE FROM workers WHERE id = $1`

/**
 * Registers this process and keeps its lease until it is disposed. A session of its own holds an advisory lock as long
 * as the process lives, so that others see it die at once; the embedded database has one process, whose predecessors
 * are all gone.
 */
export async function registerWorker(
  database: Database,
  clock: Clock,
  log: Logger,
): Promise<Worker> {
  const id = newId('worker', clock.now())
  const lockKey = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)
  if (database.kind === 'pglite')
    await database.system.query('workers_gone', 'DELETE FROM workers', [])
  const session = await database.holdSessionLock(lockKey)
  await database.system.query('worker_insert', insert, [id, leaseMs, lockKey])
  const timer = setInterval(() => {
    database.system.query('worker_renew', renew, [id, leaseMs]).catch((error: unknown) => {
      log.warn({ err: error, workerId: id }, 'the lease could not be renewed; it is tried again')
    })
  }, renewEveryMs)
  timer.unref()
  return {
    id,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await database.system.query('worker_remove', remove, [id])
      await session[Symbol.asyncDispose]()
    },
  }
}
