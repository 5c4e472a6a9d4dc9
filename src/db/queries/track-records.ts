import { sql } from 'kysely'
import type { Id } from '../../domain/ids.ts'
import type { RecordCounts } from '../../domain/track-record.ts'
import type { Db } from '../connect.ts'

/** How the runs of one version have ended. */
export interface VersionRuns extends RecordCounts {
  readonly versionId: Id<'version'>
  readonly declinedCount: number
  readonly cancelledCount: number
  readonly openCount: number
}

/**
 * How runs of a procedure have ended, by version, among the newest `window` executions of the tenant. They are read backwards
 * along the primary key, as a search reads them: nothing is written for it, and it costs the same whatever the history is.
 * A version without a run among them is not there.
 */
export async function listVersionRuns(
  db: Db,
  procedureId: Id<'procedure'>,
  window: number,
): Promise<readonly VersionRuns[]> {
  const counts = (condition: ReturnType<typeof sql>) =>
    sql<number>`count(*) FILTER (WHERE ${condition})`
  const isJudged = sql`outcome = 'resolved' OR status = 'escalated'`
  const rows = await db
    .selectFrom((newest) =>
      newest
        .selectFrom('executions')
        .select(['procedure_id', 'version_id', 'status', 'outcome'])
        .select(['created_at', 'started_at', 'ended_at'])
        .orderBy('id', 'desc')
        .limit(window)
        .as('recent'),
    )
    .where('procedure_id', '=', procedureId)
    .select('version_id')
    .select([
      counts(isJudged).as('judged'),
      counts(sql`outcome = 'resolved'`).as('resolved'),
      counts(sql`outcome = 'declined'`).as('declined'),
      counts(sql`status = 'cancelled'`).as('cancelled'),
      counts(sql`ended_at IS NULL`).as('open'),
      sql<number>`coalesce(sum(extract(epoch FROM ended_at - coalesce(started_at, created_at)) * 1000)
        FILTER (WHERE ${isJudged}), 0)::float8`.as('total_ms'),
    ])
    .groupBy('version_id')
    .execute()
  return rows.map((row) => ({
    versionId: row.version_id as Id<'version'>,
    executionCount: Number(row.judged),
    successCount: Number(row.resolved),
    declinedCount: Number(row.declined),
    cancelledCount: Number(row.cancelled),
    openCount: Number(row.open),
    totalDurationMs: row.total_ms,
  }))
}
