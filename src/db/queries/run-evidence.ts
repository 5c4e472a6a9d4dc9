import { sql } from 'kysely'
import type { AuditEvent } from '../../domain/audit.ts'
import type { Checkpoint } from '../../domain/checkpoint.ts'
import type { RecordLine, RowLine, SealLine } from '../../domain/evidence.ts'
import { merklePath } from '../../domain/merkle.ts'
import type { Db } from '../connect.ts'
import { listCheckpoints } from './checkpoints.ts'
import { listRecordLines, listSealedRecords, toAuditEvent } from './evidence.ts'
import { listScenarioRows, toRecordRow } from './recorded-rows.ts'

/** What one run was started from: the contracts, the version, its reviews, and when it served. */
export interface RunOrigin {
  readonly rows: readonly RowLine[]
  /** The versions whose events say how these rows came to be. */
  readonly versionIds: readonly string[]
}

/** The rows that a run of a version rests on. `asOf` is the end of the chain that they are to agree with. */
export async function findRunOrigin(db: Db, versionId: string, asOf: number): Promise<RunOrigin> {
  const version = await db
    .selectFrom('procedure_versions')
    .selectAll()
    .where('id', '=', versionId)
    .executeTakeFirst()
  if (version === undefined) return { rows: [], versionIds: [] }
  const hashes = Object.values(Object(version.tool_contracts)).map(String)
  const contracts =
    hashes.length === 0
      ? []
      : await db
          .selectFrom('tool_contracts')
          .select(['hash', 'name', 'contract'])
          .where('hash', 'in', hashes)
          .orderBy('hash')
          .execute()
  const times = await db
    .selectFrom('activations')
    .selectAll()
    .where('procedure_id', '=', version.procedure_id)
    .where('version_id', '=', versionId)
    .orderBy('active_from')
    .execute()
  const ends = times.flatMap(({ active_until: end }) => (end === null ? [] : [end]))
  // What took over closed the time of service by its own event.
  const successors =
    ends.length === 0
      ? []
      : await db
          .selectFrom('activations')
          .select('version_id')
          .where('procedure_id', '=', version.procedure_id)
          .where('active_from', 'in', ends)
          .execute()
  const reviews = await db
    .selectFrom('reviews')
    .selectAll()
    .where('procedure_id', '=', version.procedure_id)
    .where((eb) =>
      eb.or([
        eb('version_id', '=', versionId),
        ...(version.approval_digest === null ? [] : [eb('digest', '=', version.approval_digest)]),
      ]),
    )
    .orderBy('id')
    .execute()
  const scenarios = [...((await listScenarioRows(db, [versionId])).get(versionId) ?? [])]
  const line = { kind: 'row', asOf } as const
  return {
    rows: [
      ...contracts.map((row) => ({ ...line, table: 'tool_contracts' as const, row })),
      {
        ...line,
        table: 'procedure_versions',
        row: toRecordRow('procedure_versions', version),
        scenarios,
      },
      ...reviews.map((row) => ({
        ...line,
        table: 'reviews' as const,
        row: toRecordRow('reviews', row),
      })),
      ...times.map((row) => ({
        ...line,
        table: 'activations' as const,
        row: toRecordRow('activations', row),
      })),
    ],
    versionIds: [versionId, ...[...successors, ...reviews].map((row) => row.version_id)],
  }
}

/** The seals that a run is in, each with the record of the run alone and its path; empty for one that is not sealed. */
export async function listRunSeals(
  db: Db,
  executionId: string,
): Promise<readonly (readonly [SealLine, RecordLine])[]> {
  const records = await db
    .selectFrom('sealed_records')
    .selectAll()
    .where('execution_id', '=', executionId)
    .orderBy('seal_number')
    .execute()
  const pairs: (readonly [SealLine, RecordLine])[] = []
  for (const record of records) {
    const seal = await db
      .selectFrom('seals')
      .selectAll()
      .where('number', '=', record.seal_number)
      .executeTakeFirst()
    const [line] = await listRecordLines(db, [record], false)
    if (seal === undefined || line === undefined) continue
    const leaves = (await listSealedRecords(db, seal.number)).map((each) => each.leaf_hash)
    pairs.push([
      {
        kind: 'seal',
        number: seal.number,
        recordVersion: seal.record_version,
        count: seal.record_count,
        root: seal.root,
        first: seal.first_id,
        last: seal.last_id,
      },
      { ...line, path: [...merklePath(leaves, record.position)] },
    ])
  }
  return pairs
}

/** The numbers of the events about some versions, seals and one execution, ascending. */
export async function listEventNumbers(
  db: Db,
  about: {
    readonly versionIds: readonly string[]
    readonly sealNumbers: readonly number[]
    readonly executionId: string
  },
): Promise<readonly number[]> {
  const of = [
    ['version', about.versionIds],
    ['seal', about.sealNumbers.map(String)],
    ['execution', [about.executionId]],
  ] as const
  const rows = await db
    .selectFrom('audit_events')
    .select('seq')
    .where((eb) =>
      eb.or(
        of
          .filter(([, ids]) => ids.length > 0)
          .map(([kind, ids]) =>
            eb.and([eb('entity_kind', '=', kind), eb('entity_id', 'in', [...ids])]),
          ),
      ),
    )
    .orderBy('seq')
    .execute()
  return rows.map(({ seq }) => seq)
}

/** The first checkpoint at an event or behind it. */
export async function findAnchor(db: Db, seq: number): Promise<Checkpoint | undefined> {
  const [checkpoint] = await listCheckpoints(db, { after: seq - 1, limit: 1 })
  return checkpoint
}

/** The events from one to another, both included. */
export async function listStretch(
  db: Db,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly AuditEvent[]> {
  const rows = await db
    .selectFrom('audit_events')
    .selectAll()
    .where(sql<boolean>`seq BETWEEN ${from} AND ${to}`)
    .orderBy('seq')
    .execute()
  return rows.map(toAuditEvent)
}
