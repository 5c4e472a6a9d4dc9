import {
  type Durability,
  type ExecutionEnd,
  isStepEnded,
  type StepRow,
} from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'
import { isJsonObject } from '../domain/json.ts'
import { type LimitUse, limitMessage, type ReachedLimit } from '../domain/tool-limit.ts'
import { apply, type ExecutionState } from './apply.ts'
import {
  isAttemptOpen,
  isOutcomeOpen,
  recordAttempt,
  type ToolObservation,
  wasNotMade,
} from './attempt.ts'
import { idempotencyKeyOf, type ToolCall } from './begin-step.ts'
import { callTool, refusedCall } from './call-tool.ts'
import { type Command, concludeAttempt, decide, endFromOutside } from './decide.ts'
import { usesGivenBack, usesOfIntent } from './limits.ts'
import type { Plan } from './plan.ts'
import type { Claim, Committed, Flags, Leave, LimitChange, RunnerPorts } from './ports.ts'
import { type ChildEnd, concludeCall } from './waits.ts'

/** Reads share a commit until the oldest has waited this long, or together they are this large (DESIGN: output commit). */
const maxUncommittedMs = 1_000
const maxUncommittedBytes = 64 * 1024
/** A retry that waits longer than this is left to a timer: until then nobody has the run. */
const maxHeldWaitMs = 5_000

export interface RunResult {
  readonly state: ExecutionState
  /** Absent for a run that was left: it waits, is paused, or was given back. */
  readonly end?: ExecutionEnd
}

const noFlags: Flags = { cancelRequested: false, pauseRequested: false }

/**
 * Runs an execution from where it stands to its end, or until it has to be left: asks `decide`, carries the command
 * out, records what came of it. The intent of a write is committed before the call; rows in between share commits as
 * `durability` allows. `flags`: what was wanted of it before it was loaded.
 *
 * @throws ServiceError `LEASE_LOST` when another worker has taken the execution over; whatever the journal throws. The
 *   record is then consistent, and whoever claims the execution next goes on from it.
 */
export async function runExecution(
  ports: RunnerPorts,
  plan: Plan,
  loaded: ExecutionState,
  claim: Claim,
  durability: Durability,
  flags: Flags = noFlags,
): Promise<RunResult> {
  const run = new Run(ports, plan, loaded, claim, durability, flags)
  return run.toEnd()
}

class Run {
  readonly #ports: RunnerPorts
  readonly #plan: Plan
  readonly #claim: Claim
  readonly #durability: Durability
  #state: ExecutionState
  /** Rows that are decided or observed and not yet committed, by ordinal. */
  #uncommitted = new Map<number, StepRow>()
  #uncommittedBytes = 0
  #uncommittedSince = 0
  /** Ordinals of the rows that are committed and have not ended. */
  readonly #open: Set<number>
  #flags: Flags
  /** What came of a write that is not committed yet. */
  #writeOutcome: StepRow | undefined
  /** What a call that was certainly not made has taken of limits, until that is committed. */
  #givenBack: readonly LimitUse[] = []

