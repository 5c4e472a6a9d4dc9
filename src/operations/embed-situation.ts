import { listEmbeddingModels } from '../db/queries/embedding-models.ts'
import { maxShownLength } from '../domain/sensitive-text.ts'
import { defaultMinSimilarity } from '../learning/experience-rank.ts'
import type { OperationContext } from './define.ts'
import { openWithholding } from './withhold-sensitive.ts'

/**
 * A situation as the model in use sees it, with the least similarity that counts as alike by that model. To a server goes
 * nothing that is sensitive.
 *
 * @throws ServiceError `EMBEDDER_UNAVAILABLE`.
 */
export async function embedSituation(
  { app, db }: Pick<OperationContext, 'app' | 'db'>,
  situation: string,
): Promise<{
  readonly model: string
  readonly vector: Float32Array
  /** The model in use did not answer in time, and this is the offline one. */
  readonly fellBack: boolean
  readonly minSimilarity: number
}> {
  const models = await listEmbeddingModels(app.database.system)
  const current = models.find(({ isCurrent }) => isCurrent)?.name ?? app.embedders.offline.model
  const text = app.embedders.isHosted(current)
    ? (await openWithholding(db)).text(situation.slice(0, maxShownLength))
    : situation
  const embedded = await app.embedders.embedQuery(current, text)
  const measured = models.find(({ name, calibrated }) => name === embedded.model && calibrated)
  return {
    ...embedded,
    minSimilarity: defaultMinSimilarity(embedded.model, measured?.minSimilarity),
  }
}
