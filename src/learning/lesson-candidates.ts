import { type LessonLine, lessonLimits, lineOf, linePrefixes, type RunFeedback } from './lesson.ts'

/**
 * What one run teaches, without a model: its first three issues, each as a line to avoid, and of a run scored 0.8 or better
 * its answer, flattened and cut to 200 characters, as a line that worked well. Blank ones are none.
 */
export function lessonCandidates(
  { score, issues }: RunFeedback,
  lastAnswer: string,
): readonly LessonLine[] {
  const harmful = issues
    .map((issue) => lineOf(issue, linePrefixes.harmful))
    .filter((content) => content !== '')
    .slice(0, lessonLimits.linesOfRun)
    .map((content): LessonLine => ({ kind: 'harmful', content }))
  if (score < lessonLimits.goodScore) return harmful
  const content = lineOf(lastAnswer, linePrefixes.helpful, lessonLimits.answerCharacters)
  return content === '' ? harmful : [...harmful, { kind: 'helpful', content }]
}
