import { type RawBuilder, sql } from 'kysely'
import type { FoundExperience } from '../../learning/experience-rank.ts'
import type { TenantDb, Transaction } from '../connect.ts'
import { vectorText } from './embeddings.ts'
import type { ExperienceFilter } from './experiences.ts'

/** What is looked for among the experiences of a tenant. */
export interface ExperienceSearch extends ExperienceFilter {
  readonly model: string
  readonly vector: Float32Array
}

/** Up to so many are compared one by one: beyond, an index is as good and faster. */
export const comparedOneByOne = 10_000

/** Whether more match than are compared one by one; it stops counting there. */
export async function hasManyExperiences(db: TenantDb, filter: ExperienceFilter): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::integer AS n FROM (
      SELECT FROM experiences x WHERE ${matching(db, filter)} LIMIT ${sql.lit(comparedOneByOne + 1)}
    ) counted`.execute(db.kysely)
  return (rows[0]?.n ?? 0) > comparedOneByOne
}

/** PostgreSQL refuses a product that is too small for a double, and one score must not keep all others from being found. */
const weightOfScore = sql<number>`(CASE WHEN score < 1e-100 THEN 0 ELSE score END)`

/**
 * The most relevant of all that match and reach a similarity, by relevance, ties by id: an exact scan.
 *
 * OFFSET 0 keeps the look-up per row from becoming a join of whole tables in a database without statistics.
 */
export async function scanExperiences(
  db: TenantDb,
  search: ExperienceSearch,
  { minSimilarity, topK }: { readonly minSimilarity: number; readonly topK: number },
): Promise<readonly FoundExperience[]> {
  const { rows } = await sql<FoundExperience>`
    WITH chosen AS MATERIALIZED (
      SELECT x.id, x.score FROM experiences x WHERE ${matching(db, search)}
    ), compared AS (
      SELECT c.id, c.score, 1 - (e.embedding OPERATOR(public.<=>) ${vectorText(search.vector)}::public.vector)
        AS similarity
      FROM chosen c CROSS JOIN LATERAL (
        SELECT e.embedding FROM experience_embeddings e
        WHERE e.tenant_id = ${db.tenantId} AND e.model = ${search.model} AND e.experience_id = c.id
        OFFSET 0
      ) e
      OFFSET 0
    )
    SELECT id, score, similarity FROM compared WHERE similarity >= ${minSimilarity}
    ORDER BY similarity * ${weightOfScore} DESC, id
    LIMIT ${topK}`.execute(db.kysely)
  return rows
}

/**
 * How many an index looks at for one answer, at least. Of a million, 400 found .938 of what was there and 700 .955, as 1,000
 * did, in about the same time: what an answer takes is mostly that the nearest are read.
 */
const leastBreadth = 700

/** How far the index is followed before it says that there is nothing more. */
const followedAtMost = 40_000

/**
 * The nearest of all that match, by an index of their model, with their true similarities; fewer than `limit` when the
 * index has given up, or when there are no more. pgvector goes on until enough rows have passed the filter.
 */
export async function listNearestExperiences(
  db: TenantDb,
  { model, vector, ...filter }: ExperienceSearch,
  limit: number,
): Promise<readonly FoundExperience[]> {
  const dimensions = sql.lit(vector.length)
  const text = vectorText(vector)
  return db.kysely.transaction().execute(async (transaction) => {
    await followIndex(transaction, Math.min(Math.max(limit, leastBreadth), 1_000))
    // The index is of one model, and the planner takes it only where the name stands in the statement.
    const { rows } = await sql<FoundExperience>`
      SELECT x.id, x.score, 1 - (e.embedding OPERATOR(public.<=>) ${text}::public.vector) AS similarity
      FROM experience_embeddings e CROSS JOIN LATERAL (
        SELECT x.id, x.score FROM experiences x
        WHERE x.id = e.experience_id AND ${matching(db, filter)}
        OFFSET 0
      ) x
      WHERE e.tenant_id = ${db.tenantId} AND e.model = ${sql.lit(model)}
      ORDER BY (e.embedding::public.halfvec(${dimensions}))
        OPERATOR(public.<=>) (${text}::public.vector::public.halfvec(${dimensions}))
      LIMIT ${limit}`.execute(transaction)
    return rows
  })
}

async function followIndex(transaction: Transaction, breadth: number): Promise<void> {
  for (const [name, value] of [
    ['hnsw.iterative_scan', 'strict_order'],
    ['hnsw.ef_search', String(breadth)],
    ['hnsw.max_scan_tuples', String(followedAtMost)],
    // Nothing else gives the order without a sort.
    ['enable_sort', 'off'],
  ] as const) {
    await sql`SELECT set_config(${name}, ${value}, true)`.execute(transaction)
  }
}

// All but those that only repeat another one; among those of all agents, also under another name.
function matching(
  db: TenantDb,
  { agentIds, outcomeType, tags }: ExperienceFilter,
): RawBuilder<boolean> {
  const parts = [sql`x.tenant_id = ${db.tenantId}`, sql`x.repeats_id IS NULL`]
  if (agentIds === undefined) parts.push(sql`x.echoes_id IS NULL`)
  else parts.push(sql`x.agent_id = ANY (${agentIds}::text[] COLLATE "C")`)
  if (outcomeType !== undefined) parts.push(sql`x.outcome_type = ${outcomeType}`)
  if (tags !== undefined && tags.length > 0) parts.push(sql`x.tags @> ${tags}::text[]`)
  return sql<boolean>`(${sql.join(parts, sql` AND `)})`
}
