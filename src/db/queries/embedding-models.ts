import { type Selectable, sql } from 'kysely'
import { type Example, examplesOf } from '../../domain/examples.ts'
import type { Id } from '../../domain/ids.ts'
import type { Json } from '../../domain/json.ts'
import type { DatabaseHandle, Db, Transaction } from '../connect.ts'
import type { EmbeddingModelsTable } from '../rows/search.ts'

/** An embedding model as this installation knows it. */
export interface EmbeddingModel {
  readonly name: string
  readonly dimensions: number
  readonly minSimilarity: number
  readonly margin: number
  readonly calibrated: boolean
}

/** A model, with its part in the installation. */
export interface RegisteredModel extends EmbeddingModel {
  /** The one whose vectors search uses. */
  readonly isCurrent: boolean
  /** When the switch to it began that is under way, if one is. */
  readonly switchingSince: Date | null
}

/**
 * Makes models known, and the first of them the current one if there is none yet. What is stored of a model already
 * stands, its thresholds above all.
 */
export async function insertEmbeddingModels(
  db: Db,
  models: readonly EmbeddingModel[],
): Promise<void> {
  const [first] = models
  if (first === undefined) return
  await db
    .insertInto('embedding_models')
    .values(
      models.map(({ name, dimensions, minSimilarity, margin, calibrated }) => ({
        name,
        dimensions,
        threshold: minSimilarity,
        margin,
        calibrated,
      })),
    )
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  await db
    .updateTable('embedding_models')
    .set({ is_current: true })
    .where('name', '=', first.name)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('embedding_models as m').select('m.name').where('m.is_current', '=', true),
        ),
      ),
    )
    .execute()
}

const listModels = 'SELECT * FROM embedding_models ORDER BY name'

/** The model that search uses, if one was ever named. */
export async function findCurrentModel(db: Db): Promise<RegisteredModel | undefined> {
  const row = await db
    .selectFrom('embedding_models')
    .selectAll()
    .where('is_current', '=', true)
    .executeTakeFirst()
  return row && toModel(row)
}

/** Every model that was ever made known, by name. */
export async function listEmbeddingModels(db: DatabaseHandle): Promise<readonly RegisteredModel[]> {
  const rows = await db.query<Selectable<EmbeddingModelsTable>>('models_list', listModels, [])
  return rows.map(toModel)
}

/** The same, and which of them is current or the target of a switch stays so until the transaction ends. */
export async function lockEmbeddingModels(
  transaction: Transaction,
  mode: 'share' | 'update',
): Promise<readonly RegisteredModel[]> {
  const query = transaction.selectFrom('embedding_models').selectAll().orderBy('name')
  const rows = await (mode === 'share' ? query.forShare() : query.forUpdate()).execute()
  return rows.map(toModel)
}

/** Stores thresholds that were measured here, in place of those that the code brings. */
export async function updateThresholds(
  transaction: Transaction,
  name: string,
  { minSimilarity, margin }: Pick<EmbeddingModel, 'minSimilarity' | 'margin'>,
): Promise<void> {
  await transaction
    .updateTable('embedding_models')
    .set({ threshold: minSimilarity, margin, calibrated: true })
    .where('name', '=', name)
    .execute()
}

/** Names the model that is being switched to; null for none. The models are locked for update. */
export async function updateSwitch(
  transaction: Transaction,
  name: string | null,
  at: Date,
): Promise<void> {
  await transaction
    .updateTable('embedding_models')
    .set({ switching_since: null })
    .where('switching_since', 'is not', null)
    .execute()
  if (name === null) return
  await transaction
    .updateTable('embedding_models')
    .set({ switching_since: at })
    .where('name', '=', name)
    .execute()
}

/** Moves the pointer, and ends the switch. The models are locked for update. */
export async function updateCurrentModel(transaction: Transaction, name: string): Promise<void> {
  await transaction
    .updateTable('embedding_models')
    .set({ is_current: false })
    .where('is_current', '=', true)
    .execute()
  await transaction
    .updateTable('embedding_models')
    .set({ is_current: true, switching_since: null })
    .where('name', '=', name)
    .execute()
}

