import { whyNotApproving } from '../domain/asked.ts'
import type { Need, NeedCode } from '../domain/backtest.ts'
import type { AttemptRecord, ExecutionRecord, Outcome, Said, StepRow } from '../domain/execution.ts'
import { isJsonObject } from '../domain/json.ts'
import { roles } from '../domain/principal.ts'
import { placeOf } from '../domain/scenario.ts'
import type { ExecutionState } from '../executor/apply.ts'
import { nextAttempt, type ToolObservation, wasNotMade } from '../executor/attempt.ts'
import type { ToolCall } from '../executor/begin-step.ts'
import type { ApprovalNode, AskNode, Plan, PlanNode } from '../executor/plan.ts'
import { hasAnswer } from '../executor/replay.ts'
import { concludeApproval, concludeAsk, concludeCall } from '../executor/waits.ts'
import { isSameValue } from './compare-runs.ts'
import { isWord, Observations, type Observed, questionOf } from './observations.ts'
import type { RunSoFar, Word, World } from './world.ts'

/** A past run, whole, and by what it was run. */
export interface PastRun {
  readonly record: ExecutionRecord
  /** The plan of the version that was run. */
  readonly plan: Plan
  /** The contract hash of each tool that the version had pinned. */
  readonly toolContracts: Readonly<Record<string, string>>
}

/** Whether this service has a tool with exactly this contract. */
export type HasTool = (name: string, contractHash: string) => boolean

/** A clock and a timer do not agree to the millisecond. */
const clockSlackMs = 100

/**
 * The world of a past run, for one simulation of another version. An observation is taken where the same was asked of the
 * same tool, people or procedure, after the same writes; where there is none the simulation stops, and `needAt` says why.
 */
export class RecordedWorld implements World {
  readonly #timeLimitMs: number
  readonly #past: PastRun
  readonly #hasTool: HasTool
  readonly #observed: Observations
  /** By the ordinal of the simulated row. */
  readonly #taken = new Map<number, Observed>()
  readonly #needs = new Map<string, Need>()
  /** Simulated rows whose write was counted. */
  readonly #written = new Set<number>()
  /** How many of the recorded writes were made, in their order; below 0 once another one was. */
  #writes = 0
  /** Every step so far is the recorded one, so that the record says when the next begins. */
  #isInStep = true

  /** `plan`: that of the version to be simulated. */
  constructor({ timeLimitMs }: Plan, past: PastRun, hasTool: HasTool) {
    this.#timeLimitMs = timeLimitMs
    this.#past = past
    this.#hasTool = hasTool
    this.#observed = new Observations(past.plan, past.record)
  }

  /** Whether exactly the recorded writes were made, in their order. */
  get hasSameWrites(): boolean {
    return this.#writes === this.#observed.writes.length
  }

  /** What was needed at a place where the simulation stopped. */
  needAt(row: Pick<StepRow, 'stepKey' | 'iteration'>): Need | undefined {
    return this.#needs.get(placeOf(row))
  }

