import type { RawClient, TestDatabase } from './database.ts'

/** Runs statements as the superuser, with every trigger off: what nobody is held back from by the database. */
export async function asSuperuser<T>(
  db: TestDatabase,
  run: (client: RawClient) => Promise<T>,
): Promise<T> {
  return db.asOwner('default', async (client) => {
    await client.query('SET ROLE NONE')
    await client.query('SET session_replication_role = replica')
    try {
      return await run(client)
    } finally {
      await client.query('RESET session_replication_role')
    }
  })
}

/** Takes every check and key off the tables, as somebody would who wants to change what they hold. */
export async function dropChecks(db: TestDatabase): Promise<void> {
  await asSuperuser(db, (client) =>
    client.query(`DO $$ DECLARE c record; BEGIN
      FOR c IN SELECT conrelid::regclass AS name, conname FROM pg_constraint
        WHERE contype IN ('c', 'f', 'u', 'p') AND connamespace = 'public'::regnamespace
        ORDER BY contype <> 'f'
      LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.name, c.conname); END LOOP;
      FOR c IN SELECT indexrelid::regclass AS name FROM pg_index
        WHERE indisunique AND indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
      LOOP EXECUTE format('DROP INDEX %s', c.name); END LOOP;
    END $$`),
  )
}

/** Another value of a column's type, as SQL, made from the one that is there: one byte of it, where that can be. */
export function otherValue(column: string, type: string): string {
  const c = `"${column}"`
  switch (type) {
    case 'text':
      return `CASE WHEN coalesce(${c}, '') = '' THEN 'x' ELSE left(${c}, -1) || CASE WHEN right(${c}, 1) = '0' THEN '1' ELSE '0' END END`
    case 'int4':
    case 'int8':
      return `coalesce(${c}, 0) + 1`
    case 'bool':
      return `NOT ${c}`
    case 'timestamptz':
      return `coalesce(${c}, '2026-01-01Z') + interval '1 millisecond'`
    case 'jsonb':
      return `CASE jsonb_typeof(${c}) WHEN 'object' THEN ${c} || '{"x": 1}' WHEN 'array' THEN ${c} || '[1]' ELSE '"x"' END`
    case '_text':
      return `array_append(${c}, 'x')`
    default:
      throw new Error(`no other value is known for ${type}`)
  }
}

/** The columns that a statement can set, with their types. */
export async function listColumns(
  db: TestDatabase,
  table: string,
): Promise<readonly { readonly column: string; readonly type: string }[]> {
  return asSuperuser(db, async (client) => {
    const { rows } = await client.query<{ column: string; type: string }>(
      `SELECT column_name AS "column", udt_name AS type FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER' AND is_identity = 'NO'
       ORDER BY ordinal_position`,
      [table],
    )
    return rows
  })
}

/** Replaces rows, and answers how to put them back. `where` names them before and after. */
export async function tamper(
  db: TestDatabase,
  table: string,
  change: (client: RawClient) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const copy = `kept_${table}`
  await asSuperuser(db, async (client) => {
    await client.query(`CREATE TABLE IF NOT EXISTS ${copy} AS SELECT * FROM ${table}`)
    await change(client)
  })
  return () =>
    asSuperuser(db, async (client) => {
      const { rows } = await client.query<{ columns: string }>(
        `SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
         WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER'`,
        [table],
      )
      const columns = rows[0]?.columns
      await client.query(`DELETE FROM ${table}`)
      await client.query(
        `INSERT INTO ${table} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM ${copy}`,
      )
      await client.query(`DROP TABLE ${copy}`)
    })
}
