import { isReasonCode, reasonOf } from '../domain/escalation.ts'
import type { ExecutionEnd, Outcome, StepRow } from '../domain/execution.ts'
import { isJsonObject } from '../domain/json.ts'
import type { OnFailure } from '../domain/step.ts'
import type { ExecutionState, Frame } from './apply.ts'
import { isOutcomeOpen, nextAttempt, recordAttempt, type ToolObservation } from './attempt.ts'
import {
  beginStep,
  completedRow,
  failedRow,
  type ToolCall,
  timeLeftMs,
  toolCallOf,
} from './begin-step.ts'
import {
  conditionVerdicts,
  type Ending,
  testCompletion,
  testDueRules,
  testPreconditions,
} from './conditions.ts'
import { evaluateAll, evaluateCondition, scopeOf } from './evaluate.ts'
import { isLoopRow, outerOf, ownDepth } from './iteration.ts'
import { advanceLoop } from './loops.ts'
import { escalateToOf, type PinnedTool, type Plan, type PlanNode, type ToolNode } from './plan.ts'
import { testInput } from './test-input.ts'
import { nextMoment, passTime, remind } from './waits.ts'

/** What to do next. The runner carries it out, applies the row that came of it, and asks again. */
export type Command =
  /** Record a step, or the end of a block, that needs nothing from outside. */
  | { readonly kind: 'record'; readonly row: StepRow }
  /** Call a tool. `row` is the running row, with the input to send; it is committed first when the tool writes. */
  | { readonly kind: 'callTool'; readonly row: StepRow; readonly call: ToolCall }
  /** Nothing can be done until then, or until somebody answers. Null: no time is set. */
  | { readonly kind: 'wait'; readonly until: number | null; readonly forOthers: boolean }
  | { readonly kind: 'end'; readonly end: ExecutionEnd }

/** Failures that `onError` may pass over. All others are a risk to someone, and escalate. */
const skippable: ReadonlySet<string> = new Set([
  'tool_failed',
  'tool_timeout',
  'expectation_failed',
])
/** Loops in loops could make a million rows: 122,000 took 15 s to be loaded again and replied to. */
export const maxRunSteps = 20_000

/** Of a read these say only that nothing was learned; of a write, that it was made and cannot be recorded. */
const skippableOfReads: ReadonlySet<string> = new Set(['output_invalid', 'output_too_large'])

/**
 * Decides what follows from the state of a run. `now` (epoch milliseconds) becomes the recorded start of the step that
 * the command begins, or the recorded end of the run; a replay passes the recorded instant and gets the same command.
 *
 * Pure: the same plan, state and instant give the same command for ever.
 */
export function decide(plan: Plan, state: ExecutionState, now: number): Command {
  const at = Math.max(now, state.lastEndedAt)
  const { last } = state
  if (last === undefined) {
    const ending =
      testInput(plan, state) ?? testPreconditions(plan, state) ?? testDueRules(plan, state)
    return ending === undefined ? begin(plan, state, plan.first, at) : end(plan, state, ending, at)
  }
  const lastNode = nodeOf(plan, last.stepKey)
  if (last.status === 'running' && lastNode.kind === 'tool' && !isLoopRow(lastNode, last)) {
    return goOnWithTool(plan, state, last, at)
  }
  const ended = endingAfter(plan, last)
  // A run that escalates already needs no rule to say so; every other end hears the rules first.
  const ending =
    ended?.kind === 'escalated'
      ? { ...ended, beforeRules: true as const }
      : (testDueRules(plan, state) ?? ended)
  return ending === undefined ? goOn(plan, state, last, at) : end(plan, state, ending, at)
}

/**
 * What the result of a call makes of its running row: completed, failed because `expect` does not hold, or running
 * with one more attempt in its log, of which `decide` says what follows.
 */
