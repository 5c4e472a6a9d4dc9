import { z } from 'zod'
import { findLessonSet, listLessons } from '../db/queries/lessons.ts'
import { renderLessons } from '../learning/lesson-render.ts'
import { defineOperation } from './define.ts'
import { setOutput, taskTag, toLessonOutput } from './lesson-output.ts'

/** The lessons of a task tag, and the same as text; none for a tag that nothing was ever learned for. */
export const getLessons = defineOperation({
  name: 'getLessons',
  summary: 'Show the lessons of a task tag',
  input: z.strictObject({ taskTag }),
  output: z.object(setOutput),
  errors: [],
  roles: ['agent', 'admin', 'auditor'],
  async run({ db }, { taskTag: tag }) {
    const set = await findLessonSet(db.kysely, tag)
    const lessons = set === undefined ? [] : await listLessons(db.kysely, tag)
    return {
      taskTag: tag,
      revision: set?.revision ?? 0,
      entries: lessons.map(toLessonOutput),
      text: renderLessons(lessons),
    }
  },
})
