import type { AppContext } from '../context.ts'
import type { Transaction } from '../db/connect.ts'
import { lockEmbeddingModels, type RegisteredModel } from '../db/queries/embedding-models.ts'
import { ServiceError } from '../domain/errors.ts'
import { isPassing, ModelFailed } from '../openai/failure.ts'
import type { Embedder } from '../search/embedder.ts'

/**
 * The models under which every version must have a vector: the one in use, the one that search falls back on, and the
 * one that is being switched to.
 */
export function neededModels(
  models: readonly RegisteredModel[],
  { embedders }: AppContext,
): readonly string[] {
  const inUse = models.filter(({ isCurrent, switchingSince }) => isCurrent || switchingSince)
  return [...new Set([...inUse.map(({ name }) => name), embedders.offline.model])]
}

/** The same; which models these are stays so until the transaction ends. */
export async function lockNeededModels(
  transaction: Transaction,
  app: AppContext,
): Promise<readonly string[]> {
  return neededModels(await lockEmbeddingModels(transaction, 'share'), app)
}

/**
 * The embedder of a model.
 *
 * @throws ServiceError `EMBEDDING_MODEL_UNKNOWN` naming those that this process has.
 */
export function getEmbedder({ embedders }: AppContext, model: string): Embedder {
  const embedder = embedders.find(model)
  if (embedder !== undefined) return embedder
  const known = embedders.all.map((one) => one.model)
  throw new ServiceError('EMBEDDING_MODEL_UNKNOWN', { model, known })
}

/**
 * Vectors of texts, for those who need them of this model and no other.
 *
 * @throws ServiceError `EMBEDDER_UNAVAILABLE` when it gives none.
 */
export async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
): Promise<readonly Float32Array[]> {
  try {
    return await embedder.embed(texts)
  } catch (error) {
    if (!(error instanceof ModelFailed)) throw error
    const why = error.message.replace(/^The /, 'the ').replace(/\.$/, '')
    const { model } = embedder
    const details = { model, problem: `gives no vectors: ${why}`, nextMove: nextMoveAfter(error) }
    throw new ServiceError('EMBEDDER_UNAVAILABLE', details, { cause: error })
  }
}

/** What can be done about it, where the failure does not say so itself. */
function nextMoveAfter(failure: ModelFailed): string {
  if (failure.code === 'timed_out' || isPassing(failure)) return 'Try again later.'
  if (failure.code === 'key_rejected' || failure.code === 'model_unknown') {
    return 'Trying again without that changes nothing.'
  }
  return 'Check that STEPWARDEN_EMBEDDING_MODEL and STEPWARDEN_EMBEDDING_DIMENSIONS are those of the server.'
}
