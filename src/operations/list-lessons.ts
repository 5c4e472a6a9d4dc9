import { z } from 'zod'
import { listLessonSets } from '../db/queries/lessons.ts'
import { defineOperation } from './define.ts'
import { entryCount, taskTag } from './lesson-output.ts'
import { instant, nextCursor, pageBy } from './shapes.ts'

/** A page of the task tags that have lessons. */
export const listLessons = defineOperation({
  name: 'listLessons',
  summary: 'List the task tags that have lessons',
  input: z.strictObject(pageBy((text) => taskTag.safeParse(text).success)),
  output: z.object({
    items: z.array(
      z.object({
        taskTag: z.string(),
        entryCount,
        revision: z.int(),
        updatedAt: instant.nullable(),
      }),
    ),
    nextCursor,
  }),
  errors: [],
  roles: ['agent', 'admin', 'auditor'],
  async run({ db }, { limit, cursor }) {
    const rows = await listLessonSets(db.kysely, { limit: limit + 1, after: cursor })
    const items = rows.slice(0, limit)
    return {
      items: items.map(({ updatedAt, ...set }) => ({
        ...set,
        updatedAt: updatedAt?.toISOString() ?? null,
      })),
      nextCursor: rows.length > limit ? (items.at(-1)?.taskTag ?? null) : null,
    }
  },
})