  constructor(
    ports: RunnerPorts,
    plan: Plan,
    state: ExecutionState,
    claim: Claim,
    durability: Durability,
    flags: Flags,
  ) {
    this.#ports = ports
    this.#plan = plan
    this.#state = state
    this.#claim = claim
    this.#durability = durability
    this.#flags = flags
    const { last, frames, waiting } = state
    const open = [
      ...frames.map(({ row }) => row),
      ...waiting,
      ...(last === undefined ? [] : [last]),
    ]
    this.#open = new Set(
      open.filter(({ status }) => !isStepEnded(status)).map(({ ordinal }) => ordinal),
    )
  }

  async toEnd(): Promise<RunResult> {
    this.#noteInterruption()
    for (;;) {
      const now = this.#ports.clock.now()
      if (this.#flags.cancelRequested && !this.#isWriteOpen() && !this.#isWriteUnknown()) {
        const endedAt = Math.max(now, this.#state.lastEndedAt)
        return this.#end(endFromOutside({ status: 'cancelled', reason: null }, endedAt))
      }
      // One that cannot be left was resumed, or something else is wanted of it, in the same moment.
      if (this.#flags.pauseRequested) {
        if (await this.#leave({ status: 'paused', wakeAt: null })) return { state: this.#state }
        continue
      }
      if (this.#ports.isStopping?.() === true) {
        await this.#leave({ status: 'running', wakeAt: null })
        return { state: this.#state }
      }
      const command = decide(this.#plan, this.#state, now)
      if (command.kind === 'end') return this.#end(command.end)
      if (this.#isCommitDue(now)) {
        // What the commit answers may change what is next, so that is decided again.
        await this.#commit()
        continue
      }
      if (command.kind === 'record') {
        this.#take(command.row)
        continue
      }
      if (command.kind === 'wait') {
        if (await this.#wait(command)) return { state: this.#state }
        continue
      }
      const { notBefore } = command.call
      if (notBefore - now > maxHeldWaitMs) {
        if (await this.#leaveUntil(notBefore)) return { state: this.#state }
        continue
      }
      const row = await this.#call(command.row, command.call)
      if (row !== undefined) this.#take(row)
    }
  }

  /** Waits here for a time that is near, and elsewhere for all else; true when the run was left. */
  async #wait({ until, forOthers }: Extract<Command, { readonly kind: 'wait' }>): Promise<boolean> {
    if (this.#uncommitted.size > 0) {
      await this.#commit()
      return false
    }
    const calls = this.#state.waiting.filter(({ kind }) => kind === 'call')
    const ended = calls.length === 0 ? [] : await this.#childEnds(calls)
    for (const row of ended) this.#take(row)
    if (ended.length > 0) return false
    const waitMs = (until ?? Number.POSITIVE_INFINITY) - this.#ports.clock.now()
    if (forOthers || waitMs > maxHeldWaitMs) return this.#leaveUntil(until)
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    return false
  }

  /** Starts the runs that were called and not started yet; answers the rows of those that have ended. */
  async #childEnds(calls: readonly StepRow[]): Promise<readonly StepRow[]> {
    const { children } = this.#ports
    if (children === undefined) throw new TypeError('a run that calls others needs a way to them')
    const ends = await children.startOrFind(this.#state.start, calls)
    const first = calls
      .flatMap((row) => {
        const end = ends.get(row.ordinal)
        return end === undefined ? [] : [concludeCall(row, this.#inOrder(end))]
      })
      // As a replay will find them.
      .sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0) || a.ordinal - b.ordinal)
    return first.slice(0, 1)
  }

  #inOrder(end: ChildEnd): ChildEnd {
    return { ...end, endedAt: Math.max(end.endedAt, this.#state.lastEndedAt) }
  }

  /** True while it is open whether a write was made: then it is found out first, whatever is wanted of the run. */
  #isWriteOpen(): boolean {
    const { last } = this.#state
    if (last?.status !== 'running' || last.tool === null) return false
    const pinned = this.#plan.tools.get(last.tool)
    return pinned !== undefined && isOutcomeOpen(pinned.contract, last)
  }

  /** True once it was found that nobody knows whether a write was made: that goes to a person, cancelled or not. */
  #isWriteUnknown(): boolean {
    return this.#state.last?.error?.code === 'outcome_unknown'
  }

  /** A loaded row whose attempt has no result was cut off: that is what is observed now, and then decided upon. */
  #noteInterruption(): void {
    const { last } = this.#state
    if (last === undefined || !isAttemptOpen(last)) return
    const row = recordAttempt(last, {
      result: 'interrupted',
      code: 'interrupted',
      message:
        'What came of the call was not recorded: its process, or its way to the database, was lost.',
      endedAt: Math.max(this.#ports.clock.now(), last.startedAt),
    })
    this.#state = apply(this.#state, row)
    this.#uncommitted.set(row.ordinal, row)
  }

  /** Makes one attempt, and answers the row with what came of it; undefined when the run is to stop before it. */
  async #call(row: StepRow, call: ToolCall): Promise<StepRow | undefined> {
    const waitMs = call.notBefore - this.#ports.clock.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const open = call.effect === 'write' ? await this.#findUnknownWrite(row) : undefined
    if (open !== undefined) {
      const message = `The same call is open in ${open}: nobody knows whether it was made. Settle that one first.`
      return this.#refuse(row, 'outcome_unknown', message)
    }
    const uses = usesOfIntent(this.#plan, this.#state.start, row)
    if (call.effect === 'write' || uses.length > 0) {
      const { isMade, reached } = await this.#commitIntent(row, uses)
      if (reached !== undefined) return this.#refuse(row, 'limit_exceeded', limitMessage(reached))
      if (!isMade) return undefined
    }
    this.#ports.onBoundary?.('before_call', row.stepKey)
    const observation = await this.#observe(row, call)
    this.#ports.onBoundary?.('after_call', row.stepKey)
    const concluded = concludeAttempt(this.#plan, this.#state, row, observation)
    if (call.effect === 'write') this.#writeOutcome = concluded
    this.#givenBack = usesGivenBack(this.#plan, this.#state.start, concluded)
    return concluded
  }

  /** Not asked once the run itself may have made the call: its later attempts find out. */
  async #findUnknownWrite(row: StepRow): Promise<Id<'execution'> | undefined> {
    const isFirst = row.attempts?.every(wasNotMade) !== false
    return isFirst ? this.#ports.findUnknownWrite?.(row) : undefined
  }

  /** What keeps a call back is observed like a refusal by the tool itself, which was never called. */
  #refuse(row: StepRow, code: string, message: string): StepRow {
    const endedAt = Math.max(this.#ports.clock.now(), row.startedAt)
    return recordAttempt(row, { result: 'refused', code, message, endedAt })
  }

  /**
   * Commits that a call is about to be made, and what it takes of limits. When it must not be made, nothing says that it
   * was to be. After this nobody else believes that the run is theirs.
   */
  async #commitIntent(
    row: StepRow,
    uses: readonly LimitUse[],
  ): Promise<{ readonly isMade: boolean; readonly reached?: ReachedLimit | undefined }> {
    const { lease } = this.#ports
    const { reached } = await this.#commit({ intent: row, uses })
    if (reached !== undefined || this.#isWithheld()) return { isMade: false, reached }
    // A process that was frozen finds its lease gone. The commit that follows proves that nobody has taken over.
    while (lease !== undefined && !lease.isHeld()) {
      await lease.renew()
      await this.#commit()
    }
    return { isMade: true }
  }

  /** Whether an operator's word keeps the next write back. While it is open whether a write was made, only a pause does. */
  #isWithheld(): boolean {
    const { cancelRequested, pauseRequested } = this.#flags
    return pauseRequested || (cancelRequested && !this.#isWriteOpen())
  }

  async #observe(row: StepRow, call: ToolCall): Promise<ToolObservation> {
    const { clock, tools } = this.#ports
    const tool = tools.find(call.tool, call.contractHash)
    if (tool === undefined) {
      return refusedCall(call.tool, tools.find(call.tool) !== undefined, clock.now())
    }
    const pinned = this.#plan.tools.get(call.tool)
    if (pinned === undefined || !isJsonObject(row.input)) {
      throw new TypeError(`step ${row.stepKey} was begun without a pinned tool or an input`)
    }
    const { tenantId, executionId } = this.#claim
    const { start } = this.#state
    const principal = start.requester
    const idempotencyKey = () => idempotencyKeyOf(start, row)
    const watched = this.#ports.observer?.callBegins(row, call)
    const { traceparent } = watched ?? {}
    const context = { tenantId, executionId, principal, idempotencyKey, traceparent }
    const observed = await callTool(tool, pinned, row.input, context, call.timeoutMs, clock)
    watched?.ended(observed.result, observed.result === 'done' ? undefined : observed.code)
    return observed
  }

  #take(row: StepRow): void {
    this.#state = apply(this.#state, row)
    // From when it began: a read that took long is committed before the next, and what is wanted of the run is heard.
    if (this.#uncommitted.size === 0) this.#uncommittedSince = row.startedAt
    this.#uncommitted.set(row.ordinal, row)
    // Only what `effect` gathers has to be measured.
    if (this.#durability === 'effect') this.#uncommittedBytes += sizeOf(row)
  }

  #isCommitDue(now: number): boolean {
    if (this.#uncommitted.size === 0) return false
    return (
      this.#durability === 'step' ||
      this.#givenBack.length > 0 ||
      now - this.#uncommittedSince >= maxUncommittedMs ||
      this.#uncommittedBytes >= maxUncommittedBytes
    )
  }

  async #commit({
    intent,
    uses = [],
    end,
    leave,
  }: {
    readonly intent?: StepRow
    readonly uses?: readonly LimitUse[]
    readonly end?: ExecutionEnd
    readonly leave?: Leave
  } = {}): Promise<Committed> {
    const begun = intent && {
      ordinal: intent.ordinal,
      despiteCancel: this.#isWriteOpen(),
    }
    const rows = new Map(this.#uncommitted)
    if (intent !== undefined) rows.set(intent.ordinal, intent)
    const all = [...rows.values()]
    const added = all.filter(({ ordinal }) => !this.#open.has(ordinal))
    const changed = all.filter(({ ordinal }) => this.#open.has(ordinal))
    this.#ports.onBoundary?.('before_commit', end === undefined ? '' : 'end')
    let committed: Committed
    try {
      const limits = limitChange(uses, this.#givenBack)
      const mustBeKnown =
        intent !== undefined || limits !== undefined || this.#writeOutcome !== undefined
      const commit = { added, changed, end, leave, intent: begun, limits, mustBeKnown }
      committed = await this.#ports.journal.commit(this.#claim, commit)
    } catch (error) {
      if (this.#writeOutcome !== undefined) this.#ports.onLateOutcome?.(this.#writeOutcome)
      throw error
    }
    if (committed.reached !== undefined) return committed
    this.#flags = committed.flags
    this.#writeOutcome = undefined
    this.#givenBack = []
    this.#uncommittedBytes = 0
    const kept = new Map<number, StepRow>()
    if (intent !== undefined && this.#isWithheld()) {
      // What the step had come to before is still to be written.
      const before = this.#uncommitted.get(intent.ordinal)
      if (before !== undefined) kept.set(before.ordinal, before)
      rows.delete(intent.ordinal)
    }
    for (const { ordinal, status } of rows.values()) {
      if (isStepEnded(status)) this.#open.delete(ordinal)
      else this.#open.add(ordinal)
    }
    this.#uncommitted = kept
    this.#ports.onBoundary?.('after_commit', end === undefined ? '' : 'end')
    this.#ports.onCommitted?.([...rows.values()])
    return committed
  }

  async #end(end: ExecutionEnd): Promise<RunResult> {
    // Before the end is there: after it nobody would look for them, should this process be gone.
    if (this.#state.waiting.some(({ kind }) => kind === 'call')) {
      await this.#ports.children?.cancel(this.#state.start)
    }
    await this.#commit({ end })
    return { state: this.#state, end }
  }

  #leaveUntil(wakeAt: number | null): Promise<boolean> {
    return this.#leave({ status: 'waiting', wakeAt, despiteCancel: this.#isWriteOpen() })
  }

  /** Gives the run up; false when it is kept after all. */
  async #leave(leave: Leave): Promise<boolean> {
    return (await this.#commit({ leave })).isLeft
  }
}

/** Never both: what is given back is committed before the next call is begun. */
function limitChange(
  counted: readonly LimitUse[],
  givenBack: readonly LimitUse[],
): LimitChange | undefined {
  if (counted.length > 0) return { kind: 'count', uses: counted }
  return givenBack.length > 0 ? { kind: 'giveBack', uses: givenBack } : undefined
}

function sizeOf(row: StepRow): number {
  // Text length is near enough to bytes for a limit that only bounds how much a crash repeats.
  return JSON.stringify(row.output)?.length ?? 0
}
