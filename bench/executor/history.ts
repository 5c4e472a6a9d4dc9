import type { BenchDatabase } from './database.ts'

/** Small enough to show that it goes on, large enough that the database is not kept waiting. */
const batchSize = 50_000

/**
 * Fills the tables with finished executions, as copies of the one that finished last, with ids and instants of the
 * past, a second apart. What is measured afterwards meets tables and indexes of their later size.
 */
export async function fillHistory(
  database: Pick<BenchDatabase, 'query'>,
  count: number,
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<void> {
  const { query } = database
  // Triggers refuse what starts as finished, and would take most of the time.
  await query('SET session_replication_role = replica', [])
  await query(idFunction, [])
  const [last] = await query(
    `SELECT id FROM executions WHERE status = 'completed' AND tenant_id = 'default' ORDER BY id DESC LIMIT 1`,
    [],
  )
  const copies = [
    await copyOf(database, 'executions', 'id'),
    await copyOf(database, 'step_executions', 'execution_id'),
  ]
  const now = Date.now()
  // The oldest come first, as they did.
  for (let left = count; left > 0; left -= batchSize) {
    signal.throwIfAborted()
    const to = Math.max(left - batchSize, 0)
    for (const copy of copies) await query(copy, [last?.id, now, left, to + 1])
    progress(`history: ${count - to} of ${count} executions`)
  }
  await query('SET session_replication_role = DEFAULT', [])
  await query('VACUUM (ANALYZE) executions, step_executions', [])
  await query('CHECKPOINT', [])
}

/** An id of the form of ours, whose time lies some seconds back. */
const idFunction = `
  CREATE FUNCTION pg_temp.past_id(now bigint, seconds bigint) RETURNS text LANGUAGE sql AS $$
    SELECT 'exec_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', digit, 1), '' ORDER BY place)
      || substr(md5(seconds::text), 1, 12)
    FROM (
      SELECT place, 1 + (((now - seconds * 1000) >> (5 * (8 - place))) & 31)::int AS digit
      FROM generate_series(0, 8) AS place
    ) AS digits
  $$`

/** The statement that copies the rows of execution $1 for each second from $3 to $4 before $2, whatever the columns are. */
async function copyOf(
  database: Pick<BenchDatabase, 'query'>,
  table: string,
  idColumn: string,
): Promise<string> {
  const columns = await database.query(
    `SELECT column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position`,
    [table],
  )
  const values = columns.map(({ name, type }) => {
    if (name === idColumn) return 'past.id'
    return type === 'timestamp with time zone' ? `t.${name} - past.ago` : `t.${name}`
  })
  return `
    INSERT INTO ${table} (${columns.map(({ name }) => name).join(', ')})
    SELECT ${values.join(', ')}
    FROM (
      SELECT pg_temp.past_id($2, seconds) AS id, make_interval(secs => seconds) AS ago
      FROM generate_series($3::bigint, $4::bigint, -1) AS seconds
    ) AS past CROSS JOIN ${table} t
    WHERE t.tenant_id = 'default' AND t.${idColumn} = $1`
}
