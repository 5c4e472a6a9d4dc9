import { lessonTag } from './lesson-tag.ts'

/** What is asked of the service: three of its operations, as a client has them. */
export interface LessonClient {
  showLessons(input: { taskTag: string }): Promise<{
    readonly text: string
    readonly showingId: string | null
  }>
  creditLessons(input: { showingId: never; score: number }): Promise<unknown>
  curateLessons(input: {
    taskTag: string
    feedback: { score: number; issues: string[] }
    lastAnswer: string
  }): Promise<{ readonly entryCount: number }>
}

/** Whether an agent reads lessons, and whether it teaches any: each by itself. */
export interface LessonSwitches {
  readonly read: boolean
  readonly curate: boolean
  /** Shared by agents that have the same kind of task; default: the agent's name. */
  readonly taskTag?: string
}

/** How a run went. */
export interface RunEnd {
  /** `score` 0 to 1. Without feedback nothing is learned or credited. */
  readonly feedback?: { readonly score: number; readonly issues?: readonly string[] }
  readonly lastAnswer?: string
}

/** One run of an agent, from what it was shown to what it taught. */
export interface LessonRun {
  readonly taskTag: string
  /** For the prompt; empty when there is nothing, or the agent reads none. */
  readonly text: string
  /**
   * Tells how the run went, once: the lines that it was shown earn its score, and what it taught is curated. Answers how
   * many lessons there are now; undefined when none was curated.
   */
  end(end: RunEnd): Promise<number | undefined>
}

/**
 * Begins a run of an agent that has lessons. `loopTag` goes before the tag of `lessons`, and that before the agent's name.
 * An error of the service comes out as it is: whoever would rather run without lessons catches it.
 */
export async function beginLessonRun(
  client: LessonClient,
  {
    agentName,
    loopTag,
    lessons,
  }: {
    readonly agentName: string
    readonly loopTag?: string
    readonly lessons: LessonSwitches
  },
): Promise<LessonRun> {
  const taskTag = lessonTag({ loopTag, agentTag: lessons.taskTag, agentName })
  const shown = lessons.read ? await client.showLessons({ taskTag }) : { text: '', showingId: null }
  return {
    taskTag,
    text: shown.text,
    async end({ feedback, lastAnswer = '' }) {
      if (feedback === undefined) return undefined
      const { score, issues = [] } = feedback
      if (shown.showingId !== null) {
        // An id that the service has just made; its client takes it in the form that it checks.
        await client.creditLessons({ showingId: shown.showingId as never, score })
      }
      if (!lessons.curate) return undefined
      const { entryCount } = await client.curateLessons({
        ...{ taskTag, feedback: { score, issues: [...issues] }, lastAnswer },
      })
      return entryCount
    },
  }
}
