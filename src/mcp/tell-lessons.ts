import type { z } from 'zod'
import type { showLessons } from '../operations/show-lessons.ts'

/** The lessons of a tag, for a model. */
export function tellLessons({
  taskTag,
  text,
  showingId,
}: z.infer<typeof showLessons.output>): string {
  if (showingId === null) return `Nothing was learned for '${taskTag}' yet.`
  return `${text}\n\nNext: begin. When you are done, call credit_lessons with the showingId ${showingId} and the score of the run.`
}
