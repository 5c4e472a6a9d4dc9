import { sql } from 'kysely'
import type { Database, Db, Transaction } from '../connect.ts'

/** How far the runs of a tenant were looked at for sealing. */
export interface SealCursor {
  readonly walkedTo: string
  readonly repliesFrom: string
}

/** The tenants that may have runs to seal, in the order of their ids. */
export async function listTenantsToSeal(database: Database): Promise<readonly string[]> {
  const rows = await database.system.query<{ id: string }>(
    'tenants_to_seal',
    'SELECT id FROM tenants_to_seal() AS names (id)',
    [],
  )
  return rows.map(({ id }) => id)
}

/** Takes the sealing of a tenant until the transaction ends; undefined when somebody has it. */
export async function lockSealing(
  transaction: Transaction,
  tenantId: string,
): Promise<SealCursor | undefined> {
  await transaction
    .insertInto('seal_cursors')
    .values({ tenant_id: tenantId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const row = await transaction
    .selectFrom('seal_cursors')
    .select(['walked_to', 'replies_from'])
    .where('tenant_id', '=', tenantId)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row && { walkedTo: row.walked_to, repliesFrom: row.replies_from }
}

/** What of runs may be sealed now. */
export interface Sealable {
  /** Only behind this id. */
  readonly after: string
  /** A run without a reply only when it ended before this. */
  readonly endedBefore: Date
  readonly limit: number
  /** Only of these. */
  readonly among?: readonly string[] | undefined
}

/** Runs that may be sealed, by id: those behind the cursor. */
export async function listSealable(db: Db, sealable: Sealable): Promise<readonly string[]> {
  const rows = await readyRuns(db, sealable).execute()
  return rows.map(({ id }) => id)
}

/** The same of those that were put aside when the cursor passed them. */
export async function listWaitingSealable(
  db: Db,
  sealable: Omit<Sealable, 'after'>,
): Promise<readonly string[]> {
  const rows = await readyRuns(db, { ...sealable, after: '' })
    .innerJoin('seal_waiting as w', (join) =>
      join.onRef('w.tenant_id', '=', 'e.tenant_id').onRef('w.execution_id', '=', 'e.id'),
    )
    .execute()
  return rows.map(({ id }) => id)
}

function readyRuns(db: Db, { after, endedBefore, limit, among }: Sealable) {
  const ready = db
    .selectFrom('executions as e')
    .leftJoin('replies as r', (join) =>
      join.onRef('r.tenant_id', '=', 'e.tenant_id').onRef('r.execution_id', '=', 'e.id'),
    )
    .select('e.id')
    .where('e.id', '>', after)
    .where('e.ended_at', 'is not', null)
    .where((eb) =>
      eb.or([eb('r.execution_id', 'is not', null), eb('e.ended_at', '<', endedBefore)]),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('sealed_records as s')
            .whereRef('s.tenant_id', '=', 'e.tenant_id')
            .whereRef('s.execution_id', '=', 'e.id')
            .where('s.kind', '=', 'run'),
        ),
      ),
    )
    .orderBy('e.id')
    .limit(limit)
  return among === undefined ? ready : ready.where('e.id', 'in', among)
}

/**
 * Of the runs that were sealed without a reply the next `limit` behind `after`, and of these the ones that have got one
 * since. `last` is null at the end of the round.
 */
export async function listLateReplies(
  db: Db,
  after: string,
  limit: number,
): Promise<{ readonly ids: readonly string[]; readonly last: string | null }> {
  const rows = await unanswered(db)
    .where('s.execution_id', '>', after)
    .orderBy('s.execution_id')
    .limit(limit)
    .execute()
  const last = rows.length < limit ? null : (rows.at(-1)?.execution_id ?? null)
  const late = rows.filter(({ replied, done }) => replied !== null && done === null)
  return { ids: late.map((row) => row.execution_id), last }
}

