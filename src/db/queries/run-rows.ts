import type { Json } from '../../domain/json.ts'
import type { RecordRow, RunRows } from '../../domain/record.ts'
import type { Db } from '../connect.ts'
import { toRecordRow } from './recorded-rows.ts'

/**
 * All rows of some runs, by id of the execution; those that are not there are left out. Values that are kept apart come only
 * when `withApart`.
 */
export async function listRunRows(
  db: Db,
  ids: readonly string[],
  withApart: boolean,
): Promise<ReadonlyMap<string, RunRows>> {
  if (ids.length === 0) return new Map()
  const executions = await db.selectFrom('executions').selectAll().where('id', 'in', ids).execute()
  const steps = await db
    .selectFrom('step_executions')
    .selectAll()
    .where('execution_id', 'in', ids)
    .orderBy('execution_id')
    .orderBy('ordinal')
    .execute()
  const replies = await db
    .selectFrom('replies')
    .selectAll()
    .where('execution_id', 'in', ids)
    .execute()
  const escalations = await db
    .selectFrom('escalations')
    .selectAll()
    .where('execution_id', 'in', ids)
    .execute()
  const sensitive = await db
    .selectFrom('sensitive_values')
    .selectAll()
    .where('execution_id', 'in', ids)
    .orderBy('execution_id')
    .orderBy('ordinal')
    .orderBy('part')
    .orderBy('pointer')
    .execute()
  const stepsOf = group(steps.map((row) => [row.execution_id, toRecordRow('step_executions', row)]))
  const repliesOf = group(replies.map((row) => [row.execution_id, toRecordRow('replies', row)]))
  const escalationsOf = group(
    escalations.map((row) => [row.execution_id ?? '', toRecordRow('escalations', row)]),
  )
  const sensitiveOf = group(
    sensitive.map((row) => [
      row.execution_id,
      toRecordRow('sensitive_values', row, withApart ? ['salt', 'value'] : []),
    ]),
  )
  return new Map(
    executions.map((row) => [
      row.id,
      {
        execution: toRecordRow('executions', row),
        steps: stepsOf.get(row.id) ?? [],
        reply: repliesOf.get(row.id)?.[0] ?? null,
        escalation: escalationsOf.get(row.id)?.[0] ?? null,
        sensitive: sensitiveOf.get(row.id) ?? [],
      },
    ]),
  )
}

/** The replies to some runs, by id of the execution. */
export async function listReplyRows(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RecordRow>> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom('replies').selectAll().where('execution_id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.execution_id, toRecordRow('replies', row)]))
}

/** What stands for the personal columns of some runs. */
export interface RunConcealment {
  readonly salt: string | undefined
  /** Of a run that was erased. */
  readonly digests: Readonly<Record<string, string>> | undefined
  /** The number of the event that tells of the erasure. */
  readonly erasedBy: number | undefined
}

export async function listConcealments(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RunConcealment>> {
  if (ids.length === 0) return new Map()
  const salts = await db
    .selectFrom('record_salts')
    .select(['execution_id', 'salt'])
    .where('execution_id', 'in', ids)
    .execute()
  const erased = await db
    .selectFrom('erased_records as r')
    .leftJoin('audit_events as a', (join) =>
      join.onRef('a.tenant_id', '=', 'r.tenant_id').onRef('a.id', '=', 'r.event_id'),
    )
    .select(['r.execution_id', 'r.digests', 'a.seq'])
    .where('r.execution_id', 'in', ids)
    .execute()
  const saltOf = new Map(salts.map((row) => [row.execution_id, row.salt]))
  const erasedOf = new Map(erased.map((row) => [row.execution_id, row]))
  return new Map(
    ids.map((id) => {
      const row = erasedOf.get(id)
      const digests = row && textMembers(row.digests)
      return [id, { salt: saltOf.get(id), digests, erasedBy: row?.seq ?? undefined }] as const
    }),
  )
}

function textMembers(value: Json): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(Object(value)).map(([path, digest]) => [path, String(digest)]),
  )
}

function group<T>(pairs: readonly (readonly [string, T])[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const [key, value] of pairs) {
    const list = groups.get(key)
    if (list === undefined) groups.set(key, [value])
    else list.push(value)
  }
  return groups
}
