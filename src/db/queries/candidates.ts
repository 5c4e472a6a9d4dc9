import type { Id } from '../../domain/ids.ts'
import type { TenantDb } from '../connect.ts'
import { vectorText } from './embeddings.ts'

/** A version that serves, as a search found it. */
export interface FoundVersion {
  readonly versionId: Id<'version'>
  readonly procedureKey: string
  readonly versionNumber: number
  readonly issuePatterns: readonly string[]
  /** 1 − cosine distance, −1 to 1. */
  readonly similarity: number
  /** Of the tenant's newest 1,000 executions, those of the procedure that resolved or escalated. */
  readonly runs: number
  /** Of `runs`, those that resolved. */
  readonly successes: number
}

/** What is looked for, and where. */
export interface CandidateSearch {
  readonly model: string
  /**
   * What must hold of the model in the very moment of the search: `current`, that search is to use it, so that no
   * version serves without a vector of it; `complete`, just the latter, for a model that stands in.
   */
  readonly mustBe: 'current' | 'complete'
  readonly vector: Float32Array
  readonly category?: string | undefined
  /** How many of the nearest. */
  readonly nearest: number
  /** A folded text, and every end of a pattern that stands in it. */
  readonly text: string
  readonly tails: readonly string[]
  /** How many of those with a pattern that stands in the text. */
  readonly literal: number
}

// One statement, because on a busy machine each way to the server and back costs more than what it computes.
//
// The nearest are found by an exact scan of the vectors that serve. An approximate index was refused: behind a filter it
// silently answers too few rows (recall@3 of .12), and up to 10,000 active versions the scan is as fast. The distance is
// computed once per row. Twenty more are fetched than are asked for, so that keys decide between equals: FETCH … WITH TIES
// would sort all of them.
//
// Of the patterns those are compared whole that end as something in the text does.
//
// The track record is read backwards along the primary key: nothing is written for it, and it costs the same with a
// million executions behind it.
//
// Whether the model is the right one is read in the same snapshot: between two statements a switch can end and a version
// go live that has no vector of the model. Of the current model every version that serves has one, since the pointer moves
// and versions go live under one lock; to look for one that has none costs as much as the search of a large catalogue,
// and is done only for a model that is not the current one.
//
// OFFSET 0 keeps a look-up per row from becoming a join of whole tables: in a database without statistics, as the
// embedded one is for long, the planner expects one row and compares each with each.
const statement = (scope: string): string => `
  WITH nearest AS (
    SELECT e.version_id, e.embedding OPERATOR(public.<=>) $3::public.vector AS distance, false AS is_literal
    FROM version_embeddings e
    WHERE e.tenant_id = $1 AND e.model = $2 AND ${scope}
    ORDER BY distance, e.version_id
    LIMIT $4::integer + 20
  ), literal AS (
    SELECT l.version_id, e.embedding OPERATOR(public.<=>) $3::public.vector AS distance, true AS is_literal
    FROM (
      SELECT DISTINCT p.version_id
      FROM unnest($5::text[]) AS t (tail)
      CROSS JOIN LATERAL (
        SELECT version_id, pattern FROM literal_patterns
        WHERE tenant_id = $1 AND tail = t.tail COLLATE "C"
        OFFSET 0
      ) p
      WHERE strpos($6, p.pattern) > 0
    ) l
    CROSS JOIN LATERAL (
      SELECT e.embedding FROM version_embeddings e
      WHERE e.tenant_id = $1 AND e.model = $2 AND e.version_id = l.version_id AND ${scope}
      OFFSET 0
    ) e
  ), found AS (
    SELECT v.*, f.distance, row_number() OVER (
      PARTITION BY f.is_literal ORDER BY f.distance, v.procedure_key
    ) AS place, CASE WHEN f.is_literal THEN $7::integer ELSE $4 END AS places
    FROM (SELECT * FROM nearest UNION ALL SELECT * FROM literal) f
    CROSS JOIN LATERAL (
      SELECT v.id, v.procedure_id, v.procedure_key, v.version_number, v.issue_patterns
      FROM procedure_versions v
      WHERE v.tenant_id = $1 AND v.id = f.version_id
      OFFSET 0
    ) v
  ), records AS (
    SELECT procedure_id, count(*) AS runs, count(*) FILTER (WHERE outcome = 'resolved') AS successes
    FROM (
      SELECT procedure_id, status, outcome FROM executions
      WHERE tenant_id = $1
      ORDER BY id DESC
      LIMIT 1000
    ) recent
    WHERE outcome = 'resolved' OR status = 'escalated'
    GROUP BY procedure_id
  )
  SELECT m.is_right, f.id, f.procedure_key, f.version_number, f.issue_patterns, 1 - f.distance AS similarity,
    coalesce(r.runs, 0) AS runs, coalesce(r.successes, 0) AS successes
  FROM (
    SELECT CASE $8 WHEN 'current'
      THEN NOT EXISTS (SELECT FROM embedding_models WHERE is_current AND name <> $2)
      ELSE NOT EXISTS (
        SELECT FROM procedure_versions v
        WHERE v.tenant_id = $1 AND v.status = 'active' AND NOT v.internal
          AND NOT EXISTS (
            SELECT FROM version_embeddings e
            WHERE e.tenant_id = v.tenant_id AND e.version_id = v.id AND e.model = $2))
      END AS is_right
  ) m
  LEFT JOIN found f ON f.place <= f.places
  LEFT JOIN records r ON r.procedure_id = f.procedure_id`

// Two statements, because one plan for "any category, or this one" could not use the index for the second.
const inAny = statement('e.served_in IS NOT NULL')
const inOne = statement('e.served_in = $9')

/**
 * The versions that serve and are nearest to a vector, and those one of whose patterns stands in a text; in no order, a
 * version that is both only once. Of equals those come first whose procedure key does. Undefined when the model is not
 * what it must be.
 */
export async function listCandidates(
  db: TenantDb,
  { model, mustBe, vector, category, nearest, text, tails, literal }: CandidateSearch,
): Promise<readonly FoundVersion[] | undefined> {
  const values = [db.tenantId, model, vectorText(vector), nearest, tails, text, literal, mustBe]
  const rows =
    category === undefined
      ? await db.query('search', inAny, values)
      : await db.query('search_in_category', inOne, [...values, category])
  // There is always a row: where nothing was found, it has no id.
  if (rows.some(({ is_right: isRight }) => isRight !== true)) return undefined
  const found = rows.filter(({ id }) => id !== null)
  return [...new Map(found.map((row) => [row.id, toFoundVersion(row)])).values()]
}

function toFoundVersion(row: Record<string, unknown>): FoundVersion {
  const patterns = row.issue_patterns
  return {
    versionId: String(row.id) as Id<'version'>,
    procedureKey: String(row.procedure_key),
    versionNumber: Number(row.version_number),
    issuePatterns: Array.isArray(patterns) ? patterns.map(String) : [],
    similarity: Number(row.similarity),
    runs: Number(row.runs),
    successes: Number(row.successes),
  }
}
