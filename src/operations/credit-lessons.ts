import { z } from 'zod'
import { takeShowing } from '../db/queries/lesson-showings.ts'
import { lockLessonSet, updateCredit } from '../db/queries/lessons.ts'
import { ServiceError } from '../domain/errors.ts'
import { defineOperation } from './define.ts'
import { score } from './lesson-output.ts'
import { showingId } from './shapes.ts'

/**
 * Tells how a run went that was shown lessons: each of them that is still there earns its score. Once a showing, by whom it
 * was shown to. Credit orders and drops nothing.
 */
export const creditLessons = defineOperation({
  name: 'creditLessons',
  summary: 'Tell how a run went that was shown lessons',
  input: z.strictObject({
    showingId,
    score: score.describe('How the run went, 0 to 1'),
  }),
  output: z.object({
    taskTag: z.string(),
    creditedCount: z.int().describe('How many of the lines are still there'),
  }),
  errors: ['SHOWING_NOT_FOUND'],
  roles: ['agent', 'admin'],
  async run({ caller, db }, { showingId: id, score: earned }) {
    return db.kysely.transaction().execute(async (transaction) => {
      const showing = await takeShowing(transaction, id, caller.principal.id)
      if (showing === undefined) throw new ServiceError('SHOWING_NOT_FOUND', { showingId: id })
      const { taskTag, lessonIds } = showing
      // Whoever curates holds it before any line, and so do we.
      await lockLessonSet(transaction, db.tenantId, taskTag)
      const credited = await updateCredit(transaction, taskTag, lessonIds, earned)
      return { taskTag, creditedCount: credited.length }
    })
  },
})
