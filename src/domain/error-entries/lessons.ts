import { define } from './entry.ts'

/** What agents have learned, line by line. */
export const lessons = {
  LESSON_NOT_FOUND: define<{ lessonId: string }>(
    'not_found',
    (d) =>
      `There is no lesson ${d.lessonId}; a curation may have dropped it. 'stepwarden lessons show TAG' shows which there are.`,
  ),
  LESSON_EXISTS: define<{ lessonId: string; taskTag: string }>(
    'conflict',
    (d) => `The lessons of '${d.taskTag}' have this line already: ${d.lessonId}. Edit that one.`,
  ),
  LESSON_LIMIT_REACHED: define<{ taskTag: string; atMost: number }>(
    'conflict',
    (d) =>
      `'${d.taskTag}' would have more than ${d.atMost} lessons. Remove those that are not needed any more.`,
  ),
  SHOWING_NOT_FOUND: define<{ showingId: string }>(
    'not_found',
    (d) =>
      `You were shown no lessons as ${d.showingId}, or have told of that run already. Showings are kept for 7 days; ask for the lessons anew at the next run.`,
  ),
}