export function concludeAttempt(
  plan: Plan,
  state: ExecutionState,
  row: StepRow,
  observation: ToolObservation,
): StepRow {
  const endedAt = Math.max(observation.endedAt, row.startedAt)
  if (observation.result !== 'done') return recordAttempt(row, { ...observation, endedAt })
  const { output } = observation
  const { expect } = toolNodeOf(plan, row.stepKey)
  if (expect === undefined) return completedRow(row, output, endedAt)
  const place = { iteration: row.iteration, output }
  const held = evaluateCondition(expect, scopeOf(plan, state, row.startedAt, place))
  if (held.ok && held.value) return completedRow(row, output, endedAt)
  return held.ok
    ? failedRow({ ...row, output }, 'expectation_failed', `Expected ${expect.source}.`, endedAt)
    : failedRow({ ...row, output }, held.code, held.message, endedAt)
}

/**
 * The end of a run that something outside the definition ends: a cancel, or a failure of the service. It claims nothing
 * of the definition: no result, and no verdict on any condition.
 */
export function endFromOutside(
  how: Pick<ExecutionEnd, 'status' | 'reason'>,
  endedAt: number,
): ExecutionEnd {
  return { ...how, outcome: null, result: null, conditions: [], endedAt }
}

/** How the run ends because of the row that was applied last, if it does. */
function endingAfter(plan: Plan, row: StepRow): Ending | undefined {
  const node = nodeOf(plan, row.stepKey)
  const target = escalateToOf(plan, node)
  const at = { stepKey: row.stepKey, ...(target !== undefined && { escalateTo: target }) }
  if (row.status === 'failed') {
    const code = row.error?.code ?? 'internal_error'
    const onError = onFailure(plan, node, code)
    if (onError === 'continue') return undefined
    return {
      kind: onError ?? 'escalated',
      reason: reasonOf(isReasonCode(code) ? code : 'internal_error', {
        ...at,
        ...(row.error !== null && { detail: row.error.message }),
      }),
    }
  }
  if (row.status !== 'completed' || !isJsonObject(row.output)) return undefined
  if (node.kind === 'end') {
    const { text } = row.output
    const reason = reasonOf('ended_by_step', {
      ...at,
      ...(typeof text === 'string' ? { text } : { detail: node.step.action }),
    })
    return { kind: node.step.end, reason: node.step.end === 'resolved' ? null : reason }
  }
  if (node.kind === 'require' && row.output.met === false && node.otherwise === undefined) {
    const unmet = node.conditions[Number(row.output.unmet)]
    return {
      kind: node.step.otherwise === 'declined' ? 'declined' : 'escalated',
      reason: reasonOf('requirement_failed', {
        ...at,
        ...(unmet !== undefined && { text: unmet.condition.text }),
      }),
    }
  }
  return undefined
}

/** What a failure leads to, where the step says so; all else is a risk to someone, and escalates. */
function onFailure(plan: Plan, node: PlanNode, code: string): OnFailure | undefined {
  if (code === 'loop_exhausted') return node.loops.rounds?.otherwise
  if (node.kind === 'tool') return maySkip(plan, node, code) ? node.step.onError : undefined
  if (node.kind !== 'ask' && node.kind !== 'approval') return undefined
  if (code === 'deadline_passed') return node.step.onDeadline
  return node.kind === 'approval' && code === 'approval_denied' ? node.step.onDenied : undefined
}

function maySkip(plan: Plan, node: ToolNode, code: string): boolean {
  const writes = plan.tools.get(node.step.tool)?.contract.effect !== 'read'
  return skippable.has(code) || (!writes && skippableOfReads.has(code))
}

/** Goes on from a row that neither ended the run nor waits for a tool. */
function goOn(plan: Plan, state: ExecutionState, last: StepRow, at: number): Command {
  const node = nodeOf(plan, last.stepKey)
  const { iteration } = last
  if (last.status === 'running' && isLoopRow(node, last))
    return goOnWithLoop(plan, state, node, last, at)
  if (last.status === 'waiting') {
    return ownDepth(node, last) > 0
      ? leave(plan, state, node, iteration, at)
      : wait(plan, state, at)
  }
  const first = last.status === 'skipped' ? undefined : firstInside(node, last)
  if (first !== undefined) return begin(plan, state, first, at, iteration)
  return leave(plan, state, node, iteration, at)
}

