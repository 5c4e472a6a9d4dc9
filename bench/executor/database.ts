import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrateDatabase } from '../../src/db/connect.ts'
import { createRawTables } from './raw-b.ts'

/** A database that the bench has for itself, migrated, with the tables of both sides. Disposing drops it. */
export interface BenchDatabase extends AsyncDisposable {
  readonly url: string
  readonly serverVersion: string
  /** Runs a statement as the superuser; all calls share one session. */
  query(text: string, values: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  /** What transactions of this database write to the write-ahead log while something runs. */
  walOf(run: () => Promise<void>): Promise<WalUse>
}

export interface WalUse {
  /** Transactions that wrote. */
  readonly commits: number
  /** Without full-page images, which depend on when the last checkpoint was. */
  readonly bytes: number
}

/** Makes the database on the server of `serverUrl`, a superuser's: reading the log back takes one. */
export async function createBenchDatabase(serverUrl: string): Promise<BenchDatabase> {
  const name = `stepwarden_bench_${process.pid}_${randomBytes(4).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const server = await connect(serverUrl)
  let admin: pg.Client | undefined
  const dispose = async (): Promise<void> => {
    await admin?.end()
    await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    await server.end()
  }
  try {
    await server.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
    await migrateDatabase({ url: url.href, requiredApprovals: 0 })
    const client = await connect(url.href)
    admin = client
    await createRawTables(client)
    await client.query('CREATE EXTENSION pg_walinspect')
    await client.query(stopAutovacuum)
    const { rows } = await client.query<{ oid: string; version: string }>(
      `SELECT oid::text, split_part(current_setting('server_version'), ' ', 1) AS version
       FROM pg_database WHERE datname = current_database()`,
    )
    const { oid, version } = only(rows)
    return {
      url: url.href,
      serverVersion: version,
      query: async (text, values) => (await client.query(text, [...values])).rows,
      async walOf(run) {
        // A checkpoint of anybody on the server would take old parts of the log away; a slot keeps them until they are read.
        await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [name])
        try {
          const from = await walPosition(client)
          await run()
          const use = await client.query<WalUse>(walUse, [from, await walPosition(client), oid])
          return only(use.rows)
        } finally {
          await client.query('SELECT pg_drop_replication_slot($1)', [name])
        }
      },
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

// When it comes is chance, and it writes to the log as well: in a short run it would be most of the difference.
const stopAutovacuum = `
  DO $$
  DECLARE name text;
  BEGIN
    FOR name IN SELECT oid::regclass FROM pg_class
      WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, 'raw_b'::regnamespace)
    LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', name); END LOOP;
  END $$`

// A record names its database only where it touches a block, so a commit is found by its transaction. Records outside
// any transaction (pruning) count when they touch a table of this database. Others that use the server are left out,
// and so is upkeep of the catalogs, whose files have numbers below 16384.
const walUse = `
  WITH records AS MATERIALIZED (
    SELECT xid::text AS transaction, record_length - fpi_length AS bytes,
      resource_manager = 'Transaction' AND record_type LIKE 'COMMIT%' AS is_commit,
      coalesce(substring(block_ref FROM '/' || $3 || '/([0-9]+)')::bigint >= 16384, false) AS is_ours
    FROM pg_get_wal_records_info($1, $2)
  ), ours AS (
    SELECT DISTINCT transaction FROM records WHERE is_ours AND transaction <> '0'
  )
  SELECT coalesce(sum(bytes), 0)::float8 AS bytes, (count(*) FILTER (WHERE is_commit))::float8 AS commits
  FROM records WHERE transaction IN (SELECT transaction FROM ours) OR (transaction = '0' AND is_ours)`

async function walPosition(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ lsn: string }>(
    'SELECT pg_current_wal_flush_lsn()::text AS lsn',
  )
  return only(rows).lsn
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  // A connection that the server ends rejects the next query; without a listener it would end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}

function only<T>(rows: readonly T[]): T {
  const [row] = rows
  if (row === undefined) throw new TypeError('the query answers one row')
  return row
}
