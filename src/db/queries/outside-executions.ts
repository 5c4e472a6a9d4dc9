import { sql } from 'kysely'
import { canonicalJson } from '../../domain/canonical.ts'
import type { Id } from '../../domain/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import type { RecordCounts } from '../../domain/track-record.ts'
import type { Db, Transaction } from '../connect.ts'

/** A run that was made elsewhere. */
export interface OutsideExecution {
  readonly id: Id<'outside'>
  readonly versionId: Id<'version'>
  readonly success: boolean
  readonly durationMs: number
  readonly note: string | null
  readonly recordedBy: Principal
  readonly recordedAt: Date
  readonly idempotencyKey: string | null
  readonly requestHash: string | null
}

/** Whether it was stored: its key may be taken. */
export async function insertOutsideExecution(
  db: Db,
  tenantId: string,
  told: OutsideExecution,
): Promise<boolean> {
  const result = await db
    .insertInto('outside_executions')
    .values({
      tenant_id: tenantId,
      id: told.id,
      version_id: told.versionId,
      success: told.success,
      duration_ms: told.durationMs,
      note: told.note,
      recorded_by: canonicalJson(told.recordedBy),
      recorded_at: told.recordedAt,
      idempotency_key: told.idempotencyKey,
      request_hash: told.requestHash,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'idempotency_key'])
        .where('idempotency_key', 'is not', null)
        .doNothing(),
    )
    .executeTakeFirst()
  return result.numInsertedOrUpdatedRows === 1n
}

/** What a key stands for already. */
export async function findOutsideByKey(
  db: Db,
  idempotencyKey: string,
): Promise<{ readonly id: Id<'outside'>; readonly requestHash: string | null } | undefined> {
  const row = await db
    .selectFrom('outside_executions')
    .select(['id', 'request_hash'])
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirst()
  return row && { id: row.id as Id<'outside'>, requestHash: row.request_hash }
}

/** What was told of the newest runs of each version, at most `most` of them; a version without one is not there. */
export async function listOutsideRuns(
  db: Db,
  versionIds: readonly Id<'version'>[],
  most: number,
): Promise<ReadonlyMap<string, RecordCounts>> {
  const { rows } = await sql<{
    version_id: string
    runs: number
    successes: number
    total_ms: number
  }>`
    SELECT v.id AS version_id, count(*)::integer AS runs, (count(*) FILTER (WHERE o.success))::integer AS successes,
      sum(o.duration_ms)::float8 AS total_ms
    FROM unnest(${sql.val([...versionIds])}::text[]) AS v (id)
    CROSS JOIN LATERAL (
      SELECT success, duration_ms FROM outside_executions
      WHERE version_id = v.id COLLATE "C" ORDER BY id DESC LIMIT ${most}
    ) o
    GROUP BY v.id`.execute(db)
  return new Map(
    rows.map((row) => [
      row.version_id,
      {
        executionCount: row.runs,
        successCount: row.successes,
        totalDurationMs: row.total_ms,
      },
    ]),
  )
}

/** The notes that hold a text, whatever stands around it. */
export async function listNotesWith(
  db: Db,
  text: string,
): Promise<readonly { readonly id: Id<'outside'>; readonly note: string }[]> {
  const rows = await db
    .selectFrom('outside_executions')
    .select(['id', 'note'])
    .where('note', 'is not', null)
    .where(sql<boolean>`strpos(note, ${text}) > 0`)
    .execute()
  return rows.flatMap(({ id, note }) => (note === null ? [] : [{ id: id as Id<'outside'>, note }]))
}

/** Takes notes away. What was told besides stays: it is about no customer. */
export async function clearNotes(
  transaction: Transaction,
  ids: readonly Id<'outside'>[],
): Promise<void> {
  if (ids.length === 0) return
  await transaction
    .updateTable('outside_executions')
    .set({ note: null })
    .where('id', 'in', ids)
    .execute()
}

/** Takes the notes away that were written before. */
export async function clearNotesBefore(db: Db, before: Date): Promise<void> {
  await db
    .updateTable('outside_executions')
    .set({ note: null })
    .where('note', 'is not', null)
    .where('recorded_at', '<', before)
    .execute()
}
