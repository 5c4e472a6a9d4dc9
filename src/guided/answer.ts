import type { Json } from '../domain/json.ts'
import type { Client } from '../library.ts'

type Run = Awaited<ReturnType<Client['getExecution']>>

/** An approved playbook has run, or runs. */
export interface ProcedureAnswer {
  readonly method: 'procedure'
  readonly procedureName: string
  /** Resolved is success, any other end is none; null: it has not ended, and `status` says why. */
  readonly success: boolean | null
  /** What the run has answered; `{ error }` of one that was escalated or cancelled; null of one that has not ended. */
  readonly result: Json
  /** Steps that ended, each round of a loop by itself; what was skipped did not run. */
  readonly stepsExecuted: number
  readonly executionId: string
  /** `waiting`: for a person, a word of an agent, or a moment. `running`: longer than the client waits for it. */
  readonly status: Run['execution']['status']
  readonly outcome: 'resolved' | 'declined' | null
  /** What may be told to the customer; null: nothing yet. */
  readonly reply: string | null
}

/** The caller's own loop did it, and what it did was recorded. */
export interface LearnedAnswer {
  readonly method: 'manual_with_learning'
  /** The draft that a person decides on; null: none was made, because it did not go well or for what `warnings` say. */
  readonly proposalId: string | null
  readonly actionsTaken: number
  readonly success: boolean
  readonly result: Json
  /** Null: it could not be recorded. */
  readonly experienceId: string | null
  /** What went wrong besides, none of which has changed the answer. */
  readonly warnings: readonly string[]
}

/** The caller's own loop has recorded no step, so that nothing shows that anything was done. */
export interface ManualAnswer {
  readonly method: 'manual'
  readonly success: false
  /** What the loop has answered nevertheless. */
  readonly result: Json
  readonly warnings: readonly string[]
}

export type GuidedAnswer = ProcedureAnswer | LearnedAnswer | ManualAnswer

/** What a run looks like to whoever has handed over the task. */
export function toProcedureAnswer(
  procedureName: string,
  { execution, steps, reply }: Pick<Run, 'execution' | 'steps' | 'reply'>,
): ProcedureAnswer {
  const { status, outcome } = execution
  const hasEnded = status === 'completed' || status === 'escalated' || status === 'cancelled'
  return {
    method: 'procedure',
    procedureName,
    success: hasEnded ? outcome === 'resolved' : null,
    result: hasEnded ? resultOf(execution) : null,
    stepsExecuted: steps.filter((step) => hasRun(step.status)).length,
    executionId: execution.id,
    ...{ status, outcome, reply: reply?.text ?? null },
  }
}

function resultOf({ status, result, reason }: Run['execution']): Json {
  if (status === 'completed') return result
  return { error: reason?.message ?? 'The run was cancelled.' }
}

function hasRun(status: Run['steps'][number]['status']): boolean {
  return (
    status === 'completed' || status === 'failed' || status === 'expired' || status === 'denied'
  )
}
