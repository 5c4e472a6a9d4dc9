import { type RawBuilder, sql } from 'kysely'
import type { Id } from '../../domain/ids.ts'
import type { Db } from '../connect.ts'
import type { EmbeddingModel } from './embedding-models.ts'

/** A version that serves, and how near a text is to it. */
export interface NearVersion {
  readonly versionId: Id<'version'>
  readonly procedureKey: string
  readonly versionNumber: number
  readonly similarity: number
}

/** A routing test, and what is nearest to it. */
export interface RoutedExample {
  readonly kind: 'match' | 'noMatch'
  readonly position: number
  readonly textHash: string
  /** To the draft. */
  readonly similarity: number
  /** The nearest three that serve, of which one may be the draft's predecessor. */
  readonly nearest: readonly NearVersion[]
}

/** One of another version that serves. */
export interface ThreatenedExample extends RoutedExample {
  readonly procedureKey: string
  readonly text: string
}

interface ExampleRow {
  readonly kind: 'match' | 'noMatch'
  readonly position: number
  readonly text_hash: string
  readonly similarity: number
  readonly nearest: readonly NearVersion[]
}

// By an exact scan of what serves, as search does it; the three nearest, because the predecessor may be one of them, and
// the second counts for the margin.
const nearestServed = sql`
  SELECT coalesce(jsonb_agg(jsonb_build_object('versionId', n.version_id, 'procedureKey', v.procedure_key,
    'versionNumber', v.version_number, 'similarity', 1 - n.distance)), '[]') AS nearest
  FROM (
    SELECT e.version_id, e.embedding OPERATOR(public.<=>) x.embedding AS distance
    FROM version_embeddings e
    WHERE e.tenant_id = x.tenant_id AND e.model = x.model AND e.served_in IS NOT NULL
    ORDER BY distance, e.version_id
    LIMIT 3
  ) n JOIN procedure_versions v ON v.tenant_id = x.tenant_id AND v.id = n.version_id`

/** The routing tests of a draft by their vectors under a model, and what serves near each. */
export async function listRoutedExamples(
  db: Db,
  model: string,
  draftId: Id<'version'>,
): Promise<readonly RoutedExample[]> {
  const { rows } = await sql<ExampleRow>`
    SELECT x.kind, x.position, x.text_hash, 1 - (x.embedding OPERATOR(public.<=>) d.embedding) AS similarity, n.nearest
    FROM example_vectors x
    JOIN version_embeddings d ON d.tenant_id = x.tenant_id AND d.model = x.model AND d.version_id = x.version_id
    CROSS JOIN LATERAL (${nearestServed}) n
    WHERE x.model = ${model} AND x.version_id = ${draftId}
    ORDER BY x.kind, x.position`.execute(db)
  return rows.map(toExample)
}

/** The most examples of others that are looked at: with more than that, the draft is about everything. */
const maxThreatened = 1_000

/**
 * The examples of other procedures' active versions that are near enough to go to them, and that a draft is ahead of them
 * with by the margin; by procedure key and position.
 */
export async function listThreatenedExamples(
  db: Db,
  { name, minSimilarity, margin }: Pick<EmbeddingModel, 'name' | 'minSimilarity' | 'margin'>,
  draft: { readonly id: Id<'version'>; readonly procedureId: Id<'procedure'> },
): Promise<readonly ThreatenedExample[]> {
  // Of the many examples of a large catalogue the few are found first that the draft is ahead with. What is rounded
  // differently here and in the ranking must not be passed over.
  const near: RawBuilder<unknown> = sql`
    SELECT v.procedure_key, v.definition #>> ARRAY['examples', 'match', (x.position - 1)::text] AS text,
      x.tenant_id, x.model, x.kind, x.position, x.text_hash, x.embedding, s.similarity
    FROM version_embeddings d
    JOIN version_embeddings own ON own.tenant_id = d.tenant_id AND own.model = d.model AND own.served_in IS NOT NULL
    JOIN example_vectors x ON x.tenant_id = own.tenant_id AND x.model = own.model AND x.version_id = own.version_id
    JOIN procedure_versions v ON v.tenant_id = own.tenant_id AND v.id = own.version_id
    CROSS JOIN LATERAL (
      SELECT 1 - (x.embedding OPERATOR(public.<=>) own.embedding) AS own,
        1 - (x.embedding OPERATOR(public.<=>) d.embedding) AS similarity
      OFFSET 0
    ) s
    WHERE d.version_id = ${draft.id} AND d.model = ${name} AND x.kind = 'match'
      AND v.procedure_id <> ${draft.procedureId}
      AND s.own >= ${minSimilarity}::double precision - 1e-6
      AND s.similarity > s.own + ${margin}::double precision - 1e-6
    ORDER BY v.procedure_key, x.position
    LIMIT ${sql.lit(maxThreatened)}`
  const { rows } = await sql<
    ExampleRow & { readonly procedure_key: string; readonly text: string | null }
  >`
    WITH x AS MATERIALIZED (${near})
    SELECT x.procedure_key, x.text, x.kind, x.position, x.text_hash, x.similarity, n.nearest
    FROM x CROSS JOIN LATERAL (${nearestServed}) n
    ORDER BY x.procedure_key, x.position`.execute(db)
  return rows.map((row) => ({
    ...toExample(row),
    procedureKey: row.procedure_key,
    text: row.text ?? '',
  }))
}

function toExample(row: ExampleRow): RoutedExample {
  return {
    kind: row.kind,
    position: row.position,
    textHash: row.text_hash,
    similarity: row.similarity,
    nearest: row.nearest,
  }
}
