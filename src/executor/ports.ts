import type { ExecutionEnd, StepRow } from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'
import type { Tool } from '../domain/tool.ts'

/** The right to move one execution on. A take-over raises the fence, and every statement of an older one writes nothing. */
export interface Claim {
  readonly tenantId: string
  readonly executionId: Id<'execution'>
  readonly fence: number
}

/** What an operator wants of a running execution; answered by every commit. */
export interface Flags {
  readonly cancelRequested: boolean
}

/** What is written together. */
export interface Commit {
  /** Rows that were never committed before. */
  readonly added: readonly StepRow[]
  /** Rows that were committed while they were running, as they are now. */
  readonly changed: readonly StepRow[]
  readonly end?: ExecutionEnd | undefined
}

/** Where a run is recorded. */
export interface Journal {
  /**
   * Writes all of a commit, if the claim still holds.
   *
   * @throws ServiceError `LEASE_LOST` when the claim does not hold any more; nothing was written.
   */
  commit(claim: Claim, commit: Commit): Promise<Flags>
}

/** The tools that may run here: the allowlist, as src/domain/tool-registry.ts makes it. */
export interface ToolSource {
  /** With a contract hash exactly the tool that a version pinned; without, the current one of that name. */
  readonly find: (name: string, contractHash?: string) => Tool | undefined
}

export interface Clock {
  /** Epoch milliseconds. */
  now(): number
}

/** The moments between which a crash must be harmless, in the order in which a run passes them. */
export type Boundary = 'before_commit' | 'after_commit' | 'before_call' | 'after_call'

/** What the runner needs of the world. */
export interface RunnerPorts {
  readonly journal: Journal
  readonly tools: ToolSource
  readonly clock: Clock
  /** Told at each boundary; tests stop the process there. */
  readonly onBoundary?: (boundary: Boundary, detail: string) => void
  /** Told of rows once they are committed. */
  readonly onCommitted?: (rows: readonly StepRow[]) => void
}
