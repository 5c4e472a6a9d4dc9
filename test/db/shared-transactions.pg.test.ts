import pg from 'pg'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { runHot } from '../../src/db/hot-statement.ts'
import { SharedTransactions } from '../../src/db/shared-transactions.ts'
import { openTestDatabase } from '../support/database.ts'

const db = await openTestDatabase({ poolSize: 3 })
async function asAdmin(text: string): Promise<number> {
  const admin = new pg.Client('url' in db.config ? db.config.url : '')
  await admin.connect()
  const { rowCount } = await admin.query(text)
  await admin.end()
  return rowCount ?? 0
}

const tenants = ['t0', 't1', 't2', 't3']
for (const tenant of tenants) await db.addTenant(tenant)
afterAll(() => setNames('tenant'))

const setName = {
  name: 'shared_set_name',
  text: 'UPDATE tenants SET name = $2 WHERE id = $1',
}
const noteTransaction = {
  name: 'shared_note_transaction',
  text: `UPDATE tenants SET name = pg_current_xact_id()::text WHERE id = $1`,
}
const divide = { name: 'shared_divide', text: 'UPDATE tenants SET name = (6 / $1::int)::text' }

const sleep = { name: 'shared_sleep', text: 'SELECT pg_sleep($1::float8)' }

const run = (tenant: string, statement: typeof setName, ...values: readonly string[]) =>
  db.database.forTenant(tenant).run(statement, values)

async function setNames(name: string): Promise<void> {
  for (const tenant of tenants) await run(tenant, setName, tenant, name)
}

async function names(): Promise<readonly string[]> {
  const found = tenants.map(async (tenant) => {
    const rows = await db.database
      .forTenant(tenant)
      .kysely.selectFrom('tenants')
      .selectAll()
      .execute()
    expect(rows.map(({ id }) => id)).toEqual([tenant])
    return rows[0]?.name ?? ''
  })
  return Promise.all(found)
}

/** Many at once, each in its own tenant; half of them in vain. */
const noteTransactions = () =>
  Promise.all(
    Array.from({ length: 40 }, (_, index) => {
      const own = tenants[index % 4] ?? ''
      // Every other one reaches for a row of another tenant.
      const wanted = index % 8 < 4 ? own : (tenants[(index + 1) % 4] ?? '')
      return run(own, noteTransaction, wanted)
    }),
  )

/** Until all connections know all statements. */
beforeEach(async () => {
  for (let round = 0; round < 4; round++) {
    await noteTransactions()
    await Promise.all([...tenants, ...tenants].map((tenant) => run(tenant, divide, '1')))
    await Promise.all([...tenants, ...tenants].map((tenant) => run(tenant, sleep, '0')))
    await Promise.all(
      [...tenants, ...tenants].map((tenant) => run(tenant, setName, tenant, 'before')),
    )
  }
})

describe('statements that come at once', () => {
  it('share transactions, each under the tag of its own tenant', async () => {
    const counts = await noteTransactions()

    expect(counts).toEqual(Array.from({ length: 40 }, (_, index) => (index % 8 < 4 ? 1 : 0)))
    expect(new Set(await names()).size).toBeLessThan(4)
  })

  it('fail each by itself', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) => {
        const tenant = tenants[index % 4] ?? ''
        if (index % 10 === 7) return run(tenant, divide, '0')
        return run(tenant, setName, tenant, `set ${index}`)
      }),
    )

    for (const [index, outcome] of outcomes.entries()) {
      if (index % 10 === 7) expect(outcome).toMatchObject({ reason: { code: '22012' } })
      else expect(outcome).toEqual({ status: 'fulfilled', value: 1 })
    }
    for (const name of await names()) expect(name).toMatch(/^set /)
  })

  it('are all told when their connection is lost, and the next ones go on', async () => {
    const sleeping = Promise.allSettled([0, 1].map(() => run('t0', sleep, '30')))
    await expect.poll(() => asAdmin(sleepers), { timeout: 10_000 }).toBe(1)
    const queued = Promise.allSettled(
      tenants.map((tenant) => run(tenant, setName, tenant, 'queued')),
    )
    await asAdmin(endSleepers)

    expect(await sleeping).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
    for (const outcome of await queued) expect(outcome).toEqual({ status: 'fulfilled', value: 1 })
    expect(await names()).toEqual(['queued', 'queued', 'queued', 'queued'])
  })
})

const sleepers = `
  SELECT FROM pg_stat_activity
  WHERE wait_event = 'PgSleep' AND datname = current_database()`
const endSleepers = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE wait_event = 'PgSleep' AND datname = current_database()`

it('statements whose connection is gone before the first of them are all told', async () => {
  const client = new pg.Client('url' in db.config ? db.config.url : '')
  await client.connect()
  await client.end()
  const released: unknown[] = []
  const shared = new SharedTransactions({
    checkOut: async () =>
      Object.assign(client, { release: (lost?: unknown) => released.push(lost) }),
    tagOf: () => 't0',
    setTag: () => {},
    runAlone: (on, _tenantId, statement, values) => runHot(on, statement, values),
  })

  const sent = [0, 1, 2].map(() => shared.run('t0', setName, ['t0', 'gone']))

  for (const outcome of await Promise.allSettled(sent)) expect(outcome.status).toBe('rejected')
  // One has taken them all, and the connection is given up; the other came too late for any.
  expect(released.sort()).toEqual([false, true])
})

it('one that waits for a lock does not hold up those that come after it', async () => {
  let count = 0

  await db.asOwner('t0', async (client) => {
    await client.query('BEGIN')
    await client.query("SELECT id FROM tenants WHERE id = 't0' FOR UPDATE")
    const locked = run('t0', setName, 't0', 'locked').then(() => count++)
    const others = await Promise.all(
      ['t1', 't2', 't3', 't1'].map((tenant) => run(tenant, setName, tenant, 'free')),
    )

    expect(others).toEqual([1, 1, 1, 1])
    expect(count).toBe(0)
    await client.query('ROLLBACK')
    await locked
  })

  expect(await names()).toEqual(['locked', 'free', 'free', 'free'])
}, 30_000)

it('one that waits for a lock for long is told so', async () => {
  await db.asOwner('t0', async (client) => {
    await client.query('BEGIN')
    await client.query("SELECT id FROM tenants WHERE id = 't0' FOR UPDATE")

    await expect(run('t0', setName, 't0', 'locked')).rejects.toMatchObject({ code: '55P03' })

    await client.query('ROLLBACK')
  })
}, 15_000)
