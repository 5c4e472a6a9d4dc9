import { z } from 'zod'
import { deleteLessons, updateRevision } from '../db/queries/lessons.ts'
import { hashOfLine, lockLesson } from './change-lessons.ts'
import { defineAdministration } from './define.ts'
import { entryCount } from './lesson-output.ts'
import { lessonId } from './shapes.ts'

/** Removes a lesson for good. Runs may teach it again. */
export const removeLesson = defineAdministration({
  name: 'removeLesson',
  summary: 'Remove a lesson',
  input: z.strictObject({ lessonId }),
  output: z.object({ lessonId: z.string(), taskTag: z.string(), entryCount }),
  errors: ['LESSON_NOT_FOUND'],
  roles: ['admin'],
  async change({ app, db }, transaction, { lessonId: id }) {
    const { lesson, set } = await lockLesson(transaction, db.tenantId, id)
    await deleteLessons(transaction, [id])
    const after = await updateRevision(transaction, set.taskTag, new Date(app.clock.now()))
    return {
      output: { lessonId: id, taskTag: set.taskTag, entryCount: after.entryCount },
      audit: [
        {
          action: 'lesson.removed',
          entityKind: 'lesson',
          entityId: id,
          beforeHash: hashOfLine(lesson),
          details: { taskTag: set.taskTag, kind: lesson.kind },
        },
      ],
    }
  },
})
