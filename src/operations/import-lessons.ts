import { z } from 'zod'
import { deleteLessons, insertLessons, listLessons, updateRevision } from '../db/queries/lessons.ts'
import { hashOf } from '../domain/canonical.ts'
import { newId } from '../domain/ids.ts'
import { lessonLimits } from '../learning/lesson.ts'
import { areEqualLines } from '../learning/lesson-merge.ts'
import { lockLessons, refuseTooMany } from './change-lessons.ts'
import { defineAdministration } from './define.ts'
import { entryCount, lessonFields, taskTag, toLessonFields } from './lesson-output.ts'

const importedLesson = z
  .strictObject(lessonFields)
  .refine(({ credit, creditedRuns }) => credit <= creditedRuns, {
    path: ['credit'],
    message: 'must be at most creditedRuns: a run gives at most 1',
  })

/**
 * Takes lessons into a task tag, in their order, all or none. Lines that it has already stay as they are; with `replace` it
 * has just these afterwards.
 */
export const importLessons = defineAdministration({
  name: 'importLessons',
  summary: 'Import lessons into a task tag',
  input: z.strictObject({
    taskTag,
    lessons: z
      .array(importedLesson)
      .max(lessonLimits.entries.max)
      .superRefine((lessons, context) => {
        for (const [at, lesson] of lessons.entries()) {
          const first = lessons.findIndex((one) => areEqualLines(one, lesson))
          if (first === at) continue
          const message = `says the same as lessons.${first}; each line is there once`
          context.addIssue({ code: 'custom', path: [at, 'content'], message })
        }
      })
      .describe('As an export has them'),
    replace: z.boolean().default(false).describe('Remove what the tag has besides'),
  }),
  output: z.object({
    taskTag: z.string(),
    addedCount: z.int(),
    keptCount: z.int().describe('Lines that were there already'),
    removedCount: z.int(),
    entryCount,
  }),
  errors: ['LESSON_LIMIT_REACHED'],
  roles: ['admin'],
  async change({ app, db }, transaction, { taskTag: tag, lessons, replace }) {
    const { set, lessons: before } = await lockLessons(transaction, db.tenantId, tag)
    const removed = replace ? before : []
    const kept = replace ? [] : before
    const added = lessons.filter((lesson) => !kept.some((one) => areEqualLines(one, lesson)))
    refuseTooMany(tag, kept.length + added.length)
    const now = app.clock.now()
    await deleteLessons(
      transaction,
      removed.map(({ id }) => id),
    )
    await insertLessons(
      transaction,
      db.tenantId,
      tag,
      added.map((lesson) => ({
        ...lesson,
        id: newId('lesson', now),
        createdAt: new Date(now),
        embedded: null,
      })),
    )
    const isSame = removed.length + added.length === 0
    const after = isSame ? set : await updateRevision(transaction, tag, new Date(now))
    const counts = {
      addedCount: added.length,
      keptCount: lessons.length - added.length,
      removedCount: removed.length,
    }
    return {
      output: { taskTag: tag, ...counts, entryCount: after.entryCount },
      audit: [
        {
          action: 'lessons.imported',
          entityKind: 'lesson',
          entityId: tag,
          beforeHash: hashOf(before.map(toLessonFields)),
          afterHash: hashOf((await listLessons(transaction, tag)).map(toLessonFields)),
          details: { taskTag: tag, ...counts },
        },
      ],
    }
  },
})
