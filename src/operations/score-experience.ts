import type { AppContext } from '../context.ts'
import type { Experience } from '../learning/experience.ts'
import {
  type AssessedExperience,
  assessedScore,
  assessmentQuestion,
} from '../learning/experience-assessment.ts'
import { heuristicScore } from '../learning/experience-score.ts'
import { askInTime, failureText } from '../reply/model.ts'

/** Whoever records waits so long for a model. */
const assessWithinMs = 8_000

/** How good an experience is: as it was given, by the rule, or as a model says; 0 where nothing says anything. */
export async function scoreExperience(
  app: AppContext,
  experience: AssessedExperience,
  {
    score,
    scoreBy,
  }: { readonly score?: number | undefined; readonly scoreBy?: 'heuristic' | 'model' | undefined },
): Promise<Pick<Experience, 'score' | 'scoredBy'>> {
  if (scoreBy === undefined) return { score: score ?? 0, scoredBy: 'given' }
  const assessed = scoreBy === 'model' ? await assess(app, experience) : undefined
  if (assessed !== undefined) return { score: assessed, scoredBy: 'model' }
  const { outcomeType, actionSequence } = experience
  return { score: heuristicScore(outcomeType, actionSequence), scoredBy: 'heuristic' }
}

/** What a model says; undefined without one, and when it says nothing that counts. */
async function assess(
  { replyModel, log }: AppContext,
  experience: AssessedExperience,
): Promise<number | undefined> {
  if (replyModel === undefined) return undefined
  try {
    const answer = await askInTime(replyModel, assessmentQuestion(experience), assessWithinMs)
    const score = assessedScore(answer, experience.outcomeType)
    if (score === undefined) log.warn({ model: replyModel.name }, 'a score of a model was none')
    return score
  } catch (error) {
    log.warn({ model: replyModel.name, problem: failureText(error) }, 'a model gave no score')
    return undefined
  }
}
