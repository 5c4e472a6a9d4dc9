import { type Kysely, sql } from 'kysely'
import { expect, it } from 'vitest'
import { memoryDataDir, openEmbedded } from '../../src/db/embedded.ts'
import { migrations } from '../../src/db/migrate.ts'
import { databaseRoles, prepareDatabase } from '../../src/db/roles.ts'
import { schemaHandle } from '../../src/db/schema-handle.ts'

const insertVersion = (tenant: string, status: string) => sql`
  INSERT INTO procedure_versions (tenant_id, id, procedure_id, version_number, definition, definition_hash, summary,
    purpose, tool_contracts, findings, author_ids, created_by, created_at, updated_by, updated_at)
  VALUES (${tenant}, ${status}, ${status}, 1, jsonb_build_object('key', ${status}::text, 'name', 'A', 'description', 'A',
    'issuePatterns', '[" Charged TWICE ", "fees", "no"]'::jsonb, 'steps',
    '[{"choose": [{"steps": [{"call": "CALLED"}, {"call": "CALLED"}]}]}, {"with": {"call": "no key"}}]'::jsonb),
    repeat('0', 64), 'A', 'A', '{}', '[]', '{ann}', '{}', now(), '{}', now())`

async function apply(db: Kysely<unknown>, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await db.transaction().execute(async (transaction) => migrations.get(name)?.up(transaction))
  }
}

it('an older database is migrated with all that serves in every tenant', async () => {
  const lite = await openEmbedded({ dataDir: memoryDataDir, connectionTimeoutMs: 10_000 })
  const db = schemaHandle(lite.pool)
  await prepareDatabase(db)
  await sql`SET ROLE ${sql.id(databaseRoles.owner)}`.execute(db)
  const names = [...migrations.keys()]
  const before = names.indexOf('0008-models-side-by-side')
  await apply(db, names.slice(0, before))
  await sql`
    INSERT INTO embedding_models (name, dimensions, threshold, margin, calibrated, is_current)
    VALUES ('ngram-512-v1', 2, 0.3, 0.1, true, true)`.execute(db)
  for (const tenant of ['acme', 'beta']) {
    await sql`SELECT set_config('stepwarden.tenant', ${tenant}, false)`.execute(db)
    await sql`INSERT INTO tenants (id, name, created_at) VALUES (${tenant}, 'A', now())`.execute(db)
    for (const status of ['active', 'draft']) {
      await sql`
        INSERT INTO procedures (tenant_id, id, key, created_at)
        VALUES (${tenant}, ${status}, ${status}, now())`.execute(db)
      await insertVersion(tenant, status).execute(db)
      await sql`
        INSERT INTO version_embeddings (tenant_id, model, version_id, text_hash, embedding)
        VALUES (${tenant}, 'ngram-512-v1', ${status}, 'x', '[1,0]')`.execute(db)
    }
    await sql`UPDATE procedure_versions SET status = 'active' WHERE id = 'active'`.execute(db)
  }

  await apply(db, names.slice(before))

  await sql`RESET ROLE`.execute(db)
  const vectors = await sql`
    SELECT tenant_id, version_id, served_in FROM version_embeddings ORDER BY 1, 2`.execute(db)
  const patterns = await sql`
    SELECT tenant_id, position, tail, pattern FROM literal_patterns ORDER BY 1, 2`.execute(db)
  const calls = await sql`SELECT * FROM version_calls ORDER BY 1`.execute(db)
  const unforced = await sql`
    SELECT relname FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity`.execute(db)
  await lite.close()
  expect(vectors.rows).toEqual(
    ['acme', 'beta'].flatMap((tenant_id) => [
      { tenant_id, version_id: 'active', served_in: 'general' },
      { tenant_id, version_id: 'draft', served_in: null },
    ]),
  )
  expect(patterns.rows).toEqual(
    ['acme', 'beta'].flatMap((tenant_id) => [
      { tenant_id, position: 1, tail: 'ed twice', pattern: 'charged twice' },
      { tenant_id, position: 2, tail: 'fees', pattern: 'fees' },
    ]),
  )
  expect(calls.rows).toEqual(
    ['acme', 'beta'].map((tenant_id) => ({
      tenant_id,
      called_key: 'CALLED',
      version_id: 'active',
    })),
  )
  expect(unforced.rows).toEqual([])
}, 60_000)
