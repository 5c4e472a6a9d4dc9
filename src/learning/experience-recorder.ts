import { ServiceError } from '../domain/errors.ts'
import type { Json } from '../domain/json.ts'
import type { ActionStep, OutcomeType } from './experience.ts'

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

/** What a recorder needs: `recordExperience` of a client, and `curateLessons` where lessons are to be drawn. */
export interface RecorderOptions {
  readonly recordExperience: (
    task: RecordedTask,
  ) => Promise<{ readonly experience: { readonly id: string } }>
  readonly curateLessons?: (lessons: {
    readonly taskTag: string
    readonly feedback: Feedback
    readonly lastAnswer: string
  }) => Promise<{ readonly entryCount: number }>
  /** Of the lessons; default: the agent's id. Without either, nothing is curated. */
  readonly taskTag?: string
  readonly agentId?: string
  readonly sessionId?: string
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

export function createTaskRecorder(options: RecorderOptions): TaskRecorder {
  const { recordExperience, curateLessons, agentId, sessionId, taskTag = agentId } = options
  let situation: string | undefined
  let steps: ActionStep[] = []

  async function record(end: CompletedTask, outcomeType: OutcomeType): Promise<string | null> {
    if (situation === undefined || steps.length === 0) return null
    const { success: _s, feedback: _f, lastAnswer: _l, ...task } = end
    const { experience } = await recordExperience({
      ...(agentId !== undefined && { agentId }),
      ...(sessionId !== undefined && { sessionId }),
      ...task,
      situation,
      actionSequence: steps,
      outcomeType,
    })
    return experience.id
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
      const { feedback, lastAnswer = end.outcome } = end
      if (feedback !== undefined && !(feedback.score >= 0 && feedback.score <= 1)) {
        throw refused('completeTask', 'feedback.score', 'must be from 0 to 1')
      }
      const experienceId = await record(end, outcomeType)
      situation = undefined
      steps = []
      if (feedback === undefined || curateLessons === undefined || taskTag === undefined) {
        return { experienceId, entryCount: null }
      }
      const { entryCount } = await curateLessons({ taskTag, feedback, lastAnswer })
      return { experienceId, entryCount }
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
