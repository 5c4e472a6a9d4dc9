import type { AppContext } from '../context.ts'
import type { Db, Transaction } from '../db/connect.ts'
import { type EmbeddedTexts, listEmbeddingModels } from '../db/queries/embedding-models.ts'
import {
  listVersionModels,
  upsertVersionVectors,
  type VersionVector,
} from '../db/queries/embeddings.ts'
import { insertContracts } from '../db/queries/tool-contracts.ts'
import type { ProcedureVersion, VersionContent } from '../db/queries/versions.ts'
import { definitionHash } from '../domain/definition.ts'
import { ServiceError } from '../domain/errors.ts'
import { examplesOf } from '../domain/examples.ts'
import type { Id } from '../domain/ids.ts'
import { requireDefinition } from '../domain/parse-definition.ts'
import { walkSteps } from '../domain/step.ts'
import { buildSummary } from '../domain/summary.ts'
import type { ToolContract } from '../domain/tool.ts'
import { checkVersion } from './check-version.ts'
import { embedVersions } from './embed-versions.ts'
import { lockNeededModels, neededModels } from './embedding-models.ts'

/** A definition made ready to be saved: parsed, checked, summed up and embedded, before any transaction. */
export interface PreparedVersion {
  readonly content: VersionContent
  readonly contracts: readonly { readonly contract: ToolContract; readonly contractHash: string }[]
  /** The models that were asked for a vector. */
  readonly models: readonly string[]
  /** Of those, the ones that gave one. */
  readonly vectors: readonly VersionVector[]
}

/**
 * Prepares a definition document for saving. Findings do not stop it, nor does a hosted model that gives no vector: a
 * draft may be incomplete, and activation refuses it then.
 *
 * @throws ServiceError `DEFINITION_INVALID` with every problem of the document; `EMBEDDER_UNAVAILABLE` when the offline
 *   model fails.
 */
export async function prepareVersion(
  app: AppContext,
  db: Db,
  document: unknown,
): Promise<PreparedVersion> {
  const definition = requireDefinition(document)
  const names = [...walkSteps(definition.steps)].flatMap((step) =>
    'tool' in step ? [step.tool] : [],
  )
  const used = [...new Set(names)].flatMap((name) => app.tools.find(name) ?? [])
  const contracts = used.map(({ contract, contractHash }) => ({ contract, contractHash }))
  const { summary, purpose } = buildSummary(definition)
  const models = neededModels(await listEmbeddingModels(app.database.system), app)
  const texts = { purpose, examples: examplesOf(definition) }
  const vectors = await Promise.all(models.map((model) => embedVersion(app, model, texts)))
  return {
    content: {
      definition,
      definitionHash: definitionHash(definition),
      summary,
      purpose,
      toolContracts: Object.fromEntries(
        contracts.map(({ contract, contractHash }) => [contract.name, contractHash]),
      ),
      findings: await checkVersion(app, db, definition),
    },
    contracts,
    models,
    vectors: vectors.filter((vector) => vector !== undefined),
  }
}

async function embedVersion(
  { embedders, log }: AppContext,
  model: string,
  texts: Pick<EmbeddedTexts, 'purpose' | 'examples'>,
): Promise<VersionVector | undefined> {
  const embedder = embedders.find(model)
  if (embedder === undefined) return undefined
  try {
    const [vectors] = await embedVersions(embedder.model, [texts], (all) => embedder.embed(all))
    return vectors
  } catch (error) {
    if (embedder === embedders.offline) throw error
    log.warn({ err: error, model }, 'a version is saved without a vector of this model')
    return undefined
  }
}

/**
 * Stores what goes with a version besides its row: the contracts that it pins, and its vectors.
 *
 * @throws ServiceError `EMBEDDING_MODEL_CHANGED` if a model is needed since that was not asked.
 */
export async function storeCompanions(
  transaction: Transaction,
  app: AppContext,
  { tenantId, versionId }: { readonly tenantId: string; readonly versionId: Id<'version'> },
  { contracts, models, vectors }: PreparedVersion,
): Promise<void> {
  const needed = await lockNeededModels(transaction, app)
  const missed = needed.find((model) => !models.includes(model))
  if (missed !== undefined) throw new ServiceError('EMBEDDING_MODEL_CHANGED', { model: missed })
  await insertContracts(transaction, tenantId, contracts)
  await upsertVersionVectors(transaction, tenantId, versionId, vectors)
}

/** The models that need vectors of the version and have not all: by them search would not find it, or nobody knows whether. */
export async function listMissingModels(
  transaction: Transaction,
  app: AppContext,
  { id, purpose, definition }: Pick<ProcedureVersion, 'id' | 'purpose' | 'definition'>,
): Promise<readonly string[]> {
  const needed = await lockNeededModels(transaction, app)
  const stored = await listVersionModels(transaction, id, purpose, examplesOf(definition))
  return needed.filter((model) => !stored.includes(model))
}
