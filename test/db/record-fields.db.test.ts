import { expect, it } from 'vitest'
import { actFields, otherTables, runFields } from '../../src/domain/record-fields.ts'
import { openTestDatabase } from '../support/database.ts'

const db = await openTestDatabase()

it('every column of every table is covered by the audit, or it is said why not', async () => {
  const live = await db.asOwner('default', async (client) => {
    const { rows } = await client.query<{ table: string; column: string }>(
      `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
       WHERE table_schema = 'public'`,
    )
    return rows
  })
  const covered = { ...runFields, ...actFields }

  const said = Object.entries(covered).flatMap(([table, fields]) =>
    Object.keys(fields).map((column) => `${table}.${column}`),
  )
  const found = live.filter(({ table }) => Object.hasOwn(covered, table))
  expect(said.sort()).toEqual(found.map(({ table, column }) => `${table}.${column}`).sort())
  const tables = new Set(
    live.map(({ table }) => table).filter((table) => !Object.hasOwn(covered, table)),
  )
  expect([...tables].sort()).toEqual(Object.keys(otherTables).sort())
})
