import { z } from 'zod'
import { insertShowing } from '../db/queries/lesson-showings.ts'
import { listLessons } from '../db/queries/lessons.ts'
import { newId } from '../domain/ids.ts'
import { renderLessons } from '../learning/lesson-render.ts'
import { defineOperation } from './define.ts'
import { setOutput, taskTag, toLessonOutput } from './lesson-output.ts'

/**
 * The lessons of a task tag for a run that begins, noted as shown: `creditLessons` tells later how the run went. Each call
 * is a showing of its own.
 */
export const showLessons = defineOperation({
  name: 'showLessons',
  summary: 'Take the lessons of a task tag into a run',
  input: z.strictObject({ taskTag }),
  output: z.object({
    taskTag: setOutput.taskTag,
    entries: setOutput.entries,
    text: setOutput.text,
    showingId: z
      .string()
      .nullable()
      .describe('Give it back with the score of the run; null: there was nothing to show'),
  }),
  errors: [],
  roles: ['agent', 'admin'],
  async run({ app, caller, db }, { taskTag: tag }) {
    const lessons = await listLessons(db.kysely, tag)
    const [shown, text] = [lessons.map(toLessonOutput), renderLessons(lessons)]
    if (lessons.length === 0) return { taskTag: tag, entries: shown, text, showingId: null }
    const now = app.clock.now()
    const id = newId('showing', now)
    await insertShowing(db.kysely, db.tenantId, {
      id,
      taskTag: tag,
      principalId: caller.principal.id,
      lessonIds: lessons.map((lesson) => lesson.id),
      shownAt: new Date(now),
    })
    return { taskTag: tag, entries: shown, text, showingId: id }
  },
})
