import { expect, test } from 'vitest'
import { openTestDatabase, type RawClient } from '../support/database.ts'
import { exampleScenario, insertProcedure } from '../support/rows.ts'

const db = await openTestDatabase()

const insert = `INSERT INTO scenarios (tenant_id, version_id, position, scenario)
  VALUES ('default', 'race_draft', 1, '${exampleScenario}')`
const leave = `UPDATE procedure_versions SET status = CASE id WHEN 'race_active' THEN 'deprecated' ELSE 'active' END
  WHERE id = $1`

test('a scenario that is written while its version goes live comes first or not at all', async () => {
  await insertProcedure(db.database, 'default', 'race')

  await db.asApp('default', (activator) =>
    db.asApp('default', async (writer) => {
      await activator.query('BEGIN')
      await activator.query(leave, ['race_active'])
      await activator.query(leave, ['race_draft'])
      const { rows } = await writer.query('SELECT pg_backend_pid() AS pid')
      const written = writer.query(insert).then(
        () => 'written',
        (error) => error.constraint,
      )
      await untilBlocked(activator, rows[0]?.pid)
      await activator.query('COMMIT')

      expect(await written).toBe('scenarios_of_draft')
    }),
  )
})

/** Resolves once a session waits for another one's lock. */
async function untilBlocked(client: RawClient, pid: number): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const { rows } = await client.query('SELECT cardinality(pg_blocking_pids($1)) AS count', [pid])
    if (rows[0]?.count > 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('it waits for nobody')
}