/** Names a version in any tenant. */
export interface VersionPlace {
  readonly tenantId: string
  readonly versionId: Id<'version'>
}

/**
 * The versions of all tenants without a vector of their present purpose under a model: the first `limit` behind a place,
 * by tenant and id.
 */
export async function listVersionsWithoutVector(
  db: Db,
  model: string,
  behind: VersionPlace | undefined,
  limit: number,
): Promise<readonly VersionPlace[]> {
  const { rows } = await sql<{ tenant_id: string; version_id: string }>`
    SELECT tenant_id, version_id
    FROM versions_without_vector(${model}, ${behind?.tenantId ?? ''}, ${behind?.versionId ?? ''}, ${limit})`.execute(
    db,
  )
  return rows.map(({ tenant_id, version_id }) => ({
    tenantId: tenant_id,
    versionId: version_id as Id<'version'>,
  }))
}

/** How many versions there are, and how many of them have a vector of their purpose, by model. */
export interface VectorCounts {
  readonly versions: number
  readonly byModel: ReadonlyMap<string, number>
}

/** Of all tenants together. */
export async function countVectors(db: Db): Promise<VectorCounts> {
  return toCounts(await sql<CountRow>`SELECT model, count FROM count_vectors()`.execute(db))
}

/** Of the tenant of `db` alone; as `count_vectors` counts. */
export async function countOwnVectors(db: Db): Promise<VectorCounts> {
  return toCounts(
    await sql<CountRow>`
      SELECT NULL AS model, count(*) FROM procedure_versions
      UNION ALL
      SELECT e.model, count(*)
      FROM version_embeddings e JOIN procedure_versions v ON v.tenant_id = e.tenant_id AND v.id = e.version_id
      WHERE e.text_hash = encode(sha256(convert_to(v.purpose, 'UTF8')), 'hex')
      GROUP BY e.model`.execute(db),
  )
}

interface CountRow {
  readonly model: string | null
  readonly count: number
}

function toCounts({ rows }: { readonly rows: readonly CountRow[] }): VectorCounts {
  const counts = new Map(rows.map(({ model, count }) => [model, count]))
  const versions = counts.get(null) ?? 0
  return {
    versions,
    byModel: new Map(rows.flatMap(({ model, count }) => (model === null ? [] : [[model, count]]))),
  }
}

/** What of a version is embedded. */
export interface EmbeddedTexts {
  readonly versionId: Id<'version'>
  readonly purpose: string
  readonly examples: readonly Example[]
}

/** The purposes and examples of versions of one tenant. */
export async function listEmbeddedTexts(
  db: Db,
  versionIds: readonly Id<'version'>[],
): Promise<readonly EmbeddedTexts[]> {
  const rows = await selectTexts(db, versionIds).execute()
  return rows.map(toTexts)
}

/** The same, by id; they stay so until the transaction ends. */
export async function lockEmbeddedTexts(
  transaction: Transaction,
  versionIds: readonly Id<'version'>[],
): Promise<ReadonlyMap<string, EmbeddedTexts>> {
  const rows = await selectTexts(transaction, versionIds).orderBy('id').forShare().execute()
  return new Map(rows.map((row) => [row.id, toTexts(row)]))
}

function selectTexts(db: Db, versionIds: readonly Id<'version'>[]) {
  return db
    .selectFrom('procedure_versions')
    .select(['id', 'purpose', 'internal', sql<Json>`definition -> 'examples'`.as('examples')])
    .where('id', 'in', [...versionIds])
}

function toTexts(row: {
  readonly id: string
  readonly purpose: string
  readonly internal: boolean
  readonly examples: Json
}): EmbeddedTexts {
  const examples = examplesOf({
    examples: Object(row.examples),
    ...(row.internal && { internal: true }),
  })
  return { versionId: row.id as Id<'version'>, purpose: row.purpose, examples }
}

function toModel(row: Selectable<EmbeddingModelsTable>): RegisteredModel {
  return {
    name: row.name,
    dimensions: row.dimensions,
    minSimilarity: row.threshold,
    margin: row.margin,
    calibrated: row.calibrated,
    isCurrent: row.is_current,
    switchingSince: row.switching_since,
  }
}
