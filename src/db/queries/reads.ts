import { sql } from 'kysely'
import type { Db } from '../connect.ts'

/** A look at the last events about one thing, so that it costs the same however often that was read. */
const lookedAt = 200

/** Whether the audit log says of a principal that it has read something since then; among the last 200 events about it. */
export async function hasRecentRead(
  db: Db,
  read: {
    readonly action: string
    readonly entityKind: string
    readonly entityId: string
    readonly actorId: string
    readonly since: Date
    /** Canonical JSON of what it tells besides; left out: whatever that is. */
    readonly details?: string
  },
): Promise<boolean> {
  const { action, entityKind, entityId, actorId, since, details = null } = read
  const { rows } = await sql<{ found: boolean }>`
    SELECT EXISTS (
      SELECT FROM (
        SELECT action, actor_id, at, details FROM audit_events
        WHERE entity_kind = ${entityKind} AND entity_id = ${entityId}
        ORDER BY seq DESC LIMIT ${sql.lit(lookedAt)}
      ) last
      WHERE last.action = ${action} AND last.actor_id = ${actorId} AND last.at > ${since}
        AND (${details}::text IS NULL OR last.details = ${details})
    ) AS found`.execute(db)
  return rows[0]?.found ?? false
}
