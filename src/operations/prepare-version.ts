import type { AppContext } from '../context.ts'
import type { Db, Transaction } from '../db/connect.ts'
import { hasVersionEmbedding, upsertVersionEmbedding } from '../db/queries/embeddings.ts'
import { insertContracts } from '../db/queries/tool-contracts.ts'
import type { VersionContent } from '../db/queries/versions.ts'
import { sha256 } from '../domain/canonical.ts'
import { checkDefinition } from '../domain/checks.ts'
import { definitionHash } from '../domain/definition.ts'
import type { Id } from '../domain/ids.ts'
import { requireDefinition } from '../domain/parse-definition.ts'
import { walkSteps } from '../domain/step.ts'
import { buildSummary } from '../domain/summary.ts'
import type { ToolContract } from '../domain/tool.ts'

/** A definition made ready to be saved: parsed, checked, summed up and embedded, before any transaction. */
export interface PreparedVersion {
  readonly content: VersionContent
  readonly contracts: readonly { readonly contract: ToolContract; readonly contractHash: string }[]
  readonly embedding: {
    readonly model: string
    readonly textHash: string
    readonly vector: Float32Array
  }
}

/**
 * Prepares a definition document for saving. Findings do not stop it: a draft may be incomplete, and activation refuses
 * it then.
 *
 * @throws ServiceError `DEFINITION_INVALID` with every problem of the document.
 */
export async function prepareVersion(app: AppContext, document: unknown): Promise<PreparedVersion> {
  const definition = requireDefinition(document)
  const names = [...walkSteps(definition.steps)].flatMap((step) =>
    'tool' in step ? [step.tool] : [],
  )
  const used = [...new Set(names)].flatMap((name) => app.tools.find(name) ?? [])
  const contracts = used.map(({ contract, contractHash }) => ({ contract, contractHash }))
  const { summary, purpose } = buildSummary(definition)
  const [vector] = await app.embedder.embed([purpose])
  if (vector === undefined) throw new TypeError('an embedder gives a vector per text')
  return {
    content: {
      definition,
      definitionHash: definitionHash(definition),
      summary,
      purpose,
      toolContracts: Object.fromEntries(
        contracts.map(({ contract, contractHash }) => [contract.name, contractHash]),
      ),
      findings: checkDefinition(definition, (name) => app.tools.find(name)?.contract),
    },
    contracts,
    embedding: { model: app.embedder.model, textHash: sha256(purpose), vector },
  }
}

/** Stores what goes with a version besides its row: the contracts that it pins, and its vector. */
export async function storeCompanions(
  transaction: Transaction,
  tenantId: string,
  versionId: Id<'version'>,
  { contracts, embedding }: PreparedVersion,
): Promise<void> {
  await insertContracts(transaction, tenantId, contracts)
  await upsertVersionEmbedding(transaction, { tenantId, versionId, ...embedding })
}

/** True when search will find the version: its purpose has a vector of the model in use. */
export async function isFindable(
  db: Db,
  app: AppContext,
  version: { readonly id: Id<'version'>; readonly purpose: string },
): Promise<boolean> {
  return hasVersionEmbedding(db, version.id, app.embedder.model, sha256(version.purpose))
}
