import type { AppContext } from '../context.ts'
import { listEmbeddingModels } from '../db/queries/embedding-models.ts'
import {
  type ExperienceVectors,
  insertExperienceVectors,
  listVectorsOf,
  type ToEmbed,
} from '../db/queries/experience-vectors.ts'
import { repeatSimilarity } from '../learning/experience-rank.ts'
import { ModelFailed } from '../openai/failure.ts'
import { failureText } from '../reply/model.ts'

/** The models whose vectors every experience must have: the one in use, and the one that is being switched to. */
export interface NeededVectors {
  readonly current: string
  readonly models: readonly string[]
  /** Stored with an experience that has them all. */
  readonly mark: string
}

export async function neededVectors(app: AppContext): Promise<NeededVectors> {
  const known = await listEmbeddingModels(app.database.system)
  const current = known.find(({ isCurrent }) => isCurrent)?.name ?? app.embedders.offline.model
  const switching = known.flatMap(({ name, switchingSince }) => (switchingSince ? [name] : []))
  const models = [...new Set([current, ...switching])].sort()
  return { current, models, mark: models.join(',') }
}

/** The models by which experiences are looked for, now or before long. */
export async function searchedModels(app: AppContext): Promise<ReadonlySet<string>> {
  const { models } = await neededVectors(app)
  return new Set([...models, app.embedders.offline.model])
}

/**
 * Makes the vectors that experiences lack, and those of the offline model, by which is found what the other one does not
 * answer for. Answers how many have all that are needed now: a model that does not answer fails nothing, and its vectors
 * follow with the next call.
 */
export async function embedExperiences(
  app: AppContext,
  tenantId: string,
  items: readonly ToEmbed[],
  needed: NeededVectors,
  withinMs?: number,
): Promise<number> {
  const db = app.database.forTenant(tenantId)
  const ids = items.map(({ id }) => id)
  const there = new Set(await listVectorsOf(db.kysely, ids))
  const made = new Map<string, ExperienceVectors['vectors'][number][]>()
  for (const model of new Set([...needed.models, app.embedders.offline.model])) {
    const lacking = items.filter(({ id }) => !there.has(`${id} ${model}`))
    const vectors = await vectorsOf(app, model, lacking, withinMs)
    for (const [index, { id }] of lacking.entries()) {
      const vector = vectors?.[index]
      if (vector === undefined) continue
      there.add(`${id} ${model}`)
      if (vector === 'refused') continue
      made.set(id, [...(made.get(id) ?? []), { model, vector }])
    }
  }
  const similarity = repeatSimilarity(needed.current)
  let complete = 0
  for (const { id, situationHash } of items) {
    const isComplete = needed.models.every((model) => there.has(`${id} ${model}`))
    const vectors = made.get(id) ?? []
    if (!isComplete && vectors.length === 0) continue
    await db.kysely.transaction().execute((transaction) =>
      insertExperienceVectors(
        transaction,
        tenantId,
        { id, situationHash, vectors },
        {
          embeddedWith: isComplete ? needed.mark : '',
          repeats: { model: needed.current, similarity },
        },
      ),
    )
    if (isComplete) complete += 1
  }
  return complete
}

async function vectorsOf(
  app: AppContext,
  model: string,
  items: readonly ToEmbed[],
  withinMs: number | undefined,
): Promise<readonly (Float32Array | 'refused' | undefined)[] | undefined> {
  const { embedders, log } = app
  const embedder = embedders.find(model)
  if (embedder === undefined || items.length === 0) return undefined
  try {
    return await embedder.embed(
      items.map(({ situation }) => situation),
      withinMs === undefined ? {} : { withinMs },
    )
  } catch (error) {
    if (error instanceof ModelFailed && error.code === 'request_rejected') {
      // One text that a server does not take must not hold up the others, nor be asked about for ever.
      if (items.length === 1) return ['refused']
      const each: (Float32Array | 'refused' | undefined)[] = []
      for (const item of items) each.push((await vectorsOf(app, model, [item], withinMs))?.[0])
      return each
    }
    // Of errors that are not the model's own nobody knows what they quote.
    log.warn({ model, problem: failureText(error) }, 'experiences are embedded later')
    return undefined
  }
}
