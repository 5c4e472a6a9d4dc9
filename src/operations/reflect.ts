import type { AppContext } from '../context.ts'
import type { LessonLine, RunFeedback } from '../learning/lesson.ts'
import { lessonCandidates } from '../learning/lesson-candidates.ts'

/** What a run teaches, and which model has said so; null: none. */
export async function reflect(
  _app: AppContext,
  feedback: RunFeedback,
  lastAnswer: string,
): Promise<{ readonly lines: readonly LessonLine[]; readonly reflector: string | null }> {
  return { lines: lessonCandidates(feedback, lastAnswer), reflector: null }
}
