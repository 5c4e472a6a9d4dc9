import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import { listEmbeddingModels } from '../db/queries/embedding-models.ts'
import {
  claimMeasuring,
  countExperienceVectors,
  endMeasuring,
  findExperienceIndex,
  listTenantsBeyondScan,
  type RecordedSituation,
  sampleSituations,
  storeRecall,
} from '../db/queries/experience-indexes.ts'
import {
  type ExperienceSearch,
  hasManyExperiences,
  scanExperiences,
} from '../db/queries/experience-search.ts'
import { defaultMinSimilarity, rankExperiences } from '../learning/experience-rank.ts'
import { searchedModels } from './embed-experiences.ts'
import { findByIndex, leastRecall } from './find-experiences.ts'
import { pause } from './pause.ts'

const measuredEveryMs = 7 * 86_400_000
/** A process that has not come to an end by then has died over it. */
const givenUpAfterMs = 3_600_000
/** How many recorded situations are asked for. */
const sampleSize = 50
const topK = 5
/** An exact scan may take long, and others work beside it. */
const pauseMs = 20

/** What an index of a model finds in a tenant, of what is there. */
export interface TenantRecall {
  readonly tenantId: string
  readonly model: string
  /** 0 to 1. */
  readonly recall: number
}

/**
 * Measures the indexes of experiences that are there, of the models in use: of each tenant that has more than are compared
 * one by one, once a week, and once an index was made anew. Recorded situations are looked for as their agents would, by
 * the index and by the exact scan: the recall is what the index has found of what the scan finds, and one that does not
 * decide has found nothing. Answers what it has measured.
 */
export async function measureRecalls(
  app: AppContext,
  signal?: AbortSignal,
): Promise<readonly TenantRecall[]> {
  const measured: TenantRecall[] = []
  const known = await listEmbeddingModels(app.database.system)
  for (const model of await searchedModels(app)) {
    const thresholds = known.find(({ name, calibrated }) => name === model && calibrated)
    const minSimilarity = defaultMinSimilarity(model, thresholds?.minSimilarity)
    const index = await findExperienceIndex(app.database.system.kysely, model)
    if (index.state !== 'whole') continue
    for (const tenantId of await listTenantsBeyondScan(app.database, model)) {
      if (signal?.aborted) return measured
      const recall = await measureOf(app, tenantId, { model, minSimilarity }, signal)
      if (recall !== undefined) measured.push({ tenantId, model, recall })
    }
  }
  return measured
}

interface Measured {
  readonly model: string
  /** As it holds where nobody names another one. */
  readonly minSimilarity: number
}

async function measureOf(
  app: AppContext,
  tenantId: string,
  { model, minSimilarity }: Measured,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const db = app.database.forTenant(tenantId)
  const now = app.clock.now()
  const { file, measuredAt } = await findExperienceIndex(db.kysely, model)
  const isFresh = measuredAt !== null && measuredAt.getTime() > now - measuredEveryMs
  if (file === null || isFresh) return undefined
  const givenUpBefore = new Date(now - givenUpAfterMs)
  if (!(await claimMeasuring(db.kysely, tenantId, new Date(now), givenUpBefore))) return undefined
  try {
    const measure = await measureRecall(db, { model, minSimilarity }, signal)
    if (measure === undefined) return undefined
    const rowCount = await countExperienceVectors(db.kysely, model)
    const { recall } = measure
    await storeRecall(db.kysely, tenantId, {
      ...{ model, file, ...measure, rowCount },
      at: new Date(app.clock.now()),
    })
    if (recall < leastRecall) {
      app.log.warn({ tenantId, model, recall }, 'an index of experiences finds too little')
    }
    return recall
  } finally {
    await endMeasuring(db.kysely, tenantId)
  }
}

async function measureRecall(
  db: TenantDb,
  { model, minSimilarity }: Measured,
  signal: AbortSignal | undefined,
): Promise<{ readonly recall: number; readonly sampleCount: number } | undefined> {
  const sample = await sampleSituations(db.kysely, model, sampleSize)
  const asked = { minSimilarity, topK }
  let [wanted, found] = [0, 0]
  for (const situation of sample) {
    if (signal?.aborted) return undefined
    const search = await searchFor(db, model, situation)
    const exact = rankExperiences(await scanExperiences(db, search, asked), asked)
    const ids = new Set((await findByIndex(db, search, asked))?.map(({ id }) => id))
    wanted += exact.length
    found += exact.filter(({ id }) => ids.has(id)).length
    await pause(pauseMs, signal)
  }
  return wanted === 0 ? undefined : { recall: found / wanted, sampleCount: sample.length }
}

/** As the agent would ask, unless of its own there are so few that no index is asked. */
async function searchFor(
  db: TenantDb,
  model: string,
  { agentId, outcomeType, vector }: RecordedSituation,
): Promise<ExperienceSearch> {
  const own = { agentIds: [agentId], outcomeType }
  const filter = (await hasManyExperiences(db, own)) ? own : {}
  return { model, vector, ...filter }
}
