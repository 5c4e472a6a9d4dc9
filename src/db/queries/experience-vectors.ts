import { type RawBuilder, sql } from 'kysely'
import type { Id } from '../../domain/ids.ts'
import type { Database, Db, Transaction } from '../connect.ts'
import { vectorText } from './embeddings.ts'

/** What has to be embedded, and how it is told from others. */
export interface ToEmbed {
  readonly id: Id<'experience'>
  readonly situation: string
  readonly situationHash: string
}

/** The first experiences that do not have just the needed vectors, by id; `among`: only of these. */
export async function listUnembedded(
  db: Db,
  needed: string,
  limit: number,
  among?: readonly string[],
): Promise<readonly ToEmbed[]> {
  const some = (side: '<' | '>') => {
    const query = db
      .selectFrom('experiences')
      .select(['id', 'situation', 'situation_hash'])
      .where('embedded_with', side, needed)
    return among === undefined ? query : query.where(sql<boolean>`id = ANY (${among})`)
  }
  // Two ranges of an index: it knows no other way to what is unlike.
  const rows = []
  for (const side of ['<', '>'] as const) {
    if (rows.length >= limit) break
    rows.push(
      ...(await some(side)
        .limit(limit - rows.length)
        .execute()),
    )
  }
  return rows.map((row) => ({
    id: row.id as Id<'experience'>,
    situation: row.situation,
    situationHash: row.situation_hash,
  }))
}

/** Which of some experiences have a vector of which model: `id model`. */
export async function listVectorsOf(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('experience_embeddings')
    .select(['experience_id', 'model'])
    .where(sql<boolean>`experience_id = ANY (${ids})`)
    .execute()
  return new Set(rows.map(({ experience_id: id, model }) => `${id} ${model}`))
}

/** The vectors of an experience, of one model or more. */
export interface ExperienceVectors {
  readonly id: Id<'experience'>
  readonly situationHash: string
  readonly vectors: readonly { readonly model: string; readonly vector: Float32Array }[]
}

/** How many of those that were met in the same way are compared: the newest. */
const comparedAtMost = 2_000

/**
 * Stores vectors of an experience, and finds out whether it says what another one has said, in almost the same words:
 * then only that one is found. One that is gone meanwhile is left out.
 *
 * `repeats`: by which model that is told, and from which similarity on.
 */
export async function insertExperienceVectors(
  transaction: Transaction,
  tenantId: string,
  { id, situationHash, vectors }: ExperienceVectors,
  {
    embeddedWith,
    repeats,
  }: {
    readonly embeddedWith: string
    readonly repeats: { readonly model: string; readonly similarity: number }
  },
): Promise<void> {
  const own = await transaction
    .selectFrom('experiences')
    .select(['agent_id', 'approach_hash', 'outcome_type', 'execution_id'])
    .select(sql<string>`recorded_by ->> 'id'`.as('recorder'))
    .where('id', '=', id)
    .executeTakeFirst()
  if (own === undefined) return
  // One of a family at a time: of two that are stored at once, the second sees the first. In one order, so that nobody
  // waits for each other in a circle.
  const way = [own.approach_hash, own.outcome_type].join(' ')
  for (const family of [`agent ${own.agent_id} ${way}`, `recorder ${own.recorder} ${way}`]) {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${tenantId} ${family}`}, 30))`.execute(
      transaction,
    )
  }
  const locked = await transaction
    .selectFrom('experiences')
    .select(['embedded_with', 'repeats_id'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (locked === undefined) return
  if (vectors.length > 0) {
    await transaction
      .insertInto('experience_embeddings')
      .values(
        vectors.map(({ model, vector }) => ({
          tenant_id: tenantId,
          model,
          experience_id: id,
          text_hash: situationHash,
          embedding: vectorText(vector),
        })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  // It is looked for once: what others record later repeats this one, and not the other way round.
  const isFirstTime = locked.embedded_with === ''
  const firstId = isFirstTime
    ? await findFirst(transaction, id, own, sql`x.agent_id = ${own.agent_id}`, repeats)
    : undefined
  // Under other names the same principal says the same once more. Runs have one name.
  const echoesId =
    isFirstTime && firstId === undefined && own.execution_id === null
      ? await findFirst(
          transaction,
          id,
          own,
          sql`x.recorded_by ->> 'id' = ${own.recorder} AND x.agent_id <> ${own.agent_id}
            AND x.execution_id IS NULL AND x.echoes_id IS NULL`,
          repeats,
        )
      : undefined
  await transaction
    .updateTable('experiences')
    .set({
      embedded_with: embeddedWith,
      ...(firstId !== undefined && { repeats_id: firstId }),
      ...(echoesId !== undefined && { echoes_id: echoesId }),
    })
    .where('id', '=', id)
    .execute()
  if (firstId === undefined) return
  await transaction
    .updateTable('experiences')
    .set({ repeat_count: sql`repeat_count + 1` })
    .where('id', '=', firstId)
    .execute()
}

/** The one of some that an experience repeats: of those that are near enough the nearest, and of equals the first. */
async function findFirst(
  transaction: Transaction,
  id: string,
  own: { readonly approach_hash: string; readonly outcome_type: string },
  among: RawBuilder<unknown>,
  { model, similarity }: { readonly model: string; readonly similarity: number },
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    WITH own AS (
      SELECT embedding FROM experience_embeddings WHERE model = ${model} AND experience_id = ${id}
    ), same AS MATERIALIZED (
      SELECT x.tenant_id, x.id FROM experiences x
      WHERE ${among} AND x.approach_hash = ${own.approach_hash}
        AND x.outcome_type = ${own.outcome_type} AND x.repeats_id IS NULL AND x.embedded_with <> '' AND x.id <> ${id}
      ORDER BY x.id DESC LIMIT ${sql.lit(comparedAtMost)}
    )
    SELECT s.id FROM own, same s CROSS JOIN LATERAL (
      SELECT e.embedding FROM experience_embeddings e
      WHERE e.tenant_id = s.tenant_id AND e.model = ${model} AND e.experience_id = s.id
      OFFSET 0
    ) e
    WHERE 1 - (e.embedding OPERATOR(public.<=>) own.embedding) >= ${similarity}
    ORDER BY e.embedding OPERATOR(public.<=>) own.embedding, s.id
    LIMIT 1`.execute(transaction)
  return rows[0]?.id
}

/** What the chore has to do for a tenant. */
export interface TenantToLearn {
  readonly tenantId: string
  readonly hasRuns: boolean
  readonly lacksVectors: boolean
  readonly isPruningDue: boolean
}

/** The tenants that have something to do, in the order of their ids. */
export async function listTenantsToLearn(
  database: Database,
  needed: string,
  prunedBefore: Date,
): Promise<readonly TenantToLearn[]> {
  const rows = await database.system.query<{
    tenant_id: string
    has_runs: boolean
    lacks_vectors: boolean
    is_pruning_due: boolean
  }>('tenants_to_learn', 'SELECT * FROM tenants_to_learn($1, $2)', [needed, prunedBefore])
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    hasRuns: row.has_runs,
    lacksVectors: row.lacks_vectors,
    isPruningDue: row.is_pruning_due,
  }))
}
