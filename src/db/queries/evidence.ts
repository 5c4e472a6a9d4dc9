import { type Selectable, sql } from 'kysely'
import type { AuditEvent, AuditHead } from '../../domain/audit.ts'
import type { RecordLine, RowLine, RowTable, SealLine } from '../../domain/evidence.ts'
import { type StateTable, stateColumns } from '../../domain/record-fields.ts'
import type { Db } from '../connect.ts'
import type { AuditEventsTable, SealedRecordsTable } from '../rows/audit.ts'
import { toJson, toRecordRow } from './recorded-rows.ts'
import { listConcealments, listReplyRows, listRunRows } from './run-rows.ts'

/** The end of the chain that a statement sees beside the rows that it reads. */
const headSeq = sql<number>`(SELECT coalesce(max(h.seq), 0) FROM audit_heads h)`

/** Behind which row a page begins, by the key of its table, and how long it is at most. */
interface RowPage {
  readonly after: string
  readonly limit: number
}

/** A page of the rows of a table, and behind which the next one begins; undefined after the last. */
export async function listRowLines(
  db: Db,
  table: RowTable,
  after: string,
): Promise<{ readonly lines: readonly RowLine[]; readonly next: string | undefined }> {
  // A version may have a megabyte.
  const limit = table === 'procedure_versions' ? 50 : 1_000
  const lines = await readers[table](db, { after, limit })
  const last = lines.at(-1)?.row
  const key = table === 'tool_contracts' ? last?.hash : last?.id
  return { lines, next: lines.length < limit ? undefined : String(key) }
}

const readers: Readonly<Record<RowTable, (db: Db, page: RowPage) => Promise<readonly RowLine[]>>> =
  {
    tool_contracts: listContractLines,
    procedure_versions: listVersionLines,
    reviews: listReviewLines,
    activations: listActivationLines,
    procedures: stateReader('procedures'),
    principals: stateReader('principals'),
    api_keys: stateReader('api_keys'),
    kill_switches: stateReader('kill_switches'),
    tenants: stateReader('tenants'),
    governance: stateReader('governance'),
  }

/** Contracts that versions pin, by hash. */
async function listContractLines(db: Db, { after, limit }: RowPage): Promise<readonly RowLine[]> {
  const rows = await db
    .selectFrom('tool_contracts')
    .select(['hash', 'name', 'contract', headSeq.as('as_of')])
    .where('hash', '>', after)
    .orderBy('hash')
    .limit(limit)
    .execute()
  return rows.map(({ as_of: asOf, ...row }) => ({
    kind: 'row',
    table: 'tool_contracts',
    asOf,
    row,
  }))
}

/** Reads the rows of a table that have no hash, by id; `governance` has one row, and no id. */
function stateReader(table: StateTable) {
  const columns: readonly string[] = stateColumns[table]
  const names = sql.join(columns.map((column) => sql.ref(column)))
  return async (db: Db, { after, limit }: RowPage): Promise<readonly RowLine[]> => {
    const isOne = !columns.includes('id')
    if (isOne && after !== '') return []
    const { rows } = await sql<Readonly<Record<string, unknown>> & { readonly as_of: number }>`
      SELECT ${names}, ${headSeq} AS as_of FROM ${sql.table(table)}
      ${isOne ? sql`` : sql`WHERE id > ${after} ORDER BY id`} LIMIT ${limit}`.execute(db)
    return rows.map(({ as_of: asOf, ...row }) => ({
      kind: 'row',
      table,
      asOf,
      row: Object.fromEntries(columns.map((column) => [column, toJson(row[column])])),
    }))
  }
}

/** Versions with their scenarios, by id. */
async function listVersionLines(db: Db, { after, limit }: RowPage): Promise<readonly RowLine[]> {
  const rows = await db
    .selectFrom('procedure_versions')
    .selectAll()
    .select(headSeq.as('as_of'))
    // Together with the row, so that no edit comes between the two.
    .select(
      sql<RowLine['scenarios']>`(
        SELECT jsonb_agg(jsonb_build_object('position', s.position, 'scenario', s.scenario) ORDER BY s.position)
        FROM scenarios s
        WHERE s.tenant_id = procedure_versions.tenant_id AND s.version_id = procedure_versions.id
      )`.as('scenarios'),
    )
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    kind: 'row',
    table: 'procedure_versions',
    asOf: row.as_of,
    row: toRecordRow('procedure_versions', row, ['status']),
    scenarios: row.scenarios ?? [],
  }))
}

