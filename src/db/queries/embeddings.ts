import { toSql } from 'pgvector'
import type { Id } from '../../domain/ids.ts'
import type { Db, TenantDb, Transaction } from '../connect.ts'

/** An embedding model as this installation knows it. */
export interface EmbeddingModel {
  readonly name: string
  readonly dimensions: number
  readonly minSimilarity: number
  readonly margin: number
  readonly calibrated: boolean
}

/** An active version with its similarity to what was searched for. */
export interface FoundVersion {
  readonly versionId: Id<'version'>
  readonly procedureKey: string
  readonly versionNumber: number
  readonly name: string
  readonly issuePatterns: readonly string[]
  /** 1 − cosine distance, −1 to 1. */
  readonly similarity: number
}

/** Makes a model known, and the current one if there is none yet. What is stored of it already stands. */
export async function insertEmbeddingModel(db: Db, model: EmbeddingModel): Promise<void> {
  await db
    .insertInto('embedding_models')
    .values({
      name: model.name,
      dimensions: model.dimensions,
      threshold: model.minSimilarity,
      margin: model.margin,
      calibrated: model.calibrated,
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  await db
    .updateTable('embedding_models')
    .set({ is_current: true })
    .where('name', '=', model.name)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('embedding_models as m').select('m.name').where('m.is_current', '=', true),
        ),
      ),
    )
    .execute()
}

/** The model whose vectors search uses. */
export async function findCurrentModel(db: Db): Promise<EmbeddingModel | undefined> {
  const row = await db
    .selectFrom('embedding_models')
    .selectAll()
    .where('is_current', '=', true)
    .executeTakeFirst()
  return (
    row && {
      name: row.name,
      dimensions: row.dimensions,
      minSimilarity: row.threshold,
      margin: row.margin,
      calibrated: row.calibrated,
    }
  )
}

/** Stores the vector of a version's purpose under a model, in place of an earlier one. */
export async function upsertVersionEmbedding(
  transaction: Transaction,
  embedding: {
    readonly tenantId: string
    readonly versionId: Id<'version'>
    readonly model: string
    readonly textHash: string
    readonly vector: Float32Array
  },
): Promise<void> {
  const values = { text_hash: embedding.textHash, embedding: vectorText(embedding.vector) }
  await transaction
    .insertInto('version_embeddings')
    .values({
      tenant_id: embedding.tenantId,
      model: embedding.model,
      version_id: embedding.versionId,
      ...values,
    })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'model', 'version_id']).doUpdateSet(values),
    )
    .execute()
}

/** True when a version has a vector of exactly this text under a model. */
export async function hasVersionEmbedding(
  db: Db,
  versionId: Id<'version'>,
  model: string,
  textHash: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('version_embeddings')
    .select('version_id')
    .where('model', '=', model)
    .where('version_id', '=', versionId)
    .where('text_hash', '=', textHash)
    .executeTakeFirst()
  return row !== undefined
}

// An exact scan of the tenant's active versions. An approximate index was refused: behind a filter it silently answers
// too few rows (recall@3 of .12), and up to 10,000 active versions the scan is as fast.
const nearest = `
  SELECT v.id, v.procedure_key, v.version_number, v.name, v.issue_patterns,
    1 - (e.embedding OPERATOR(public.<=>) $3::public.vector) AS similarity
  FROM procedure_versions v
  JOIN version_embeddings e ON e.tenant_id = v.tenant_id AND e.model = $2 AND e.version_id = v.id
  WHERE v.tenant_id = $1 AND v.status = 'active' AND NOT v.internal AND ($4::text IS NULL OR v.category = $4)
  ORDER BY e.embedding OPERATOR(public.<=>) $3::public.vector, v.procedure_key
  LIMIT $5`

/** The active versions nearest to a vector, nearest first, ties by procedure key. */
export async function listNearestVersions(
  db: TenantDb,
  search: SearchScope & { readonly limit: number },
): Promise<readonly FoundVersion[]> {
  const rows = await db.query('search_nearest', nearest, [
    search.tenantId,
    search.model,
    vectorText(search.vector),
    search.category ?? null,
    search.limit,
  ])
  return rows.map(toFoundVersion)
}

// The pattern is looked for in the text by the database, so that only rows that match travel.
const literal = `
  SELECT v.id, v.procedure_key, v.version_number, v.name, v.issue_patterns,
    1 - (e.embedding OPERATOR(public.<=>) $3::public.vector) AS similarity
  FROM procedure_versions v
  JOIN version_embeddings e ON e.tenant_id = v.tenant_id AND e.model = $2 AND e.version_id = v.id
  WHERE v.tenant_id = $1 AND v.status = 'active' AND NOT v.internal AND ($4::text IS NULL OR v.category = $4)
    AND EXISTS (
      SELECT FROM jsonb_array_elements_text(v.issue_patterns) p
      WHERE char_length(btrim(p)) >= 4 AND strpos($6, lower(btrim(p))) > 0)
  ORDER BY similarity DESC, v.procedure_key
  LIMIT $5`

/** The active versions one of whose issue patterns stands in a text that was folded to lower case. */
export async function listLiteralVersions(
  db: TenantDb,
  search: SearchScope & { readonly limit: number; readonly text: string },
): Promise<readonly FoundVersion[]> {
  const rows = await db.query('search_literal', literal, [
    search.tenantId,
    search.model,
    vectorText(search.vector),
    search.category ?? null,
    search.limit,
    search.text,
  ])
  return rows.map(toFoundVersion)
}

interface SearchScope {
  readonly tenantId: string
  readonly model: string
  readonly vector: Float32Array
  readonly category?: string | undefined
}

function vectorText(vector: Float32Array): string {
  return toSql([...vector])
}

function toFoundVersion(row: Record<string, unknown>): FoundVersion {
  const patterns = row.issue_patterns
  return {
    versionId: String(row.id) as Id<'version'>,
    procedureKey: String(row.procedure_key),
    versionNumber: Number(row.version_number),
    name: String(row.name),
    issuePatterns: Array.isArray(patterns) ? patterns.map(String) : [],
    similarity: Number(row.similarity),
  }
}
