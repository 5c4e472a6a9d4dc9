import { z } from 'zod'
import { insertLessons, updateRevision } from '../db/queries/lessons.ts'
import { newId } from '../domain/ids.ts'
import { hashOfLine, lockLessons, refuseEqual, refuseTooMany } from './change-lessons.ts'
import { defineAdministration } from './define.ts'
import {
  entryCount,
  lessonContent,
  lessonKind,
  lessonOutput,
  taskTag,
  toLessonOutput,
} from './lesson-output.ts'

/** Writes a lesson by hand. A curation drops it only when there is no line left that nobody wrote by hand. */
export const addLesson = defineAdministration({
  name: 'addLesson',
  summary: 'Write a lesson by hand',
  input: z.strictObject({ taskTag, kind: lessonKind, content: lessonContent }),
  output: lessonOutput.extend({ entryCount }),
  errors: ['LESSON_EXISTS', 'LESSON_LIMIT_REACHED'],
  roles: ['admin'],
  async change({ app, db }, transaction, { taskTag: tag, kind, content }) {
    const locked = await lockLessons(transaction, db.tenantId, tag)
    refuseEqual(locked, { kind, content })
    refuseTooMany(tag, locked.set.entryCount + 1)
    const now = app.clock.now()
    const lesson = {
      ...{ id: newId('lesson', now), kind, content, uses: 0, lastScore: null },
      ...{ credit: 0, creditedRuns: 0, isByHand: true, createdAt: new Date(now), embedded: null },
    }
    await insertLessons(transaction, db.tenantId, tag, [lesson])
    const after = await updateRevision(transaction, tag, new Date(now))
    return {
      output: { ...toLessonOutput({ ...lesson, taskTag: tag }), entryCount: after.entryCount },
      audit: [
        {
          action: 'lesson.added',
          entityKind: 'lesson',
          entityId: lesson.id,
          afterHash: hashOfLine(lesson),
          details: { taskTag: tag, kind },
        },
      ],
    }
  },
})
