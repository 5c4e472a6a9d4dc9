import type { AppContext } from '../context.ts'
import { type ExperienceIndex, findExperienceIndex } from '../db/queries/experience-indexes.ts'
import { comparedOneByOne, hasManyExperiences } from '../db/queries/experience-search.ts'
import { searchedModels } from './embed-experiences.ts'
import { leastRecall } from './find-experiences.ts'

/** How experiences of a tenant are found by a model. */
export interface StandingIndex {
  readonly model: string
  /**
   * `small`: so few that all are compared; `good`: an index finds enough; `none`, `unfinished`, `unmeasured`, `poor`: all
   * are compared, because there is none, it is not whole, nobody has measured it yet, or it finds too little.
   */
  readonly standing: 'small' | 'good' | 'none' | 'unfinished' | 'unmeasured' | 'poor'
  readonly recall: number | null
  readonly measuredAt: Date | null
}

/** Beyond so many an index is worth it, and it is used from such a recall on. */
export const indexLimits = { comparedOneByOne, leastRecall } as const

/** How experiences of a tenant are found, by each model. */
export async function examineIndexes(
  app: AppContext,
  tenantId: string,
): Promise<readonly StandingIndex[]> {
  const db = app.database.forTenant(tenantId)
  const isLarge = await hasManyExperiences(db, {})
  const examined: StandingIndex[] = []
  for (const model of await searchedModels(app)) {
    const index = await findExperienceIndex(db.kysely, model)
    const { recall, measuredAt } = index
    examined.push({ model, standing: isLarge ? standingOf(index) : 'small', recall, measuredAt })
  }
  return examined
}

function standingOf({ state, recall }: ExperienceIndex): StandingIndex['standing'] {
  if (state !== 'whole') return state
  if (recall === null) return 'unmeasured'
  return recall >= leastRecall ? 'good' : 'poor'
}
