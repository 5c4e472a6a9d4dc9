import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { AppContext } from '../context.ts'
import {
  countVectors,
  listEmbeddedTexts,
  listEmbeddingModels,
  listVersionsWithoutVector,
  lockEmbeddedTexts,
  lockEmbeddingModels,
  type RegisteredModel,
  updateCurrentModel,
  type VersionPlace,
} from '../db/queries/embedding-models.ts'
import { upsertVersionVectors } from '../db/queries/embeddings.ts'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import { defineAdministration } from './define.ts'
import { embedVersions } from './embed-versions.ts'
import { embedAll, getEmbedder } from './embedding-models.ts'

/** How many versions are embedded together. */
const batchSize = 64
/** How long one call works, so that a caller sees progress and can stop. */
const workMs = 2_000

/**
 * Carries the switch that is under way on for about two seconds: makes the vectors that versions of any tenant still
 * lack, of the new model and of the offline one, and when none is lacking moves the pointer. What is done is stored batch
 * by batch, so that whoever is stopped or killed loses one, and anybody may call it again, or several at once.
 */
export const continueEmbeddingSwitch = defineAdministration({
  name: 'continueEmbeddingSwitch',
  summary: 'Carry the switch of the embedding model on, until it is done',
  input: z.strictObject({}),
  output: z.object({
    model: z.string().nullable().describe('What is being switched to; null when nothing is'),
    vectorCount: z.int().describe('Versions of all tenants that have a vector of it'),
    versionCount: z.int().describe('Versions of all tenants'),
    isDone: z.boolean().describe('Search uses the model now, or no switch was under way'),
  }),
  errors: ['EMBEDDING_MODEL_UNKNOWN', 'EMBEDDER_UNAVAILABLE'],
  roles: ['admin'],
  concernsAllTenants: true,
  async prepare({ app }) {
    const target = targetOf(await listEmbeddingModels(app.database.system))
    if (target === undefined) return
    await makeVectors(app, target.name).catch((error: unknown) => {
      throw carryOnError(error, target.name)
    })
  },
  async change({ app }, transaction) {
    // Nobody saves or activates a version while the models are locked, so that what is complete here stays so.
    const models = await lockEmbeddingModels(transaction, 'update')
    const target = targetOf(models)
    const { versions, byModel } = await countVectors(transaction)
    if (target === undefined) {
      const output = { model: null, vectorCount: 0, versionCount: versions, isDone: true }
      return { output, audit: [] }
    }
    const { name: model } = target
    const output = { model, vectorCount: byModel.get(model) ?? 0, versionCount: versions }
    const isComplete = [model, app.embedders.offline.model].every(
      (name) => (byModel.get(name) ?? 0) === versions,
    )
    if (!isComplete) return { output: { ...output, isDone: false }, audit: [] }
    await updateCurrentModel(transaction, model)
    return {
      output: { ...output, isDone: true },
      audit: [
        {
          action: 'embeddings.switched',
          entityKind: 'embedding_model',
          entityId: model,
          details: {
            from: models.find(({ isCurrent }) => isCurrent)?.name ?? null,
            versionCount: versions,
          },
        },
      ],
    }
  },
})

function targetOf(models: readonly RegisteredModel[]): RegisteredModel | undefined {
  return models.find(({ switchingSince }) => switchingSince !== null)
}

/** A failure on the way, which says where the switch stands: whoever began it may think that nothing has happened. */
function carryOnError(error: unknown, target: string): unknown {
  if (!isServiceError(error, 'EMBEDDER_UNAVAILABLE')) return error
  const { nextMove = 'Try again later.', ...details } = error.details
  const standing = `The switch is begun, and 'stepwarden embeddings switch ${target}' carries it on.`
  return new ServiceError(
    'EMBEDDER_UNAVAILABLE',
    { ...details, nextMove: `${nextMove} ${standing}` },
    { cause: error },
  )
}

async function makeVectors(app: AppContext, target: string): Promise<void> {
  const startedAt = performance.now()
  for (const model of new Set([target, app.embedders.offline.model])) {
    let behind: VersionPlace | undefined
    while (performance.now() - startedAt < workMs) {
      const batch = await listVersionsWithoutVector(
        app.database.system.kysely,
        model,
        behind,
        batchSize,
      )
      behind = batch.at(-1)
      if (behind === undefined) break
      for (const tenantId of new Set(batch.map((place) => place.tenantId))) {
        const ids = batch.filter((place) => place.tenantId === tenantId)
        await makeVectorsOf(app, model, tenantId, ids)
      }
    }
  }
}

async function makeVectorsOf(
  app: AppContext,
  model: string,
  tenantId: string,
  places: readonly VersionPlace[],
): Promise<void> {
  const db = app.database.forTenant(tenantId)
  const versionIds = places.map(({ versionId }) => versionId)
  const read = await listEmbeddedTexts(db.kysely, versionIds)
  const embedder = getEmbedder(app, model)
  const vectors = await embedVersions(model, read, (texts) => embedAll(embedder, texts))
  await db.kysely.transaction().execute(async (transaction) => {
    // A draft may have been edited or deleted in the meantime.
    const now = await lockEmbeddedTexts(transaction, versionIds)
    for (const [index, texts] of read.entries()) {
      const [own, { versionId }] = [vectors[index], texts]
      if (own === undefined || !isDeepStrictEqual(now.get(versionId), texts)) continue
      await upsertVersionVectors(transaction, tenantId, versionId, [own])
    }
  })
}
