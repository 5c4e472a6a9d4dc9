import type { Transaction } from '../db/connect.ts'
import {
  findLesson,
  type LessonSet,
  listLessons,
  lockLessonSet,
  type StoredLesson,
} from '../db/queries/lessons.ts'
import { hashOf } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'
import { type LessonLine, lessonLimits } from '../learning/lesson.ts'
import { areEqualLines } from '../learning/lesson-merge.ts'

/** What all acts by hand have in common: the lines of a tag, locked, and what may be done with them. */
export interface LockedLessons {
  readonly set: LessonSet
  readonly lessons: readonly StoredLesson[]
}

export async function lockLessons(
  transaction: Transaction,
  tenantId: string,
  taskTag: string,
): Promise<LockedLessons> {
  const set = await lockLessonSet(transaction, tenantId, taskTag)
  return { set, lessons: await listLessons(transaction, taskTag) }
}

/**
 * A line and those beside it, which nobody else changes until the transaction ends.
 *
 * @throws ServiceError `LESSON_NOT_FOUND`
 */
export async function lockLesson(
  transaction: Transaction,
  tenantId: string,
  lessonId: Id<'lesson'>,
): Promise<LockedLessons & { readonly lesson: StoredLesson }> {
  const found = await findLesson(transaction, lessonId)
  if (found === undefined) throw new ServiceError('LESSON_NOT_FOUND', { lessonId })
  const locked = await lockLessons(transaction, tenantId, found.taskTag)
  // Somebody may have dropped it while we waited.
  const lesson = locked.lessons.find(({ id }) => id === lessonId)
  if (lesson === undefined) throw new ServiceError('LESSON_NOT_FOUND', { lessonId })
  return { ...locked, lesson }
}

/** @throws ServiceError `LESSON_EXISTS` when one of the lines, other than `but`, is this one. */
export function refuseEqual(
  { set: { taskTag }, lessons }: LockedLessons,
  line: LessonLine,
  but?: Id<'lesson'>,
): void {
  const same = lessons.find((lesson) => lesson.id !== but && areEqualLines(lesson, line))
  if (same !== undefined) throw new ServiceError('LESSON_EXISTS', { lessonId: same.id, taskTag })
}

/** @throws ServiceError `LESSON_LIMIT_REACHED` */
export function refuseTooMany(taskTag: string, count: number): void {
  const atMost = lessonLimits.entries.max
  if (count > atMost) throw new ServiceError('LESSON_LIMIT_REACHED', { taskTag, atMost })
}

/** What the audit log has of a line: it may be removed, and its words with it. */
export function hashOfLine({ kind, content }: LessonLine): string {
  return hashOf({ kind, content })
}
