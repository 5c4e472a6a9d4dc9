import { describe, expect, it } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import { openTestDatabase } from '../support/database.ts'

const connectionTimeoutMs = 300
const db = await openTestDatabase({ poolSize: 2, connectionTimeoutMs })
const tenants = ['a', 'b', 'c']
for (const tenant of tenants) await db.addTenant(tenant)

describe('the connections of tenants', () => {
  it('never show one the rows of another, however they interleave over a small pool', async () => {
    const asked = Array.from({ length: 120 }, (_, index) => tenants[index % 3] ?? 'a')

    const seen = await Promise.all(
      asked.map(async (tenant, index) => {
        const { kysely, query } = db.database.forTenant(tenant)
        const rows =
          index % 2 === 0
            ? await query<{ id: string }>('tenants_seen', 'SELECT id FROM tenants', [])
            : await kysely.selectFrom('tenants').select('id').execute()
        return rows.map((row) => row.id)
      }),
    )

    expect(seen).toEqual(asked.map((tenant) => [tenant]))
  })

  it('keep their tenant after a transaction that was rolled back', async () => {
    const b = db.database.forTenant('b')
    await db.database.forTenant('a').query('tenants_seen', 'SELECT id FROM tenants', [])
    const failed = b.kysely.transaction().execute(async (transaction) => {
      await transaction.selectFrom('tenants').select('id').execute()
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')

    const rows = await Promise.all(
      [1, 2].map(() => b.kysely.selectFrom('tenants').select('id').execute()),
    )

    expect(rows).toEqual([[{ id: 'b' }], [{ id: 'b' }]])
  })

  it('lose it when the system takes them', async () => {
    for (const tenant of ['a', 'b']) {
      await db.database.forTenant(tenant).query('tenants_seen', 'SELECT id FROM tenants', [])
    }

    const rows = await Promise.all(
      [1, 2].map(() => db.database.system.kysely.selectFrom('tenants').select('id').execute()),
    )

    expect(rows).toEqual([[], []])
  })

  it('are still good after a statement that failed', async () => {
    const { query } = db.database.forTenant('a')
    const divide = (by: number) => query('divide', 'SELECT 6 / $1::int AS result', [by])
    await expect(divide(0)).rejects.toMatchObject({ code: '22012' })

    expect(await divide(3)).toEqual([{ result: 2 }])
    expect(await query('tenants_seen', 'SELECT id FROM tenants', [])).toEqual([{ id: 'a' }])
  })
})

describe('asking for a second connection inside a transaction', () => {
  it('fails with a clear error instead of waiting for ever', async () => {
    const { kysely } = db.database.forTenant('a')
    const hold = (inner: () => Promise<unknown>) =>
      kysely.transaction().execute(async (transaction) => {
        await transaction.selectFrom('tenants').select('id').execute()
        await inner()
      })

    // As many as the larger pool has, so that none is left on either backend.
    const error = await hold(() => hold(() => hold(async () => {}))).catch(
      (thrown: unknown) => thrown,
    )

    expect(isServiceError(error, 'DATABASE_BUSY') && error.details.waitedMs).toBe(
      connectionTimeoutMs,
    )
  })
})

describe('values', () => {
  it('come back as numbers, dates with milliseconds, JSON values, and decimals as text', async () => {
    const at = new Date('2026-11-29T12:34:56.789Z')
    const [row] = await db.database.system.query(
      'values',
      `SELECT 9007199254740991::bigint AS number, count(*) AS count, $1::timestamptz(3) AS at,
         '{"a": [1, null]}'::jsonb AS json, 29.00::numeric(14, 2) AS amount, ARRAY['a', 'b'] AS list`,
      [at],
    )

    expect(row).toEqual({
      number: Number.MAX_SAFE_INTEGER,
      count: 1,
      at,
      json: { a: [1, null] },
      amount: '29.00',
      list: ['a', 'b'],
    })
  })

  it('that a number cannot hold are refused', async () => {
    const asked = db.database.system.query('large', 'SELECT 9007199254740992::bigint', [])

    await expect(asked).rejects.toThrow('2^53')
  })
})
