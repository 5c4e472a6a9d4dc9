import type { AppContext } from '../context.ts'
import {
  listSealedBehind,
  lockLearning,
  lockRemembered,
  moveLearningCursor,
} from '../db/queries/experience-runs.ts'
import { insertRunExperiences, type NewExperience } from '../db/queries/experiences.ts'
import { listRunRows } from '../db/queries/run-rows.ts'
import { type Id, newId } from '../domain/ids.ts'
import { executorAgentId, hashesOf } from '../learning/experience.ts'
import { experienceOfRun } from '../learning/experience-of-run.ts'
import { servicePrincipal } from './audit-chore.ts'
import { openWithholding } from './withhold-sensitive.ts'

/** How many sealed records are looked at in one transaction. An embedded database does nothing else meanwhile. */
const atOnce = { postgres: 100, pglite: 25 } as const

/**
 * Records what the next sealed runs of a tenant have experienced, and answers how many records were looked at; 0 when
 * there are no more, or another process is at it. It reads what is committed and sealed, and so costs the runs nothing.
 */
export async function recordRuns(app: AppContext, tenantId: string): Promise<number> {
  const db = app.database.forTenant(tenantId)
  const withhold = await openWithholding(db)
  return db.kysely.transaction().execute(async (transaction) => {
    const cursor = await lockLearning(transaction, tenantId)
    if (cursor === undefined) return 0
    const limit = atOnce[app.database.kind]
    const { runs, count, last } = await listSealedBehind(transaction, cursor, limit)
    if (last === undefined) return 0
    const now = app.clock.now()
    const remembered = await lockRemembered(transaction, runs)
    const rows = await listRunRows(transaction, remembered, false)
    const experiences = [...rows].flatMap(([id, run]): readonly NewExperience[] => {
      const experience = experienceOfRun(run, withhold)
      if (experience === undefined) return []
      return [
        {
          ...experience,
          ...hashesOf(experience.situation, experience.actionSequence),
          id: newId('experience', now),
          agentId: executorAgentId,
          scoredBy: 'heuristic',
          sessionId: null,
          executionId: id as Id<'execution'>,
          recordedBy: servicePrincipal(tenantId),
          createdAt: new Date(now),
        },
      ]
    })
    await insertRunExperiences(transaction, tenantId, experiences)
    await moveLearningCursor(transaction, tenantId, last)
    return count
  })
}
