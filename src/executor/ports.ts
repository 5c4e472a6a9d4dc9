import type { AttemptResult, ExecutionEnd, ExecutionStart, StepRow } from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'
import type { SensitiveValue } from '../domain/sensitive-value.ts'
import type { Tool } from '../domain/tool.ts'
import type { LimitUse, ReachedLimit } from '../domain/tool-limit.ts'
import type { ToolCall } from './begin-step.ts'
import type { ChildEnd } from './waits.ts'

/** The right to move one execution on. A take-over raises the fence, and every statement of an older one writes nothing. */
export interface Claim {
  readonly tenantId: string
  readonly executionId: Id<'execution'>
  readonly fence: number
}

/** What an operator wants of a running execution; answered by every commit. */
export interface Flags {
  readonly cancelRequested: boolean
  readonly pauseRequested: boolean
}

/** How an execution is left that has not ended: nobody has it then. */
export interface Leave {
  /** `running`: for any worker to go on at once. `waiting`: until its timer is due. `paused`: until it is resumed. */
  readonly status: 'running' | 'waiting' | 'paused'
  /** Epoch milliseconds at which a waiting execution is to go on. */
  readonly wakeAt: number | null
  /** To wait although a cancel is wanted: while it is open whether a write was made, that is found out first. */
  readonly despiteCancel?: boolean
}

/** What came of a commit. */
export interface Committed {
  readonly flags: Flags
  /** Whether the claim was given up with it. */
  readonly isLeft: boolean
  /** A limit that has no room for what was to be counted. Then nothing at all was written. */
  readonly reached?: ReachedLimit
}

/** What is written together. */
export interface Commit {
  /** Rows that were never committed before. */
  readonly added: readonly StepRow[]
  /** Rows that were committed while they were running, as they are now. */
  readonly changed: readonly StepRow[]
  readonly end?: ExecutionEnd | undefined
  /**
   * The row among them that begins a write. It is left out when the run is to be paused, or to be cancelled unless
   * `despiteCancel`; the flags that come back say so.
   */
  readonly intent?: { readonly ordinal: number; readonly despiteCancel: boolean } | undefined
  /** What the intent takes of its tool's limits, or what is given back because a call was certainly not made. */
  readonly limits?: LimitChange | undefined
  /**
   * True when a write is begun or what it came to is among the rows: whether the one is recorded, and what the other was,
   * is known here alone. A commit that an outage cuts off is then made again until it is known to be written.
   */
  readonly mustBeKnown?: boolean
  /**
   * Gives the claim up in the same moment. Never together with `end`. To be `paused` only while that is wanted, and to
   * wait only while nothing is: an execution that was resumed, paused or cancelled meanwhile is kept.
   */
  readonly leave?: Leave | undefined
  /** What is stored apart of the rows and the end; those of a row that is left out are left out with it. */
  readonly sensitive?: readonly SensitiveValue[] | undefined
}

/** A change of counters: all of it is written, or none. */
export interface LimitChange {
  readonly kind: 'count' | 'giveBack'
  readonly uses: readonly LimitUse[]
}

/** Where a run is recorded. */
export interface Journal {
  /**
   * Writes all of a commit, if the claim still holds.
   *
   * @throws ServiceError `LEASE_LOST` when the claim does not hold any more; nothing was written.
   */
  commit(claim: Claim, commit: Commit): Promise<Committed>
}

/** The tools that may run here: the allowlist, as src/domain/tool-registry.ts makes it. */
export interface ToolSource {
  /** With a contract hash exactly the tool that a version pinned; without, the current one of that name. */
  readonly find: (name: string, contractHash?: string) => Tool | undefined
}

/** The runs that a run has called. */
export interface Children {
  /**
   * Starts the run of each row that has none yet, of the version that its input names, and answers by ordinal how those
   * that have ended did so.
   */
  startOrFind(
    parent: ExecutionStart,
    calls: readonly StepRow[],
  ): Promise<ReadonlyMap<number, ChildEnd>>
  /** Marks those that have not ended to be cancelled. May be repeated. */
  cancel(parent: ExecutionStart): Promise<void>
}

export interface Clock {
  /** Epoch milliseconds. */
  now(): number
}

/** What makes a worker believed to live. Whoever has lost it may find its executions taken over. */
export interface Lease {
  /** By this process's own steady clock: never true longer than others believe it. */
  isHeld(): boolean
  renew(): Promise<void>
}

/** The moments between which a crash must be harmless, in the order in which a run passes them. */
export type Boundary = 'before_commit' | 'after_commit' | 'before_call' | 'after_call'

/** Who watches the calls of a run. Nothing that it does may fail. */
export interface RunObserver {
  /** Told of an attempt just before it is made; what it answers is told what came of it. */
  readonly callBegins: (row: StepRow, call: ToolCall) => ObservedCall
}

export interface ObservedCall {
  /** What the tool may tell a service that it asks, so that the work of both is found together (W3C trace context). */
  readonly traceparent?: string
  /** `code`: why it did not go well. */
  readonly ended: (result: AttemptResult, code?: string) => void
}

/** What the runner needs of the world. */
export interface RunnerPorts {
  readonly journal: Journal
  readonly tools: ToolSource
  readonly clock: Clock
  /** Needed by runs that call others. */
  readonly children?: Children
  /**
   * Asked before the first attempt of each write: the run in which the very same call is open, so that nobody knows whether
   * it was made. Absent where there are no other runs.
   */
  readonly findUnknownWrite?: (row: StepRow) => Promise<Id<'execution'> | undefined>
  /** Looked at before each write; absent where no other process could take over. */
  readonly lease?: Lease
  /** True when the process is about to end: the run is given back before its next step. */
  readonly isStopping?: () => boolean
  /** Told what came of a write whose execution was taken over meanwhile, so that it could not be recorded. */
  readonly onLateOutcome?: (row: StepRow) => void
  /** Told at each boundary; tests stop the process there. */
  readonly onBoundary?: (boundary: Boundary, detail: string) => void
  /** Absent where nobody watches. */
  readonly observer?: RunObserver | undefined
  /** Told of rows once they are committed. */
  readonly onCommitted?: (rows: readonly StepRow[]) => void
}