  call(row: StepRow, call: ToolCall, at: number): ToolObservation | undefined {
    const { tool, contractHash, effect } = call
    const then = this.#past.toolContracts[tool]
    if (!this.#hasTool(tool, contractHash)) return this.#need(row, 'tool_gone')
    if (then !== undefined && then !== contractHash) return this.#need(row, 'other_contract')
    const observed = this.#observationFor(row)
    if (observed === undefined) return undefined
    const found = this.#attemptOf(observed.row, row, call, at)
    if (typeof found === 'string') return this.#need(row, found)
    if (effect === 'write' && (found.result === 'done' || !wasNotMade(found))) this.#noteWrite(row)
    return found
  }

  wait(row: StepRow, node: PlanNode, run: RunSoFar): Word | undefined {
    const observed = this.#observationFor(row)
    if (observed === undefined) return undefined
    if (row.kind === 'call') this.#noteWrite(row)
    const { row: recorded } = observed
    const heard = row.exchange?.filter(isWord).length ?? 0
    const said = recorded.exchange?.filter(isWord)[heard]
    // As long after the question as it came then.
    const at = (then: number): number =>
      Math.max(row.startedAt + (then - recorded.startedAt), run.state.lastEndedAt)
    const nothingUntil = (why: NeedCode): Word => {
      this.#need(row, why)
      const until = recorded.endedAt ?? this.#past.record.end?.endedAt ?? recorded.startedAt
      return { kind: 'unknown', from: at(until) }
    }
    if (node.kind === 'call') {
      const { status, endedAt } = recorded
      if (endedAt === null || (status !== 'completed' && status !== 'failed')) {
        return nothingUntil('no_answer')
      }
      return { kind: 'said', at: at(endedAt), row: concludeCalled(row, recorded, at(endedAt)) }
    }
    if (said === undefined) return nothingUntil('no_answer')
    const now = { ...said, at: at(said.at) }
    const made = this.#rowOf(row, node, recorded, now, run)
    return typeof made === 'string' ? nothingUntil(made) : { kind: 'said', at: now.at, row: made }
  }

  beginsAt({ last, nextOrdinal }: ExecutionState): number | undefined {
    if (!this.#isInStep) return undefined
    const { rows } = this.#past.record
    if (last !== undefined) {
      const recorded = rows[last.ordinal - 1]
      if (recorded === undefined || placeOf(recorded) !== placeOf(last)) this.#isInStep = false
      // Between the attempts of a call nothing begins.
      const isAtCall = last.kind === 'tool' && last.status === 'running' && last.attempt > 0
      if (!this.#isInStep || isAtCall) return undefined
    }
    return rows[nextOrdinal - 1]?.startedAt
  }

  #need(row: StepRow, why: NeedCode): undefined {
    const { procedure = null } = isJsonObject(row.input) && row.kind === 'call' ? row.input : {}
    const what = row.tool ?? (typeof procedure === 'string' ? procedure : null)
    this.#needs.set(placeOf(row), { why, step: placeOf(row), what })
    return undefined
  }

  #observationFor(row: StepRow): Observed | undefined {
    const known = this.#taken.get(row.ordinal)
    if (known !== undefined) return known
    const observed = this.#observed.take(row, this.#writes)
    if (observed !== undefined) {
      this.#taken.set(row.ordinal, observed)
      return observed
    }
    const left = this.#observed.leftOf(row)
    if (left !== undefined) return this.#need(row, left > 0 ? 'other_writes' : 'more_calls')
    if (row.kind !== 'tool' && row.kind !== 'call') return this.#need(row, 'never_asked')
    return this.#need(row, this.#observed.wasCalled(row) ? 'other_input' : 'never_made')
  }

  #noteWrite(row: StepRow): void {
    if (this.#written.has(row.ordinal)) return
    this.#written.add(row.ordinal)
    const isRecorded = this.#writes >= 0 && this.#observed.writes[this.#writes] === questionOf(row)
    this.#writes = isRecorded ? this.#writes + 1 : -1
  }

  /** What came of the attempt that a running row is at, begun at `at`; or why nobody knows. */
  #attemptOf(
    recorded: StepRow,
    { attempt, startedAt }: StepRow,
    call: ToolCall,
    at: number,
  ): ToolObservation | NeedCode {
    const failed = recorded.attempts?.[attempt - 1]
    const isAnswered = hasAnswer(recorded) && attempt === recorded.attempt
    if (failed === undefined && !isAnswered) return 'more_attempts'
    if (failed?.code === 'tool_changed' || failed?.code === 'tool_unknown') return 'not_called'
    const then = failed?.endedAt ?? recorded.endedAt ?? recorded.startedAt
    const tookMs = then - this.#begunAt(recorded, attempt)
    const nominalMs = this.#nominalTimeoutMs(recorded)
    // As long after the step had begun as it was then.
    const endedAt = Math.max(at, startedAt + (then - recorded.startedAt))
    const isLate = tookMs > call.timeoutMs + clockSlackMs && failed?.result !== 'interrupted'
    if (isLate && call.timeoutMs < nominalMs) {
      const message = `'${call.tool}' took ${tookMs} ms, and would have ${call.timeoutMs} ms.`
      const code = 'tool_timeout'
      return { result: 'timeout', code, message, endedAt: at + call.timeoutMs }
    }
    if (failed?.result === 'timeout' && this.#waitsLonger(call, tookMs, nominalMs)) {
      return 'longer_timeout'
    }
    if (failed === undefined) return { result: 'done', output: recorded.output, endedAt }
    const { result, code, message } = failed
    return { result, code, message, endedAt }
  }

