import { toSql } from 'pgvector'
import { sha256 } from '../../domain/canonical.ts'
import type { Example } from '../../domain/examples.ts'
import type { Id } from '../../domain/ids.ts'
import { isJsonObject, type JsonSchema } from '../../domain/json.ts'
import type { Db, TenantDb, Transaction } from '../connect.ts'

/** The vector of one example of a version. */
export interface ExampleVector extends Pick<Example, 'kind' | 'position'> {
  readonly textHash: string
  readonly vector: Float32Array
}

/** The vectors of a version under one model: of its purpose, and of its examples. */
export interface VersionVector {
  readonly model: string
  /** SHA-256 of the whole purpose, of which the model may have read only the beginning. */
  readonly textHash: string
  readonly vector: Float32Array
  readonly examples: readonly ExampleVector[]
}

/** Stores vectors of a version, in place of earlier ones of the same models. */
export async function upsertVersionVectors(
  transaction: Transaction,
  tenantId: string,
  versionId: Id<'version'>,
  vectors: readonly VersionVector[],
): Promise<void> {
  if (vectors.length === 0) return
  await transaction
    .insertInto('version_embeddings')
    .values(
      vectors.map(({ model, textHash, vector }) => ({
        tenant_id: tenantId,
        model,
        version_id: versionId,
        text_hash: textHash,
        embedding: vectorText(vector),
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'model', 'version_id']).doUpdateSet((row) => ({
        text_hash: row.ref('excluded.text_hash'),
        embedding: row.ref('excluded.embedding'),
      })),
    )
    .execute()
  const models = vectors.map(({ model }) => model)
  await transaction
    .deleteFrom('example_vectors')
    .where('version_id', '=', versionId)
    .where('model', 'in', models)
    .execute()
  const rows = vectors.flatMap(({ model, examples }) =>
    examples.map(({ kind, position, textHash, vector }) => ({
      tenant_id: tenantId,
      model,
      version_id: versionId,
      kind,
      position,
      text_hash: textHash,
      embedding: vectorText(vector),
    })),
  )
  // A statement takes so many parameters and no more.
  for (let from = 0; from < rows.length; from += 1_000) {
    await transaction
      .insertInto('example_vectors')
      .values(rows.slice(from, from + 1_000))
      .execute()
  }
}

/** The models under which a version has vectors of exactly these texts. */
export async function listVersionModels(
  db: Db,
  versionId: Id<'version'>,
  purpose: string,
  examples: readonly Example[],
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('version_embeddings')
    .select('model')
    .where('version_id', '=', versionId)
    .where('text_hash', '=', sha256(purpose))
    .execute()
  const stored = await db
    .selectFrom('example_vectors')
    .select(['model', 'kind', 'position', 'text_hash'])
    .where('version_id', '=', versionId)
    .execute()
  const known = new Set(
    stored.map(({ model, kind, position, text_hash }) =>
      JSON.stringify([model, kind, position, text_hash]),
    ),
  )
  const has = (model: string) =>
    examples.every(({ kind, position, text }) =>
      known.has(JSON.stringify([model, kind, position, sha256(text)])),
    )
  return rows.flatMap(({ model }) => (has(model) ? [model] : []))
}

/** What search compares, of the versions that serve: their ids and keys, purposes and examples. */
export interface ServedVersion {
  readonly procedureKey: string
  readonly purpose: string
  readonly examples: { readonly match?: readonly string[]; readonly noMatch?: readonly string[] }
}

/** Every version of the tenant that search finds, by procedure key. */
export async function listServedVersions(db: Db): Promise<readonly ServedVersion[]> {
  const rows = await db
    .selectFrom('procedure_versions')
    .select(['procedure_key', 'purpose', 'definition'])
    .where('status', '=', 'active')
    .where('internal', '=', false)
    .orderBy('procedure_key')
    .execute()
  return rows.map(({ procedure_key, purpose, definition }) => ({
    procedureKey: procedure_key,
    purpose,
    examples: Object(Object(definition).examples),
  }))
}

/**
 * The different input schemas of the tenant's active versions that mark something as sensitive. A text may turn out to be
 * for any of them.
 */
export async function listSensitiveInputs(db: TenantDb): Promise<readonly JsonSchema[]> {
  const rows = await db.query('sensitive_inputs', sensitiveInputs, [db.tenantId])
  return rows.map(({ input }) => input).filter(isJsonObject)
}

const sensitiveInputs = `
  SELECT DISTINCT definition -> 'input' AS input
  FROM procedure_versions
  WHERE tenant_id = $1 AND status = 'active' AND definition @? '$.input.**.sensitive ? (@ == true)'`

/** Makes the patterns of a version known that has just become active. They go by themselves when it no longer is. */
export async function insertLiteralPatterns(
  transaction: Transaction,
  tenantId: string,
  versionId: Id<'version'>,
  patterns: readonly { readonly tail: string; readonly pattern: string }[],
): Promise<void> {
  if (patterns.length === 0) return
  await transaction
    .insertInto('literal_patterns')
    .values(
      patterns.map(({ tail, pattern }, index) => ({
        tenant_id: tenantId,
        version_id: versionId,
        position: index + 1,
        tail,
        pattern,
      })),
    )
    .execute()
}

/** A vector as the database takes it. */
export function vectorText(vector: Float32Array): string {
  return toSql([...vector])
}

/** A vector as the database answers it; undefined for what is none. */
export function vectorOf(text: string): Float32Array | undefined {
  const numbers = text.slice(1, -1).split(',').map(Number)
  return numbers.every(Number.isFinite) ? Float32Array.from(numbers) : undefined
}
