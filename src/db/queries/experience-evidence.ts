import { type RawBuilder, sql } from 'kysely'
import { executorAgentId } from '../../learning/experience.ts'
import type { Db, TenantDb } from '../connect.ts'
import { vectorText } from './embeddings.ts'

/** Whose experiences are looked at. */
export interface SimilarTo {
  readonly model: string
  readonly vector: Float32Array
  readonly minSimilarity: number
  /** Default: those of all agents, and of runs. */
  readonly agentIds?: readonly string[] | undefined
}

/**
 * The ids of the experiences that are most alike, whatever came of them, the nearest first, ties by id: also those that only
 * repeat another, because their inputs differ. All are compared, one by one.
 *
 * OFFSET 0 keeps the look-up per row from becoming a join of whole tables in a database without statistics.
 */
export async function listSimilarExperiences(
  { kysely, tenantId }: TenantDb,
  { model, vector, minSimilarity, agentIds }: SimilarTo,
  limit: number,
): Promise<readonly string[]> {
  const ofAgents: RawBuilder<unknown> =
    agentIds === undefined ? sql`true` : sql`x.agent_id = ANY (${agentIds}::text[] COLLATE "C")`
  const { rows } = await sql<{ id: string }>`
    SELECT c.id FROM (
      SELECT x.id, 1 - (e.embedding OPERATOR(public.<=>) ${vectorText(vector)}::public.vector) AS similarity
      FROM experiences x CROSS JOIN LATERAL (
        SELECT e.embedding FROM experience_embeddings e
        WHERE e.tenant_id = ${tenantId} AND e.model = ${model} AND e.experience_id = x.id
        OFFSET 0
      ) e
      WHERE x.tenant_id = ${tenantId} AND ${ofAgents}
      OFFSET 0
    ) c
    WHERE c.similarity >= ${minSimilarity}
    ORDER BY c.similarity DESC, c.id
    LIMIT ${limit}`.execute(kysely)
  return rows.map(({ id }) => id)
}

/** The ids of what the runs of a version have experienced, the newest first. */
export async function listExperiencesOfVersion(
  db: Db,
  { id, procedureKey }: { readonly id: string; readonly procedureKey: string },
  limit: number,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('experiences as x')
    .innerJoin('executions as e', (join) =>
      join.onRef('e.tenant_id', '=', 'x.tenant_id').onRef('e.id', '=', 'x.execution_id'),
    )
    .select('x.id')
    .where('e.version_id', '=', id)
    .where('x.agent_id', '=', executorAgentId)
    .where(sql<boolean>`x.tags @> ${[procedureKey]}::text[]`)
    .orderBy('x.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