/** The first of all that have got one since. It looks at every run that was sealed without. */
export async function listAllLateReplies(db: Db, limit: number): Promise<readonly string[]> {
  const rows = await unanswered(db)
    .where('r.execution_id', 'is not', null)
    .where('sealed.execution_id', 'is', null)
    .orderBy('s.execution_id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.execution_id)
}

function unanswered(db: Db) {
  return db
    .selectFrom('sealed_records as s')
    .leftJoin('replies as r', (join) =>
      join.onRef('r.tenant_id', '=', 's.tenant_id').onRef('r.execution_id', '=', 's.execution_id'),
    )
    .leftJoin('sealed_records as sealed', (join) =>
      join
        .onRef('sealed.tenant_id', '=', 's.tenant_id')
        .onRef('sealed.execution_id', '=', 's.execution_id')
        .on('sealed.kind', '=', 'reply'),
    )
    .select(['s.execution_id', 'r.execution_id as replied', 'sealed.execution_id as done'])
    .where('s.kind', '=', 'run')
    .where('s.has_reply', '=', false)
}

/** A record as it is sealed. */
export interface NewSealedRecord {
  readonly executionId: string
  readonly kind: 'run' | 'reply'
  readonly leaf: string
  readonly hasReply: boolean
  /** New with the record of a run. */
  readonly salt?: string
}

/** A seal as it is stored and told. */
export interface Seal {
  readonly number: number
  readonly recordVersion: number
  readonly count: number
  readonly root: string
  readonly first: string
  readonly last: string
}

/** The number of the next seal. The caller holds the sealing of the tenant. */
export async function findNextSealNumber(transaction: Transaction): Promise<number> {
  const row = await transaction
    .selectFrom('seals')
    .select('number')
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return (row?.number ?? 0) + 1
}

/** Stores a seal with its records, in their order. */
export async function insertSeal(
  transaction: Transaction,
  tenantId: string,
  seal: Seal,
  records: readonly NewSealedRecord[],
): Promise<void> {
  await transaction
    .insertInto('seals')
    .values({
      tenant_id: tenantId,
      number: seal.number,
      record_version: seal.recordVersion,
      record_count: seal.count,
      root: seal.root,
      first_id: seal.first,
      last_id: seal.last,
    })
    .execute()
  await transaction
    .insertInto('sealed_records')
    .values(
      records.map(({ executionId, kind, leaf, hasReply }, position) => ({
        tenant_id: tenantId,
        execution_id: executionId,
        kind,
        seal_number: seal.number,
        position,
        leaf_hash: leaf,
        has_reply: hasReply,
      })),
    )
    .execute()
  const salted = records.flatMap(({ executionId, salt }) =>
    salt === undefined ? [] : [{ tenant_id: tenantId, execution_id: executionId, salt }],
  )
  if (salted.length > 0) await transaction.insertInto('record_salts').values(salted).execute()
}

/**
 * Moves the cursor of a tenant over at most `limit` runs up to `upTo`: what it passes and is not sealed is put aside, and
 * what was put aside and is sealed now is forgotten.
 */
export async function walkOn(
  transaction: Transaction,
  tenantId: string,
  { walkedTo, repliesFrom, upTo, limit }: SealCursor & { upTo: string; limit: number },
): Promise<void> {
  await sql`
    WITH passed AS (
      SELECT e.id FROM executions e
      WHERE e.tenant_id = ${tenantId} AND e.id > ${walkedTo} AND e.id <= ${upTo}
      ORDER BY e.id LIMIT ${limit}
    ), aside AS (
      INSERT INTO seal_waiting (tenant_id, execution_id)
      SELECT ${tenantId}, p.id FROM passed p
      WHERE NOT EXISTS (
        SELECT FROM sealed_records s
        WHERE s.tenant_id = ${tenantId} AND s.execution_id = p.id AND s.kind = 'run')
      ON CONFLICT DO NOTHING
    )
    UPDATE seal_cursors
    SET walked_to = coalesce((SELECT max(p.id) FROM passed p), walked_to), replies_from = ${repliesFrom}
    WHERE tenant_id = ${tenantId}`.execute(transaction)
  await sql`
    DELETE FROM seal_waiting w USING sealed_records s
    WHERE w.tenant_id = ${tenantId} AND s.tenant_id = w.tenant_id AND s.execution_id = w.execution_id
      AND s.kind = 'run'`.execute(transaction)
}

/** How many runs have ended and are in no seal up to a number. It looks at all runs. */
export async function countUnsealed(db: Db, upTo: number): Promise<number> {
  const row = await db
    .selectFrom('executions as e')
    .leftJoin('sealed_records as s', (join) =>
      join
        .onRef('s.tenant_id', '=', 'e.tenant_id')
        .onRef('s.execution_id', '=', 'e.id')
        .on('s.kind', '=', 'run')
        .on('s.seal_number', '<=', upTo),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('e.ended_at', 'is not', null)
    .where('s.execution_id', 'is', null)
    .executeTakeFirstOrThrow()
  return row.count
}