/** Goes on from a step that has ended, in one round of the loops around it. */
function leave(
  plan: Plan,
  state: ExecutionState,
  node: PlanNode,
  iteration: string,
  at: number,
): Command {
  if (ownDepth(node, { iteration }) > 0) {
    const loop = frameOf(state, node.key, outerOf(iteration))
    return goOnWithLoop(plan, state, node, loop.row, at)
  }
  if (node.next !== undefined) return begin(plan, state, node.next, at, iteration)
  const { parent } = node
  if (parent === undefined) return end(plan, state, { kind: 'resolved', reason: null }, at)
  if (parent.kind !== 'steps') return leave(plan, state, parent, iteration, at)
  const block = frameOf(state, parent.key, iteration)
  // What a round came to is asked for by the loop that it belongs to.
  const output = ownDepth(parent, block.row) > 0 ? block.output : null
  return { kind: 'record', row: completedRow(block.row, output, state.lastEndedAt) }
}

function goOnWithLoop(
  plan: Plan,
  state: ExecutionState,
  node: PlanNode,
  loop: StepRow,
  at: number,
): Command {
  const next = advanceLoop(plan, state, node, frameOf(state, node.key, loop.iteration))
  if (next.kind === 'end') return { kind: 'record', row: next.row }
  if (next.kind === 'wait') return wait(plan, state, at)
  if (next.notBefore > at) return { kind: 'wait', until: next.notBefore, forOthers: false }
  return begin(plan, state, node, at, next.iteration)
}

/** What time makes of those that wait, one after the other; else the run waits with them. */
function wait(plan: Plan, state: ExecutionState, at: number): Command {
  const moments: number[] = []
  let reminded: StepRow | undefined
  for (const row of state.waiting) {
    const node = nodeOf(plan, row.stepKey)
    const confirmed = node.kind === 'tool' ? afterConfirmation(plan, node, row, at) : undefined
    if (confirmed !== undefined) return confirmed
    const passed = passTime(node, row, at)
    if (passed !== undefined) return { kind: 'record', row: passed }
    reminded ??= remind(row, at)
    const moment = nextMoment(row)
    if (moment !== undefined) moments.push(moment)
  }
  // Last, because nothing follows from it: a replay passes over a reminder that nobody was there to make.
  if (reminded !== undefined) return { kind: 'record', row: reminded }
  const until = moments.length === 0 ? null : Math.min(...moments)
  return { kind: 'wait', until, forOthers: state.waiting.some(({ kind }) => kind !== 'wait') }
}

/** What follows a word on a write of a guided run; undefined while there is none. */
function afterConfirmation(
  plan: Plan,
  node: ToolNode,
  row: StepRow,
  at: number,
): Command | undefined {
  const said = row.exchange?.findLast(({ kind }) => kind === 'approved' || kind === 'denied')
  if (said?.kind === 'approved') {
    const pinned = pinnedOf(plan, node)
    const running = { ...row, status: 'running', attempt: 1 } as const
    const leftMs = Number.POSITIVE_INFINITY
    return { kind: 'callTool', row: running, call: toolCallOf(node, pinned, said.at, leftMs) }
  }
  if (said?.kind !== 'denied') return undefined
  const message = said.comment ?? 'No reason was given.'
  return { kind: 'record', row: failedRow(row, 'approval_denied', message, Math.max(at, said.at)) }
}

function frameOf(state: ExecutionState, stepKey: string, iteration: string): Frame {
  const frame = state.frames.findLast(
    ({ row }) => row.stepKey === stepKey && row.iteration === iteration,
  )
  if (frame === undefined) throw new TypeError(`step ${stepKey} was never entered`)
  return frame
}

/** The first step that a row leads into, where its step has steps inside. */
function firstInside(node: PlanNode, row: StepRow): PlanNode | undefined {
  if (node.kind === 'steps') return row.status === 'running' ? node.first : undefined
  if (!isJsonObject(row.output)) return undefined
  const output = row.output
  if (node.kind === 'choose') {
    const chosen = node.choices.find(({ text }) => text === output.chosen)
    return chosen === undefined ? node.otherwise : chosen.first
  }
  return node.kind === 'require' && output.met === false ? node.otherwise : undefined
}

