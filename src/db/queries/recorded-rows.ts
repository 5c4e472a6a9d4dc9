import type { Json } from '../../domain/json.ts'
import { actRecordHash, type RecordRow } from '../../domain/record.ts'
import { type ActTable, type CoveredTable, coveredColumns } from '../../domain/record-fields.ts'
import type { Db, Transaction } from '../connect.ts'
import type { NewAuditEvent } from './audit.ts'

/**
 * A row as it stands in records and in evidence: its covered columns and those of `also`, instants as text in UTC with
 * milliseconds.
 */
export function toRecordRow(
  table: CoveredTable,
  row: Readonly<Record<string, unknown>>,
  also: readonly string[] = [],
): RecordRow {
  const names = [...coveredColumns(table).map(([column]) => column), ...also]
  return Object.fromEntries(names.map((name) => [name, toJson(row[name])]))
}

/** A value as it stands in evidence. */
export function toJson(value: unknown): Json {
  if (value instanceof Date) return value.toISOString()
  // What the driver gives of the covered types is JSON.
  return (value ?? null) as Json
}

/**
 * The hashes of the rows that an act on a version has written, for the event of that act: of the version with its
 * scenarios, of a review that was given, and where the act opened or closed a time of service, of the two last of its
 * procedure. Undefined for an act of another kind, and for one that has left no row.
 */
export async function findRecordHashes(
  transaction: Transaction,
  { entityKind, entityId, action }: Pick<NewAuditEvent, 'entityKind' | 'entityId' | 'action'>,
): Promise<Readonly<Record<string, string>> | undefined> {
  if (entityKind !== 'version') return undefined
  const version = await transaction
    .selectFrom('procedure_versions')
    .selectAll()
    .where('id', '=', entityId)
    .executeTakeFirst()
  if (version === undefined) return undefined
  const scenarios = (await listScenarioRows(transaction, [version.id])).get(version.id) ?? []
  const hashes = new Map<string, string>()
  const hash = hashOfRow('procedure_versions', version, { scenarios })
  hashes.set(`procedure_versions/${version.id}`, hash)
  if (action === 'version.reviewed') {
    const review = await transaction
      .selectFrom('reviews')
      .selectAll()
      .where('version_id', '=', version.id)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    hashes.set(`reviews/${review.id}`, hashOfRow('reviews', review))
  }
  if (action === 'version.activated' || action === 'version.deprecated') {
    const times = await transaction
      .selectFrom('activations')
      .selectAll()
      .where('procedure_id', '=', version.procedure_id)
      .orderBy('active_from', 'desc')
      .limit(2)
      .execute()
    for (const row of times) hashes.set(`activations/${row.id}`, hashOfRow('activations', row))
  }
  return Object.fromEntries(hashes)
}

function hashOfRow(
  table: ActTable,
  row: Readonly<Record<string, unknown>>,
  extra: RecordRow = {},
): string {
  return actRecordHash(table, toRecordRow(table, row), extra)
}

/** The scenarios of some versions, by version, in their order. */
export async function listScenarioRows(
  db: Db,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Json[]>> {
  const byVersion = new Map<string, Json[]>()
  if (versionIds.length === 0) return byVersion
  const rows = await db
    .selectFrom('scenarios')
    .select(['version_id', 'position', 'scenario'])
    .where('version_id', 'in', versionIds)
    .orderBy('version_id')
    .orderBy('position')
    .execute()
  for (const { version_id: id, position, scenario } of rows) {
    const list = byVersion.get(id) ?? []
    list.push({ position, scenario })
    byVersion.set(id, list)
  }
  return byVersion
}
