import type { Id } from '../../domain/ids.ts'
import type { Db, Transaction } from '../connect.ts'

/** The lasting identity of a playbook, with what its list shows of it. */
export interface Procedure {
  readonly id: Id<'procedure'>
  readonly key: string
  /** The highest number that was ever given to a version of it. */
  readonly latestVersionNumber: number
  readonly createdAt: Date
}

/** A procedure as a list shows it: the active version's name, or else the newest version's. */
export interface ProcedureListItem extends Procedure {
  readonly name: string
  readonly category: string
  readonly activeVersionNumber: number | null
  readonly draftCount: number
  /** When a person is to look whether the active version still holds; null for never. */
  readonly reviewBy: Date | null
}

export async function findProcedure(db: Db, key: string): Promise<Procedure | undefined> {
  const row = await db
    .selectFrom('procedures')
    .selectAll()
    .where('key', '=', key)
    .executeTakeFirst()
  return row && toProcedure(row)
}

/** The keys of all procedures of the tenant, in order. */
export async function listProcedureKeys(db: Db): Promise<readonly string[]> {
  const rows = await db.selectFrom('procedures').select('key').orderBy('key').execute()
  return rows.map(({ key }) => key)
}

/** Takes the procedure's lock: what changes which version is active waits here for what came first. */
export async function lockProcedure(
  transaction: Transaction,
  key: string,
): Promise<Procedure | undefined> {
  const row = await transaction
    .selectFrom('procedures')
    .selectAll()
    .where('key', '=', key)
    .forUpdate()
    .executeTakeFirst()
  return row && toProcedure(row)
}

/**
 * Keeps the procedures from changing which of their versions is active until the transaction ends. Those of others that
 * only keep them as well do not wait.
 */
export async function keepProcedures(
  transaction: Transaction,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return
  await transaction
    .selectFrom('procedures')
    .select('id')
    .where('key', 'in', keys)
    // In one order, so that two who keep the same ones never wait for each other.
    .orderBy('key')
    .forShare()
    .execute()
}

/** Makes the procedure, or answers false when its key is taken. */
export async function insertProcedure(
  transaction: Transaction,
  tenantId: string,
  procedure: Pick<Procedure, 'id' | 'key' | 'createdAt'>,
): Promise<boolean> {
  const row = await transaction
    .insertInto('procedures')
    .values({
      tenant_id: tenantId,
      id: procedure.id,
      key: procedure.key,
      latest_version_number: 1,
      created_at: procedure.createdAt,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'key']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Takes the next version number. Holds the procedure's lock until the transaction ends. */
export async function updateNextVersionNumber(
  transaction: Transaction,
  procedureId: Id<'procedure'>,
): Promise<number> {
  const row = await transaction
    .updateTable('procedures')
    .set((eb) => ({ latest_version_number: eb('latest_version_number', '+', 1) }))
    .where('id', '=', procedureId)
    .returning('latest_version_number')
    .executeTakeFirstOrThrow()
  return row.latest_version_number
}

/** A page of procedures by key. `after` is the last key of the page before. */
export async function listProcedures(
  db: Db,
  page: {
    readonly limit: number
    readonly after?: string
    /** Only those whose active version was to be looked at by this instant. */
    readonly reviewDueAt?: Date
  },
): Promise<readonly ProcedureListItem[]> {
  const rows = await db
    .selectFrom('procedures as p')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('procedure_versions as v')
          .select(({ fn }) => [
            fn.max('v.version_number').filterWhere('v.status', '=', 'active').as('active'),
            fn.countAll<number>().filterWhere('v.status', '=', 'draft').as('drafts'),
            fn.max('v.review_by').filterWhere('v.status', '=', 'active').as('review_by'),
          ])
          .whereRef('v.procedure_id', '=', 'p.id')
          .as('counts'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('procedure_versions as v')
          .select(['v.name', 'v.category'])
          .whereRef('v.procedure_id', '=', 'p.id')
          .orderBy((ob) => ob.eb('v.status', '=', 'active'), 'desc')
          .orderBy('v.version_number', 'desc')
          .limit(1)
          .as('shown'),
      (join) => join.onTrue(),
    )
    .selectAll('p')
    .select(['counts.active', 'counts.drafts', 'counts.review_by', 'shown.name', 'shown.category'])
    .$if(page.after !== undefined, (query) => query.where('p.key', '>', page.after ?? ''))
    .$if(page.reviewDueAt !== undefined, (query) =>
      query.where('counts.review_by', '<=', page.reviewDueAt ?? null),
    )
    .orderBy('p.key')
    .limit(page.limit)
    .execute()
  return rows.map((row) => ({
    ...toProcedure(row),
    name: row.name ?? row.key,
    category: row.category ?? 'general',
    activeVersionNumber: row.active,
    draftCount: Number(row.drafts),
    reviewBy: row.review_by,
  }))
}

function toProcedure(row: {
  readonly id: string
  readonly key: string
  readonly latest_version_number: number
  readonly created_at: Date
}): Procedure {
  return {
    // The database holds only ids that this service made.
    id: row.id as Id<'procedure'>,
    key: row.key,
    latestVersionNumber: row.latest_version_number,
    createdAt: row.created_at,
  }
}
