import { z } from 'zod'
import { listLessons } from '../db/queries/lessons.ts'
import { hashOf } from '../domain/canonical.ts'
import { defineAdministration } from './define.ts'
import { lessonFields, taskTag, toLessonFields } from './lesson-output.ts'

/** The lessons of a task tag as `importLessons` takes them, in order. The audit log is told that they were taken away. */
export const exportLessons = defineAdministration({
  name: 'exportLessons',
  summary: 'Export the lessons of a task tag',
  input: z.strictObject({ taskTag }),
  output: z.object({
    taskTag: z.string(),
    lessons: z.array(z.object({ ...lessonFields, content: z.string() })),
  }),
  errors: [],
  roles: ['admin', 'auditor'],
  async change(_context, transaction, { taskTag: tag }) {
    const lessons = (await listLessons(transaction, tag)).map(toLessonFields)
    return {
      output: { taskTag: tag, lessons },
      audit: [
        {
          action: 'lessons.exported',
          entityKind: 'lesson',
          entityId: tag,
          beforeHash: hashOf(lessons),
          details: { taskTag: tag, count: lessons.length },
        },
      ],
    }
  },
})
