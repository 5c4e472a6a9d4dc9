import type { AppContext } from '../context.ts'
import type { LessonLine, RunFeedback } from '../learning/lesson.ts'
import { lessonCandidates } from '../learning/lesson-candidates.ts'
import { readReflection, reflectionQuestion } from '../learning/lesson-reflection.ts'
import { askInTime } from '../reply/model.ts'

/**
 * What a run teaches, and which model has said so; null: none. The model is asked once. Whatever fails there, and an answer
 * with nothing in it, leaves it to the heuristic: a run that has taught something always teaches it.
 */
export async function reflect(
  { reflectModel }: Pick<AppContext, 'reflectModel'>,
  feedback: RunFeedback,
  lastAnswer: string,
): Promise<{ readonly lines: readonly LessonLine[]; readonly reflector: string | null }> {
  const heuristic = { lines: lessonCandidates(feedback, lastAnswer), reflector: null }
  if (reflectModel === undefined) return heuristic
  try {
    const { name, timeouts } = reflectModel
    const question = reflectionQuestion(feedback, lastAnswer)
    const lines = readReflection(await askInTime(reflectModel, question, timeouts.replyMs))
    return lines.length === 0 ? heuristic : { lines, reflector: name }
  } catch {
    // The model that was wired in has logged why.
    return heuristic
  }
}
