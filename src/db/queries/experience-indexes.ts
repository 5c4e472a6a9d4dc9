import { sql } from 'kysely'
import { sha256 } from '../../domain/canonical.ts'
import type { OutcomeType } from '../../learning/experience.ts'
import type { Database, Db } from '../connect.ts'
import { comparedOneByOne } from './experience-search.ts'

/** The name of the index of a model. */
export function experienceIndexName(model: string): string {
  return `experience_vectors_${sha256(model).slice(0, 16)}`
}

/** The index of a model, and how it does in a tenant. */
export interface ExperienceIndex {
  /** `unfinished`: it is being made, or whoever made it was interrupted. */
  readonly state: 'none' | 'unfinished' | 'whole'
  /** Tells it from one that was built before or after it. */
  readonly file: number | null
  /** What it finds of what an exact scan finds, 0 to 1; null: nobody has measured it, as it is now. */
  readonly recall: number | null
  readonly measuredAt: Date | null
}

/** As a tenant's connection sees it; the recall is that tenant's. */
export async function findExperienceIndex(db: Db, model: string): Promise<ExperienceIndex> {
  const { rows } = await sql<{
    is_valid: boolean | null
    file: number | null
    recall: number | null
    measured_at: Date | null
  }>`
    SELECT i.indisvalid AS is_valid, i.file, r.recall, r.measured_at
    FROM (SELECT 1) one
    LEFT JOIN (
      SELECT x.indisvalid, pg_relation_filenode(x.indexrelid)::bigint AS file FROM pg_index x
      WHERE x.indexrelid = to_regclass(${`public.${experienceIndexName(model)}`})
    ) i ON true
    LEFT JOIN experience_recalls r ON r.model = ${model} AND r.index_file = i.file`.execute(db)
  const [row] = rows
  return {
    state: !row || row.is_valid === null ? 'none' : row.is_valid ? 'whole' : 'unfinished',
    file: row?.file ?? null,
    recall: row?.recall ?? null,
    measuredAt: row?.measured_at ?? null,
  }
}

/** The tenants that have more experiences with a vector of a model than are compared one by one. */
export async function listTenantsBeyondScan(
  { system }: Pick<Database, 'system'>,
  model: string,
): Promise<readonly string[]> {
  const rows = await system.query<{ tenant_id: string }>(
    'tenants_beyond_scan',
    'SELECT tenant_id FROM tenants_beyond_scan($1, $2)',
    [model, comparedOneByOne],
  )
  return rows.map(({ tenant_id: id }) => id)
}

/** How many experiences of a tenant have a vector of a model. */
export async function countExperienceVectors(db: Db, model: string): Promise<number> {
  const row = await db
    .selectFrom('experience_embeddings')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('model', '=', model)
    .executeTakeFirstOrThrow()
  return row.count
}

/** A recorded situation, to ask for. */
export interface RecordedSituation {
  readonly agentId: string
  readonly outcomeType: OutcomeType
  readonly vector: Float32Array
}

/** Some of those that can be found, chosen at random. */
export async function sampleSituations(
  db: Db,
  model: string,
  count: number,
): Promise<readonly RecordedSituation[]> {
  const { rows } = await sql<{ agent_id: string; outcome_type: OutcomeType; vector: string }>`
    SELECT x.agent_id, x.outcome_type, e.embedding::text AS vector
    FROM (
      SELECT tenant_id, experience_id FROM experience_embeddings WHERE model = ${model}
      ORDER BY random() LIMIT ${count}
    ) some_of
    JOIN experiences x ON x.tenant_id = some_of.tenant_id AND x.id = some_of.experience_id
    JOIN experience_embeddings e
      ON e.tenant_id = x.tenant_id AND e.model = ${model} AND e.experience_id = x.id
    WHERE x.repeats_id IS NULL`.execute(db)
  return rows.map((row) => ({
    agentId: row.agent_id,
    outcomeType: row.outcome_type,
    vector: Float32Array.from(JSON.parse(row.vector) as readonly number[]),
  }))
}

/** Takes the measuring of a tenant's indexes; false while another process is at it, that has begun since then. */
export async function claimMeasuring(
  db: Db,
  tenantId: string,
  at: Date,
  givenUpBefore: Date,
): Promise<boolean> {
  const row = await db
    .insertInto('experience_cursors')
    .values({ tenant_id: tenantId, measuring_since: at })
    .onConflict((conflict) =>
      conflict
        .column('tenant_id')
        .doUpdateSet({ measuring_since: at })
        .where(({ eb, or }) =>
          or([
            eb('experience_cursors.measuring_since', 'is', null),
            eb('experience_cursors.measuring_since', '<', givenUpBefore),
          ]),
        ),
    )
    .returning('tenant_id')
    .executeTakeFirst()
  return row !== undefined
}

export async function endMeasuring(db: Db, tenantId: string): Promise<void> {
  await db
    .updateTable('experience_cursors')
    .set({ measuring_since: null })
    .where('tenant_id', '=', tenantId)
    .execute()
}

/** What was measured of an index. */
export interface MeasuredRecall {
  readonly model: string
  readonly file: number
  readonly recall: number
  readonly sampleCount: number
  readonly rowCount: number
  readonly at: Date
}

export async function storeRecall(
  db: Db,
  tenantId: string,
  { model, file, recall, sampleCount, rowCount, at }: MeasuredRecall,
): Promise<void> {
  const measured = {
    ...{ recall, sample_count: sampleCount, row_count: rowCount },
    ...{ measured_at: at, index_file: file },
  }
  await db
    .insertInto('experience_recalls')
    .values({ tenant_id: tenantId, model, ...measured })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'model']).doUpdateSet(measured))
    .execute()
}
