import { ServiceError } from '../domain/errors.ts'
import type { Json, JsonObject } from '../domain/json.ts'
import { experienceLimits } from '../learning/experience.ts'
import { createTaskRecorder, type TaskRecorder } from '../learning/experience-recorder.ts'
import { beginLessonRun, type LessonRun } from '../learning/lesson-book.ts'
import type { GuidedAnswer } from './answer.ts'
import type { Selection } from './choose-procedure.ts'
import { type LoopEnd, requireEnd, systemText, untilAborted } from './loop.ts'
import type { GuidedAgentOptions, GuidedClient, TaskOptions } from './options.ts'

interface Work {
  readonly task: string
  readonly context: JsonObject
  readonly candidates: Selection['candidates']
  readonly told: TaskOptions
}

/** As DESIGN 9 has it: more of them blur a prompt. */
const shownExperiences = 3

/**
 * Has the agent's own loop do a task, with what was learned before, and keeps what it did. Nothing of the learning fails the
 * answer: what could not be read or kept is a warning.
 */
export async function workManually(
  client: GuidedClient,
  options: GuidedAgentOptions,
  { task, context, candidates, told }: Work,
): Promise<GuidedAnswer> {
  const warnings: string[] = []
  const trying = async <T>(what: string, run: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await run()
    } catch (error) {
      warnings.push(`${what}: ${messageOf(error)}`)
      return undefined
    }
  }
  const situation = task.slice(0, experienceLimits.situation).toWellFormed()
  const found = await trying('Experiences were not found', () =>
    client.retrieveExperiences({
      ...{ situation, topK: shownExperiences },
      ...(options.agentName !== undefined && { agentIds: [options.agentName] }),
    }),
  )
  const lessons = await trying('Lessons were not read', () => beginLessons(client, options))
  const { signal = new AbortController().signal } = told
  const steps = keepSteps(client, options, told, situation)
  let end: LoopEnd
  try {
    const ended = await untilAborted(signal, () =>
      options.loop({
        ...{ task, context, candidates, signal },
        system: systemText(found?.context ?? '', lessons?.text ?? ''),
        experiences: found?.matches ?? [],
        lessons: lessons?.text ?? '',
        recordStep: steps.record,
      }),
    )
    end = requireEnd(ended)
  } catch (error) {
    // What was done until then was done. The error says more than that it could not be kept.
    await trying('', () =>
      steps.complete({ success: false, outcome: `Failed: ${messageOf(error)}` }),
    )
    throw error
  }
  const experienceId = await trying('What was done was not recorded', () => steps.complete(end))
  await trying('No lessons were drawn', async () => lessons?.end(taughtBy(end)))
  const { success, result = null } = end
  if (steps.count() === 0) return { method: 'manual', success: false, result, warnings }
  const proposed =
    success && experienceId != null && options.propose !== false
      ? await trying('Nothing was proposed', () =>
          client.proposeProcedure({ experienceIds: [experienceId] }),
        )
      : undefined
  return {
    method: 'manual_with_learning',
    proposalId: proposed?.proposalId ?? null,
    actionsTaken: steps.count(),
    success,
    result,
    experienceId: experienceId ?? null,
    warnings,
  }
}

async function beginLessons(
  client: GuidedClient,
  { agentName, taskTag }: GuidedAgentOptions,
): Promise<LessonRun> {
  return beginLessonRun(client, {
    agentName: agentName ?? (await client.whoAmI({})).principalId,
    lessons: { read: true, curate: true, ...(taskTag !== undefined && { taskTag }) },
  })
}

function taughtBy({ feedback, result, outcome }: LoopEnd): Parameters<LessonRun['end']>[0] {
  return {
    ...(feedback && { feedback }),
    lastAnswer: typeof result === 'string' ? result : (outcome ?? ''),
  }
}

interface KeptSteps {
  readonly record: TaskRecorder['recordStep']
  readonly count: () => number
  /** The id of the experience; null without a step. No step is taken from then on. */
  readonly complete: (end: LoopEnd) => Promise<string | null>
}

/** The steps of one task, so that a loop that goes on after its end cannot add to those of another. */
function keepSteps(
  client: GuidedClient,
  { agentName: agentId }: GuidedAgentOptions,
  { sessionId, customerId }: TaskOptions,
  situation: string,
): KeptSteps {
  let count = 0
  let isOver = false
  const recorder = createTaskRecorder(client, {
    ...(agentId !== undefined && { agentId }),
    ...(sessionId !== undefined && { sessionId }),
    // The run that was shown lessons draws them.
    curate: false,
  })
  recorder.beginTask(situation)
  return {
    count: () => count,
    record(tool, input, outputSummary) {
      if (isOver) {
        const problems = [{ path: '', message: 'the task is over, and takes no step any more' }]
        throw new ServiceError('REQUEST_INVALID', { operation: 'recordStep', problems })
      }
      const summary = outputSummary.slice(0, experienceLimits.outputSummary).toWellFormed()
      recorder.recordStep(tool, input, summary)
      count += 1
    },
    async complete(end) {
      isOver = true
      const { success, outcomeType, feedback } = end
      const { experienceId } = await recorder.completeTask({
        success,
        ...(outcomeType !== undefined && { outcomeType }),
        outcome: outcomeOf(end),
        // Of a failure no more than half is taken, whatever whoever judges says.
        ...(feedback !== undefined && success
          ? { score: feedback.score }
          : { scoreBy: 'heuristic' }),
        ...(customerId !== undefined && { customerId }),
      })
      return experienceId
    },
  }
}

function outcomeOf({ outcome, result, success }: LoopEnd): string {
  const said = [outcome, textOf(result)].find((text) => text !== undefined && /\S/.test(text))
  const text = said ?? (success ? 'It was done.' : 'It was not done.')
  return text.slice(0, experienceLimits.outcome).toWellFormed()
}

function textOf(result: Json | undefined): string | undefined {
  return typeof result === 'string' ? result : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
