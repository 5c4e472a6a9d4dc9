import type { Reason } from './escalation.ts'
import type { Calendar } from './expression.ts'
import type { FailureKind } from './failure.ts'
import type { Id } from './ids.ts'
import type { Json, JsonObject } from './json.ts'
import type { Principal } from './principal.ts'
import type { StepKind } from './step.ts'

/**
 * The rules by which `decide` reads a definition. An execution replays under the one it was started with; what tells
 * them apart is in docs/decisions/0003-history.md.
 */
export const semanticsVersion = 2

export type ExecutionStatus =
  | 'pending'
  | 'running'
  | 'waiting'
  | 'paused'
  | 'completed'
  | 'escalated'
  | 'cancelled'

/** How a completed run ended. A refusal that the playbook foresees is `declined`, and is no failure. */
export type Outcome = 'resolved' | 'declined'

/**
 * `effect`: reads share a commit, and everything that led to a write is committed before it is called. `step`: a
 * commit per step. Neither ever repeats a write; a crash repeats at most the reads since the last commit.
 */
export type Durability = 'effect' | 'step'

export type StepStatus =
  | 'pending'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'expired'
  | 'denied'

export function isStepEnded(status: StepStatus): boolean {
  return status !== 'pending' && status !== 'running' && status !== 'waiting'
}

export function isExecutionEnded(status: ExecutionStatus): boolean {
  return status === 'completed' || status === 'escalated' || status === 'cancelled'
}

/** What the customer's message was, and what the caller alone may say of it. Absent fields read as absent. */
export interface Ticket {
  readonly text: string
  readonly id?: string | undefined
  readonly requester?: string | undefined
  readonly channel?: string | undefined
  readonly language?: string | undefined
  /** RFC 3339. */
  readonly createdAt?: string | undefined
  readonly tags?: readonly string[] | undefined
}

/** What is fixed when an execution starts. All that is decided later follows from this, the plan, and the rows. */
export interface ExecutionStart {
  readonly executionId: Id<'execution'>
  readonly tenantId: string
  readonly requester: Principal
  readonly startedAt: number
  readonly input: JsonObject
  readonly ticket: Ticket | null
  /** For whom the requester acts, where that is somebody else. */
  readonly onBehalfOf?: string
  /** Whom limits per customer count. */
  readonly customerId?: string
  /** The rules that it was started under, where they are not the present ones. */
  readonly semanticsVersion?: number
  /** `guided`: an agent confirms each write before it is made. */
  readonly mode?: 'guided'
  /** The working days that durations are counted in; default Monday to Friday. */
  readonly calendar?: Calendar
  /** The version of each procedure that the run may call, by key. */
  readonly pins?: { readonly [procedureKey: string]: Pin }
  /** Where a run that another one has called comes from; absent for one that was started from outside. */
  readonly calledFrom?: CalledFrom
  /** When it was paused since, as `Pauses` of src/executor/pauses.ts. */
  readonly pauses?: readonly (readonly [from: number, to: number])[]
}

/** When a case is to be done, and from when on it is soon to be, in epoch milliseconds. */
export interface Due {
  readonly at: number
  readonly warnAt?: number
}

/** A version that a run may call, pinned when its root was started. */
export interface Pin {
  readonly versionId: Id<'version'>
  readonly versionNumber: number
  readonly definitionHash: string
}

/** The place of a called run: its root, and the steps that led to it from there. */
export interface CalledFrom {
  readonly rootId: Id<'execution'>
  readonly parentId: Id<'execution'>
  readonly parentOrdinal: number
  /** The key and the iteration of each step on the way, the root's first. */
  readonly path: readonly (readonly [stepKey: string, iteration: string])[]
}

/**
 * What came of one attempt to call a tool: *done*; certainly not done (`refused`, `failed`); or unknown (`error`,
 * `timeout`, `interrupted`). `invalid` is done, with an output that cannot be recorded.
 */
export type AttemptResult =
  | 'done'
  | 'refused'
  | 'failed'
  | 'error'
  | 'timeout'
  | 'interrupted'
  | 'invalid'

/** An attempt that did not complete its step. */
export interface AttemptRecord {
  readonly attempt: number
  readonly result: Exclude<AttemptResult, 'done'>
  readonly code: string
  readonly message: string
  readonly endedAt: number
}

export interface StepError {
  readonly code: string
  readonly message: string
  /** What sort of failure it was, where the code does not tell. */
  readonly kind?: FailureKind | undefined
}

/** Something that was said while a step waited for a person. */
export type Said =
  /** A reminder was due. */
  | { readonly kind: 'reminded'; readonly at: number }
  /** An answer came that does not have the form that is asked for. */
  | {
      readonly kind: 'unfit'
      readonly at: number
      readonly by: Speaker
      readonly text: string
      readonly problems: readonly string[]
    }
  | { readonly kind: 'answered'; readonly at: number; readonly by: Speaker }
  /** A yes, given to exactly what had this hash. */
  | {
      readonly kind: 'approved'
      readonly at: number
      readonly by: Speaker
      readonly showHash?: string
      readonly comment?: string
    }
  | {
      readonly kind: 'denied'
      readonly at: number
      readonly by: Speaker
      readonly comment?: string
    }

export type Speaker = Pick<Principal, 'id' | 'kind' | 'unauthenticated'>

/**
 * The record of one step in one execution, and one entry of its history. `ordinal` counts from 1 in the order in
 * which steps were started; a row with an ordinal that is there already replaces it.
 */
export interface StepRow {
  readonly ordinal: number
  readonly stepKey: string
  /** Which round or item of a loop; empty outside loops. */
  readonly iteration: string
  readonly kind: StepKind
  readonly status: StepStatus
  /** Attempts begun; 0 for a step that was skipped. */
  readonly attempt: number
  readonly tool: string | null
  readonly input: Json | null
  readonly output: Json | null
  readonly error: StepError | null
  readonly attempts: readonly AttemptRecord[] | null
  /** What was said while it waited; absent where nothing was. */
  readonly exchange?: readonly Said[]
  readonly startedAt: number
  readonly endedAt: number | null
}

/** How people see which step it is, and which round of it: `refund[3]`. */
export function nameOf({ stepKey, iteration }: Pick<StepRow, 'stepKey' | 'iteration'>): string {
  return iteration === '' ? stepKey : `${stepKey}[${iteration}]`
}

/** What became of one condition or rule of the definition by the end of a run. */
export interface ConditionVerdict {
  readonly kind: 'precondition' | 'rule' | 'completion'
  readonly text: string
  /**
   * `held` and `unmet` for conditions, `clear` and `matched` for rules; `failed` when the expression could not be
   * evaluated; `not_reached` when it was never due; `prose` when it has no `when` and is not enforced.
   */
  readonly verdict: 'held' | 'unmet' | 'clear' | 'matched' | 'failed' | 'not_reached' | 'prose'
}

/** How a run ended: the last thing that is decided. */
export interface ExecutionEnd {
  readonly status: 'completed' | 'escalated' | 'cancelled'
  readonly outcome: Outcome | null
  /** Why, for every end but `resolved`. */
  readonly reason: Reason | null
  readonly result: Json | null
  readonly conditions: readonly ConditionVerdict[]
  readonly endedAt: number
}

/** The whole record of a run, as it is loaded: rows by ordinal, and the end of a run that has ended. */
export interface ExecutionRecord {
  readonly start: ExecutionStart
  readonly rows: readonly StepRow[]
  readonly end: ExecutionEnd | null
}
