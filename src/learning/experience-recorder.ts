import { ServiceError } from '../domain/errors.ts'
import type { Json } from '../domain/json.ts'
import type { ActionStep, OutcomeType } from './experience.ts'

/** The same as an operation takes it. */
export interface RecordedExperience extends Omit<RecordedTask, 'actionSequence' | 'tags'> {
  actionSequence: { step: number; tool: string; input: Json; outputSummary: string }[]
  readonly tags?: string[]
}

/** What a finished task is recorded with. */
export interface RecordedTask {
  readonly situation: string
  readonly actionSequence: readonly ActionStep[]
  readonly outcome: string
  readonly outcomeType: OutcomeType
  readonly score?: number
  readonly scoreBy?: 'heuristic' | 'model'
  readonly tags?: readonly string[]
  readonly agentId?: string
  readonly sessionId?: string
  readonly customerId?: string
}

/** How a run was judged. */
export interface Feedback {
  /** 0 to 1. */
  readonly score: number
  readonly issues: readonly string[]
}

/** What is asked of the service: two of its operations, as a client has them. Without the second no lessons are drawn. */
export interface RecorderClient {
  recordExperience(task: RecordedExperience): Promise<{
    readonly experience: { readonly id: string; readonly agentId?: string }
  }>
  curateLessons?(lessons: {
    taskTag: string
    feedback: { score: number; issues: string[] }
    lastAnswer: string
  }): Promise<{ readonly entryCount: number }>
}

export interface RecorderOptions {
  /** Of the lessons; default: the agent's id, which is that of whoever records where none is given. */
  readonly taskTag?: string
  readonly agentId?: string
  readonly sessionId?: string
  /** False: no lessons are drawn, whatever the feedback; default true. */
  readonly curate?: boolean
}

/** How a task has ended: with `success`, or with a type of outcome. */
export interface CompletedTask
  extends Omit<RecordedTask, 'situation' | 'actionSequence' | 'outcomeType' | 'agentId'> {
  readonly success?: boolean
  readonly outcomeType?: OutcomeType
  /** Lessons are drawn from it. */
  readonly feedback?: Feedback
  /** What the agent has answered, for the lessons; default: the outcome. */
  readonly lastAnswer?: string
}

/** Keeps the steps of one task at a time, for an agent's own loop. Two tasks at once need two of them. */
export interface TaskRecorder {
  /** Forgets the steps of the task before, and starts. */
  beginTask(situation: string): void
  /** Call it after each tool. Steps are numbered from 1. */
  recordStep(tool: string, input: Json, outputSummary: string): void
  /**
   * Records what was done, and draws lessons from feedback where there is some. A task without a step is not recorded.
   *
   * @throws ServiceError `REQUEST_INVALID` before anything is recorded; what recording throws. The steps stay then.
   */
  completeTask(end: CompletedTask): Promise<{
    readonly experienceId: string | null
    /** How many lessons there are now; null: none were drawn. */
    readonly entryCount: number | null
  }>
}

/** Records for an agent by a client, and draws lessons from feedback unless that is switched off. */
export function createTaskRecorder(
  client: RecorderClient,
  { agentId, sessionId, taskTag, curate = true }: RecorderOptions = {},
): TaskRecorder {
  let situation: string | undefined
  let steps: ActionStep[] = []

  async function record(
    { success: _s, feedback: _f, lastAnswer: _l, ...task }: CompletedTask,
    outcomeType: OutcomeType,
  ) {
    if (situation === undefined || steps.length === 0) return undefined
    const { tags, ...end } = task
    const { experience } = await client.recordExperience({
      ...(agentId !== undefined && { agentId }),
      ...(sessionId !== undefined && { sessionId }),
      ...end,
      ...(tags !== undefined && { tags: [...tags] }),
      situation,
      actionSequence: steps.map((step) => ({ ...step })),
      outcomeType,
    })
    return experience
  }

  async function curateFrom(
    { feedback, outcome, lastAnswer = outcome }: CompletedTask,
    tag: string | undefined,
  ): Promise<number | null> {
    if (!curate || feedback === undefined || tag === undefined) return null
    const { score, issues } = feedback
    const answer = await client.curateLessons?.({
      ...{ taskTag: tag, feedback: { score, issues: [...issues] }, lastAnswer },
    })
    return answer?.entryCount ?? null
  }

  return {
    beginTask(text) {
      situation = text
      steps = []
    },
    recordStep(tool, input, outputSummary) {
      if (situation === undefined) throw refused('recordStep', '', 'no task was begun')
      steps = [...steps, { step: steps.length + 1, tool, input, outputSummary }]
    },
    async completeTask(end) {
      const outcomeType = outcomeTypeOf(end)
      const { feedback } = end
      if (feedback !== undefined && !(feedback.score >= 0 && feedback.score <= 1)) {
        throw refused('completeTask', 'feedback.score', 'must be from 0 to 1')
      }
      const experience = await record(end, outcomeType)
      situation = undefined
      steps = []
      const entryCount = await curateFrom(end, taskTag ?? agentId ?? experience?.agentId)
      return { experienceId: experience?.id ?? null, entryCount }
    },
  }
}

function outcomeTypeOf({ success, outcomeType }: CompletedTask): OutcomeType {
  const said = success === undefined ? undefined : success ? 'success' : 'failure'
  const type = outcomeType ?? said
  if (type === undefined) {
    throw refused('completeTask', 'success', 'must be given, or else outcomeType')
  }
  // A partial success is neither.
  if (said !== undefined && type !== said && type !== 'partial_success') {
    throw refused('completeTask', 'outcomeType', `contradicts success: ${success}`)
  }
  return type
}

function refused(operation: string, path: string, message: string): ServiceError {
  return new ServiceError('REQUEST_INVALID', { operation, problems: [{ path, message }] })
}