/** Verdicts, by id. */
async function listReviewLines(db: Db, { after, limit }: RowPage): Promise<readonly RowLine[]> {
  const rows = await db
    .selectFrom('reviews')
    .selectAll()
    .select(headSeq.as('as_of'))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    kind: 'row',
    table: 'reviews',
    asOf: row.as_of,
    row: toRecordRow('reviews', row),
  }))
}

/** Times of service, by id. */
async function listActivationLines(db: Db, { after, limit }: RowPage): Promise<readonly RowLine[]> {
  const rows = await db
    .selectFrom('activations')
    .selectAll()
    .select(headSeq.as('as_of'))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    kind: 'row',
    table: 'activations',
    asOf: row.as_of,
    row: toRecordRow('activations', row),
  }))
}

/** Events behind one, and the end of the chain as the same statement sees it; undefined where it reads none. */
export async function listEventsWithHead(
  db: Db,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{ readonly events: readonly AuditEvent[]; readonly head: AuditHead | undefined }> {
  const rows = await db
    .selectFrom('audit_events')
    .selectAll()
    .select([
      headSeq.as('head_seq'),
      sql<string | null>`(SELECT h.hash FROM audit_heads h)`.as('head_hash'),
    ])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute()
  const [first] = rows
  return {
    events: rows.map(toAuditEvent),
    head: first && { seq: first.head_seq, hash: first.head_hash },
  }
}

export function toAuditEvent(row: Selectable<AuditEventsTable>): AuditEvent {
  return {
    tenantId: row.tenant_id,
    seq: row.seq,
    id: row.id,
    at: row.at.getTime(),
    actorId: row.actor_id,
    actorKind: row.actor_kind,
    actor: row.actor,
    action: row.action,
    entityKind: row.entity_kind,
    entityId: row.entity_id,
    beforeHash: row.before_hash,
    afterHash: row.after_hash,
    details: row.details,
    origin: row.origin,
    ungoverned: row.ungoverned,
    hashVersion: row.hash_version,
    prevHash: row.prev_hash,
    hash: row.hash,
  }
}

/** The first seal behind a number and up to another, with the records in it. */
export async function listSealLines(
  db: Db,
  { after, upTo }: { readonly after: number; readonly upTo: number },
  withApart: boolean,
): Promise<readonly (SealLine | RecordLine)[]> {
  const seal = await db
    .selectFrom('seals')
    .selectAll()
    .where('number', '>', after)
    .where('number', '<=', upTo)
    .orderBy('number')
    .limit(1)
    .executeTakeFirst()
  if (seal === undefined) return []
  const line: SealLine = {
    kind: 'seal',
    number: seal.number,
    recordVersion: seal.record_version,
    count: seal.record_count,
    root: seal.root,
    first: seal.first_id,
    last: seal.last_id,
  }
  return [line, ...(await listRecordLines(db, await listSealedRecords(db, seal.number), withApart))]
}

type SealedRecord = Selectable<SealedRecordsTable>

/** The records of a seal, by position. */
export async function listSealedRecords(db: Db, number: number): Promise<readonly SealedRecord[]> {
  return db
    .selectFrom('sealed_records')
    .selectAll()
    .where('seal_number', '=', number)
    .orderBy('position')
    .execute()
}

/** The lines of some records, with their rows. Values that are kept apart are in them only when `withApart`. */
export async function listRecordLines(
  db: Db,
  records: readonly SealedRecord[],
  withApart: boolean,
): Promise<readonly RecordLine[]> {
  const idsOf = (kind: SealedRecord['kind']) =>
    records.filter((record) => record.kind === kind).map((record) => record.execution_id)
  const runs = await listRunRows(db, idsOf('run'), withApart)
  const replies = await listReplyRows(db, idsOf('reply'))
  const concealments = await listConcealments(
    db,
    records.map((record) => record.execution_id),
  )
  return records.map((record) => {
    const executionId = record.execution_id
    const { salt, digests, erasedBy } = concealments.get(executionId) ?? {}
    const common = {
      kind: 'record' as const,
      seal: record.seal_number,
      position: record.position,
      of: record.kind,
      executionId,
      leaf: record.leaf_hash,
      ...(salt !== undefined && { salt }),
      ...(erasedBy !== undefined && { erasedBy }),
    }
    if (record.kind === 'reply') {
      return { ...common, ...(digests && { digests }), reply: replies.get(executionId) ?? null }
    }
    const rows = runs.get(executionId)
    if (rows === undefined) return { ...common, run: null }
    return {
      ...common,
      ...(digests && { digests }),
      run: {
        execution: rows.execution,
        steps: [...rows.steps],
        // One that came after the run was sealed has a record of its own.
        reply: record.has_reply ? rows.reply : null,
        escalation: rows.escalation,
        sensitive: [...rows.sensitive],
      },
    }
  })
}
