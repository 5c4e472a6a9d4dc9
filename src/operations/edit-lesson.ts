import { z } from 'zod'
import { updateLine, updateRevision } from '../db/queries/lessons.ts'
import { hashOfLine, lockLesson, refuseEqual } from './change-lessons.ts'
import { defineAdministration } from './define.ts'
import { lessonContent, lessonKind, lessonOutput, toLessonOutput } from './lesson-output.ts'
import { lessonId } from './shapes.ts'

/** Changes what a lesson says. What came of it so far stays; from now on it counts as written by hand. */
export const editLesson = defineAdministration({
  name: 'editLesson',
  summary: 'Change what a lesson says',
  input: z.strictObject({
    lessonId,
    kind: lessonKind.optional(),
    content: lessonContent.optional(),
  }),
  output: lessonOutput,
  errors: ['LESSON_NOT_FOUND', 'LESSON_EXISTS'],
  roles: ['admin'],
  async change({ app, db }, transaction, { lessonId: id, ...input }) {
    const locked = await lockLesson(transaction, db.tenantId, id)
    const { lesson: before, set } = locked
    const after = {
      ...before,
      kind: input.kind ?? before.kind,
      content: input.content ?? before.content,
      isByHand: true,
    }
    refuseEqual(locked, after, id)
    await updateLine(transaction, id, after)
    await updateRevision(transaction, set.taskTag, new Date(app.clock.now()))
    return {
      output: toLessonOutput(after),
      audit: [
        {
          action: 'lesson.edited',
          entityKind: 'lesson',
          entityId: id,
          beforeHash: hashOfLine(before),
          afterHash: hashOfLine(after),
          details: { taskTag: set.taskTag, kind: after.kind },
        },
      ],
    }
  },
})
