import { isReasonCode, reasonOf } from '../domain/escalation.ts'
import type { ExecutionEnd, Outcome, StepRow } from '../domain/execution.ts'
import { isJsonObject } from '../domain/json.ts'
import type { Problem } from '../domain/problem.ts'
import type { ExecutionState } from './apply.ts'
import { nextAttempt, recordAttempt, type ToolObservation } from './attempt.ts'
import { beginStep, completedRow, failedRow, type ToolCall, toolCallOf } from './begin-step.ts'
import {
  conditionVerdicts,
  type Ending,
  testCompletion,
  testDueRules,
  testPreconditions,
} from './conditions.ts'
import { evaluateAll, evaluateCondition, scopeOf } from './evaluate.ts'
import { escalateToOf, type Plan, type PlanNode, type ToolNode } from './plan.ts'

/** What to do next. The runner carries it out, applies the row that came of it, and asks again. */
export type Command =
  /** Record a step, or the end of a block, that needs nothing from outside. */
  | { readonly kind: 'record'; readonly row: StepRow }
  /** Call a tool. `row` is the running row, with the input to send; it is committed first when the tool writes. */
  | { readonly kind: 'callTool'; readonly row: StepRow; readonly call: ToolCall }
  | { readonly kind: 'end'; readonly end: ExecutionEnd }

/** Failures that `onError` may pass over. All others are a risk to someone, and escalate. */
const skippable: ReadonlySet<string> = new Set([
  'tool_failed',
  'tool_timeout',
  'expectation_failed',
])
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
  if (last.status === 'running' && last.kind === 'tool') return goOnWithTool(plan, last, at)
  const ended = endingAfter(plan, last)
  // A run that escalates already needs no rule to say so; every other end hears the rules first.
  const ending = ended?.kind === 'escalated' ? ended : (testDueRules(plan, state) ?? ended)
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
  const held = evaluateCondition(expect, scopeOf(plan, state, row.startedAt, output))
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

function testInput(plan: Plan, state: ExecutionState): Ending | undefined {
  const problems = plan.input.problems(state.start.input)
  if (problems.length === 0) return undefined
  const missing = missingFields(plan, state)
  const code = missing.length > 0 ? 'missing_input' : 'input_invalid'
  const fields = missing.length > 0 ? missing : [...new Set(problems.map(topField))]
  const target = plan.definition.escalateTo
  return {
    kind: 'escalated',
    reason: reasonOf(code, {
      fields,
      detail:
        code === 'missing_input'
          ? fields.join(', ')
          : problems.map(({ path, message }) => `${path}: ${message}`).join('; '),
      ...(target !== undefined && { escalateTo: target }),
    }),
  }
}

function missingFields(plan: Plan, state: ExecutionState): readonly string[] {
  const required = plan.definition.input?.required
  if (!Array.isArray(required)) return []
  return required.filter(
    (name): name is string => typeof name === 'string' && !Object.hasOwn(state.start.input, name),
  )
}

function topField({ path }: Problem): string {
  return /^[^.[]*/.exec(path)?.[0] ?? ''
}

/** How the run ends because of the row that was applied last, if it does. */
function endingAfter(plan: Plan, row: StepRow): Ending | undefined {
  const node = nodeOf(plan, row.stepKey)
  const target = escalateToOf(plan, node)
  const at = { stepKey: row.stepKey, ...(target !== undefined && { escalateTo: target }) }
  if (row.status === 'failed') {
    const code = row.error?.code ?? 'internal_error'
    const onError =
      node.kind === 'tool' && maySkip(plan, node, code) ? node.step.onError : undefined
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

function maySkip(plan: Plan, node: ToolNode, code: string): boolean {
  const writes = plan.tools.get(node.step.tool)?.contract.effect !== 'read'
  return skippable.has(code) || (!writes && skippableOfReads.has(code))
}

/** Goes on from a row that neither ended the run nor waits for a tool. */
function goOn(plan: Plan, state: ExecutionState, last: StepRow, at: number): Command {
  const node = nodeOf(plan, last.stepKey)
  const first = last.status === 'skipped' ? undefined : firstInside(node, last)
  if (first !== undefined) return begin(plan, state, first, at)
  for (let from: PlanNode = node; ; from = from.parent) {
    if (from.next !== undefined) return begin(plan, state, from.next, at)
    if (from.parent === undefined) return end(plan, state, { kind: 'resolved', reason: null }, at)
    if (from.parent.kind === 'steps') return leaveBlock(state, from.parent)
  }
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

function leaveBlock(state: ExecutionState, block: PlanNode): Command {
  const entered = state.openBlocks.find(({ stepKey }) => stepKey === block.key)
  if (entered === undefined) throw new TypeError(`block ${block.key} was never entered`)
  return { kind: 'record', row: completedRow(entered, null, state.lastEndedAt) }
}

function begin(plan: Plan, state: ExecutionState, node: PlanNode, at: number): Command {
  if (at > state.start.startedAt + plan.timeLimitMs) {
    const target = escalateToOf(plan, node)
    const reason = reasonOf('deadline_passed', {
      stepKey: node.key,
      detail: `The playbook's time limit of ${plan.definition.timeLimit ?? '1h'} ended before this step.`,
      ...(target !== undefined && { escalateTo: target }),
    })
    return end(plan, state, { kind: 'escalated', reason }, at)
  }
  const { row, call } = beginStep(plan, state, node, at)
  return call === undefined ? { kind: 'record', row } : { kind: 'callTool', row, call }
}

function goOnWithTool(plan: Plan, row: StepRow, at: number): Command {
  const node = toolNodeOf(plan, row.stepKey)
  const pinned = plan.tools.get(node.step.tool)
  if (pinned === undefined)
    throw new TypeError(`step ${row.stepKey} runs a tool that is not pinned`)
  const next = nextAttempt(node, pinned.contract, row)
  if (next.kind === 'failed') {
    const endedAt = row.attempts?.at(-1)?.endedAt ?? at
    return { kind: 'record', row: failedRow(row, next.code, next.message, endedAt) }
  }
  const again = { ...row, attempt: row.attempt + 1 }
  return {
    kind: 'callTool',
    row: again,
    call: toolCallOf(node, pinned, next.notBefore),
  }
}

function end(plan: Plan, state: ExecutionState, ending: Ending, at: number): Command {
  if (ending.kind === 'resolved') {
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
