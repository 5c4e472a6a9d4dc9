import pg from 'pg'
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/db/connect.ts'
import { explainDatabaseError, isOutage } from '../../src/db/database-errors.ts'
import { openTestDatabase } from '../support/database.ts'

const db = await openTestDatabase()

async function asAdmin(statement: string): Promise<number | null> {
  const admin = new pg.Client('url' in db.config ? db.config.url : '')
  await admin.connect()
  const { rowCount } = await admin.query(statement)
  await admin.end()
  return rowCount
}

/** As an operator does, or a restart of the server. */
const cutAll = () =>
  asAdmin(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  )

const countAsleep = () =>
  asAdmin(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
  )

// Without a listener the event would be an uncaught exception, which fails the run.
it('a connection that is cut between two queries fails the next one, and ends no process', async () => {
  const client = await db.database.pool.connect()
  const closed = new Promise((resolve) => client.once('end', resolve))

  await cutAll()
  await closed

  await expect(client.query('SELECT 1')).rejects.toSatisfy(isOutage)
  client.release()
  const tenants = await db.database.forTenant('default').kysely.selectFrom('tenants').execute()
  expect(tenants).toHaveLength(1)
})

it.each([
  ['53100', 'could not extend file "base/5/1249": No space left on device'],
  ['57P02', 'terminating connection because of crash of another server process'],
])('error %s says to people that the database is away', (code, message) => {
  expect(explainDatabaseError(Object.assign(new Error(message), { code }), 'db')).toMatchObject({
    code: 'DATABASE_UNAVAILABLE',
    message: expect.stringContaining(message),
  })
})

it('a query that is cut says that the database is away', async () => {
  const { system } = db.database
  const asleep = [
    system.query('sleep', 'SELECT pg_sleep(20)', []),
    system.run({ name: 'sleep_hot', text: 'SELECT pg_sleep(20)' }, []),
  ]
  const failures = Promise.allSettled(asleep)
  // One that had no connection yet when all were cut would sleep to its end.
  await expect.poll(() => countAsleep(), { timeout: 10_000 }).toBe(asleep.length)

  await cutAll()

  for (const failure of await failures) {
    expect(failure.status === 'rejected' && isOutage(failure.reason)).toBe(true)
  }
})

it('a connection that answers nothing is given up', async () => {
  const { url } = db.config as { url: string }
  await using database = await openDatabase({ url, maxSilenceMs: 200 })
  const asleep = [
    database.system.query('sleep', 'SELECT pg_sleep(20)', []),
    database.system.run({ name: 'sleep_hot', text: 'SELECT pg_sleep(20)' }, []),
  ]

  for (const failure of await Promise.allSettled(asleep)) {
    expect(failure.status === 'rejected' && isOutage(failure.reason)).toBe(true)
  }

  const tenants = await database.forTenant('default').kysely.selectFrom('tenants').execute()
  expect(tenants).toHaveLength(1)
  // The server itself notices nothing of it until the statements end.
  await cutAll()
})
