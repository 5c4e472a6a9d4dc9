import type { StepRow } from '../domain/execution.ts'
import type { ExecutionState } from '../executor/apply.ts'
import type { ToolObservation } from '../executor/attempt.ts'
import type { ToolCall } from '../executor/begin-step.ts'
import type { PlanNode } from '../executor/plan.ts'

/** What comes next to a step that waits. */
export type Word =
  /** Somebody's word, or the end of a called run: when (epoch milliseconds), and the row that it makes of the wait. */
  | { readonly kind: 'said'; readonly at: number; readonly row: StepRow }
  /** Nothing, until time itself ends the wait. */
  | { readonly kind: 'nothing' }
  /** Nothing before this time (epoch milliseconds), and nobody knows what comes then. */
  | { readonly kind: 'unknown'; readonly from: number }
  /** What was to be said could not be: no real run would take it. */
  | { readonly kind: 'refused'; readonly message: string }

/** A run as it stands when the outside is asked. */
export interface RunSoFar {
  readonly state: ExecutionState
  /** By ordinal. */
  readonly rows: readonly StepRow[]
}

/**
 * All that comes into a simulated run from outside. What is not known is `undefined`, and the simulation stops there: it
 * never makes anything up.
 */
export interface World {
  /** What comes of one attempt, begun at `at` (epoch milliseconds). Asked once for each attempt. */
  readonly call: (row: StepRow, call: ToolCall, at: number) => ToolObservation | undefined
  /** What comes next to a wait. Asked again whenever anything has happened, with the same answer until it has come. */
  readonly wait: (row: StepRow, node: PlanNode, run: RunSoFar) => Word | undefined
  /** Before when (epoch milliseconds) the next step is not begun, where something is known of that; else it is at once. */
  readonly beginsAt?: (state: ExecutionState) => number | undefined
}