function begin(
  plan: Plan,
  state: ExecutionState,
  node: PlanNode,
  at: number,
  iteration = '',
): Command {
  if (timeLeftMs(plan, state, at) < 0) {
    const target = escalateToOf(plan, node)
    const reason = reasonOf('deadline_passed', {
      stepKey: node.key,
      detail: `${timeLimitText(plan)} ended before this step.`,
      ...(target !== undefined && { escalateTo: target }),
    })
    return end(plan, state, { kind: 'escalated', reason }, at)
  }
  if (state.nextOrdinal > maxRunSteps) {
    const target = escalateToOf(plan, node)
    const reason = reasonOf('loop_exhausted', {
      stepKey: node.key,
      detail: `The run has ${maxRunSteps.toLocaleString('en')} steps, items and rounds counted, and may have no more; divide its lists.`,
      ...(target !== undefined && { escalateTo: target }),
    })
    return end(plan, state, { kind: 'escalated', reason }, at)
  }
  const { row, call } = beginStep(plan, state, node, at, iteration)
  return call === undefined ? { kind: 'record', row } : { kind: 'callTool', row, call }
}

function timeLimitText({ definition }: Plan): string {
  return `The playbook's time limit of ${definition.timeLimit ?? '1h'}`
}

function goOnWithTool(plan: Plan, state: ExecutionState, row: StepRow, at: number): Command {
  const node = toolNodeOf(plan, row.stepKey)
  const pinned = pinnedOf(plan, node)
  const next = nextAttempt(node, pinned.contract, row, state.start.semanticsVersion)
  const last = row.attempts?.at(-1)
  const endedAt = last?.endedAt ?? at
  const nextAt = next.kind === 'again' ? next.notBefore : endedAt
  const leftMs = timeLeftMs(plan, state, nextAt)
  // What a write came to is found out first, whatever time that takes: unknown is never skipped.
  if (leftMs < 0 && !isOutcomeOpen(pinned.contract, row)) {
    const message = `${timeLimitText(plan)} ended at this step. ${last?.message ?? ''}`.trim()
    return { kind: 'record', row: failedRow(row, 'deadline_passed', message, endedAt) }
  }
  if (next.kind === 'failed') {
    return { kind: 'record', row: failedRow(row, next.code, next.message, endedAt, next.failure) }
  }
  const again = { ...row, attempt: row.attempt + 1 }
  return {
    kind: 'callTool',
    row: again,
    call: toolCallOf(node, pinned, next.notBefore, leftMs),
  }
}

function end(plan: Plan, state: ExecutionState, ending: Ending, at: number): Command {
  if (ending.kind === 'resolved') {
    if (timeLeftMs(plan, state, state.lastEndedAt) < 0) {
      const detail = `${timeLimitText(plan)} ended before the last step had.`
      const reason = reasonOf('deadline_passed', { detail })
      return end(plan, state, { kind: 'escalated', reason }, at)
    }
    const unmet = testCompletion(plan, state)
    if (unmet !== undefined) return end(plan, state, unmet, at)
  }
  let result = state.lastOutput
  if (ending.kind === 'resolved' && plan.output !== undefined) {
    const values = evaluateAll(plan.output, scopeOf(plan, state, state.lastEndedAt))
    if (!values.ok) {
      const reason = reasonOf('expression_failed', { detail: values.message })
      return end(plan, state, { kind: 'escalated', reason, completionHeld: true }, at)
    }
    result = values.value
  }
  const outcome: Outcome | null = ending.kind === 'escalated' ? null : ending.kind
  return {
    kind: 'end',
    end: {
      status: ending.kind === 'escalated' ? 'escalated' : 'completed',
      outcome,
      reason: ending.reason,
      result,
      conditions: conditionVerdicts(plan, state, ending),
      endedAt: at,
    },
  }
}

function pinnedOf(plan: Plan, node: ToolNode): PinnedTool {
  const pinned = plan.tools.get(node.step.tool)
  if (pinned === undefined) throw new TypeError(`step ${node.key} runs a tool that is not pinned`)
  return pinned
}

function nodeOf(plan: Plan, key: string): PlanNode {
  const node = plan.nodes.get(key)
  if (node === undefined) throw new TypeError(`step ${key} is not in the definition`)
  return node
}

function toolNodeOf(plan: Plan, key: string): ToolNode {
  const node = nodeOf(plan, key)
  if (node.kind !== 'tool') throw new TypeError(`step ${key} is no tool step`)
  return node
}
