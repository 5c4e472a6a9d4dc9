import type { TenantDb } from '../db/connect.ts'
import { findExperienceIndex } from '../db/queries/experience-indexes.ts'
import {
  type ExperienceSearch,
  hasManyExperiences,
  listNearestExperiences,
  scanExperiences,
} from '../db/queries/experience-search.ts'
import {
  type FoundExperience,
  isDecided,
  type RankedExperience,
  rankExperiences,
} from '../learning/experience-rank.ts'

/** An index that finds less of what is there is not used. */
export const leastRecall = 0.95

/** How many of the nearest are looked at, until they decide. */
const batches = [64, 256, 1_024, 4_096] as const

/** The index compares halves of the precision, which is off by less than that. */
const slack = 0.001

/**
 * The most relevant experiences, by relevance, ties by id. Up to 10,000 that match are compared one by one; beyond, the
 * nearest are taken from an index whose recall was measured, in growing batches until no other could come before the last
 * of the answer. Where that does not decide, and without such an index, all are compared.
 */
export async function findExperiences(
  db: TenantDb,
  search: ExperienceSearch,
  asked: { readonly minSimilarity: number; readonly topK: number },
): Promise<{
  readonly found: readonly RankedExperience<FoundExperience>[]
  readonly by: 'scan' | 'index'
}> {
  if ((await hasManyExperiences(db, search)) && (await hasGoodIndex(db, search.model))) {
    const found = await findByIndex(db, search, asked)
    if (found !== undefined) return { found, by: 'index' }
  }
  return { found: rankExperiences(await scanExperiences(db, search, asked), asked), by: 'scan' }
}

async function hasGoodIndex(db: TenantDb, model: string): Promise<boolean> {
  const { state, recall } = await findExperienceIndex(db.kysely, model)
  return state === 'whole' && recall !== null && recall >= leastRecall
}

/** The same by the index alone; undefined where it does not decide. */
export async function findByIndex(
  db: TenantDb,
  search: ExperienceSearch,
  asked: { readonly minSimilarity: number; readonly topK: number },
): Promise<readonly RankedExperience<FoundExperience>[] | undefined> {
  for (const limit of batches) {
    const nearest = await listNearestExperiences(db, search, limit)
    // It has given up before there were enough.
    if (nearest.length < limit) return undefined
    const ranked = rankExperiences(nearest, asked)
    const furthest = Math.min(...nearest.slice(-8).map(({ similarity }) => similarity))
    if (isDecided(ranked, furthest, { ...asked, slack })) return ranked
  }
  return undefined
}