  /** Whether an answer is waited for longer than the recorded time-out waited, which may have been cut to what was left. */
  #waitsLonger({ timeoutMs }: ToolCall, tookMs: number, nominalMs: number): boolean {
    if (timeoutMs <= tookMs + clockSlackMs) return false
    const wasCut = tookMs < nominalMs - clockSlackMs
    return timeoutMs > nominalMs || (wasCut && this.#past.plan.timeLimitMs !== this.#timeLimitMs)
  }

  #nominalTimeoutMs({ stepKey, tool }: StepRow): number {
    const { nodes, tools } = this.#past.plan
    const node = nodes.get(stepKey)
    const own = node?.kind === 'tool' ? node.timeoutMs : undefined
    return own ?? tools.get(tool ?? '')?.contract.timeoutMs ?? 0
  }

  /** When an attempt of a recorded row was begun, as near as the record says it. */
  #begunAt(recorded: StepRow, attempt: number): number {
    const { attempts, startedAt, exchange, tool } = recorded
    if (attempt === 1) return exchange?.findLast(isWord)?.at ?? startedAt
    const before: readonly AttemptRecord[] = attempts?.slice(0, attempt - 1) ?? []
    const endedAt = before.at(-1)?.endedAt ?? startedAt
    const { nodes, tools } = this.#past.plan
    const node = nodes.get(recorded.stepKey)
    const contract = tools.get(tool ?? '')?.contract
    if (node?.kind !== 'tool' || contract === undefined) return endedAt
    const next = nextAttempt(node, contract, { ...recorded, attempts: before })
    return next.kind === 'again' ? next.notBefore : endedAt
  }

  /** What somebody's word makes of a wait; or why it is not known what would be said. */
  #rowOf(
    row: StepRow,
    node: PlanNode,
    recorded: StepRow,
    said: Said,
    run: RunSoFar,
  ): StepRow | NeedCode {
    if (node.kind === 'tool') return { ...row, exchange: [...(row.exchange ?? []), said] }
    if (node.kind === 'ask' && said.kind === 'answered')
      return this.#answered(row, node, recorded, said)
    const isVerdict = said.kind === 'approved' || said.kind === 'denied'
    if (node.kind !== 'approval' || !isVerdict) return 'never_asked'
    return mayApprove(row, node, said, run) ? concludeApproval(node, row, said) : 'other_people'
  }

  #answered(
    row: StepRow,
    node: AskNode,
    recorded: StepRow,
    said: Extract<Said, { readonly kind: 'answered' }>,
  ): StepRow | NeedCode {
    if (node.answer.problems(recorded.output).length > 0) return 'other_answer'
    const then = this.#past.plan.nodes.get(recorded.stepKey)
    const isSameForm = then?.kind === 'ask' && isSameValue(then.step.answer, node.step.answer)
    // What did not fit then might have been the answer now.
    const hasUnfit = recorded.exchange?.some(({ kind }) => kind === 'unfit') === true
    return hasUnfit && !isSameForm ? 'other_answer' : concludeAsk(row, said, recorded.output)
  }
}

function concludeCalled(row: StepRow, { output, error }: StepRow, endedAt: number): StepRow {
  const { outcome, output: result = null } = isJsonObject(output) ? output : {}
  const ended: Outcome | null = outcome === 'resolved' || outcome === 'declined' ? outcome : null
  return concludeCall(row, { outcome: ended, result, message: error?.message ?? '', endedAt })
}

/** Whom it asks is the same as then; what may be new is whom it does not want. */
function mayApprove(
  { exchange = [] }: StepRow,
  { step: { approval, notBy = [] } }: ApprovalNode,
  { by }: Extract<Said, { readonly kind: 'approved' | 'denied' }>,
  { state, rows }: RunSoFar,
): boolean {
  const { requester, onBehalfOf } = state.start
  const groups = approval.startsWith('group:') ? [approval.slice('group:'.length)] : []
  const why = whyNotApproving(
    approval,
    { ...by, roles, groups, tenantId: '' },
    {
      requesters: [requester.id, ...(onBehalfOf === undefined ? [] : [onBehalfOf])],
      others: rows
        .filter(({ stepKey }) => notBy.includes(stepKey))
        .flatMap((other) => other.exchange ?? []),
      exchange,
    },
  )
  return why === undefined
}
