import type pg from 'pg'
import { databaseRoles } from './roles.ts'

// Some 13,000 executions; a start after a crash reads this much in about a second.
const defaultMaxWalBytes = 64 * 1024 * 1024

/**
 * Does for PGlite what a server's background processes do: PGlite has none, so without this its log of changes would
 * grow for ever, and so would the time of the next start after a crash. Nothing is done before `maxWalBytes` of log
 * have been written since the last time. Answers whether anything was. Blocks all other queries while it works, for
 * about a second.
 *
 * `client` is PGlite's one session, outside a transaction.
 */
export async function keepUp(
  client: pg.ClientBase,
  maxWalBytes: number = defaultMaxWalBytes,
): Promise<boolean> {
  const { rows } = await client.query<{ due: boolean }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) >= $1 AS due FROM pg_control_checkpoint()`,
    [maxWalBytes],
  )
  if (rows[0]?.due !== true) return false
  // Both are the superuser's, who the session's login is.
  await client.query('RESET ROLE')
  try {
    await client.query('VACUUM (ANALYZE)')
    await client.query('CHECKPOINT')
  } finally {
    await client.query(`SET ROLE ${databaseRoles.app}`)
  }
  return true
}
