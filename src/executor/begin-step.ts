import { sha256 } from '../domain/canonical.ts'
import type { ExecutionStart, StepRow } from '../domain/execution.ts'
import type { FailureKind } from '../domain/failure.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import type { ExecutionState } from './apply.ts'
import { evaluateAll, evaluateCondition, resolve, scopeOf } from './evaluate.ts'
import { isLoopRow, ownDepth } from './iteration.ts'
import { beginLoop } from './loops.ts'
import { withoutPauses } from './pauses.ts'
import type { ChooseNode, PinnedTool, Plan, PlanNode, RequireNode, ToolNode } from './plan.ts'
import { beginWait } from './waits.ts'

/** One attempt to call a tool, as it is to be made. */
export interface ToolCall {
  readonly tool: string
  readonly contractHash: string
  readonly effect: 'read' | 'write'
  /** Per attempt. */
  readonly timeoutMs: number
  /** Epoch milliseconds before which the attempt must not be made. */
  readonly notBefore: number
}

/** A step that was begun: finished already, or running until a tool has answered. */
export interface BegunStep {
  readonly row: StepRow
  readonly call?: ToolCall
}

/**
 * Begins a step at an instant, in a round of the loops around it: evaluates its `when`, then does what its kind says. A
 * step with loops of its own begins with the loop, and comes here again for each of its rounds.
 */
export function beginStep(
  plan: Plan,
  state: ExecutionState,
  node: PlanNode,
  at: number,
  iteration = '',
): BegunStep {
  const row = newRow(state, node, at, iteration)
  const scope = () => scopeOf(plan, state, at, row)
  // Of a list it is asked for each item, of all else before the first round.
  if (node.when !== undefined && isAsked(node, row)) {
    const result = evaluateCondition(node.when, scope())
    if (!result.ok) return { row: failedRow(row, result.code, result.message, at) }
    if (!result.value) return { row: { ...row, status: 'skipped', attempt: 0, endedAt: at } }
  }
  if (isLoopRow(node, row)) return { row: beginLoop(plan, state, node, row) }
  switch (node.kind) {
    case 'tool':
      return beginTool(plan, state, node, row)
    case 'compute': {
      const values = evaluateAll(node.values, scope())
      if (!values.ok) return { row: failedRow(row, values.code, values.message, at) }
      return { row: completedRow(row, values.value, at) }
    }
    case 'require':
      return { row: beginRequire(plan, state, node, row) }
    case 'choose':
      return { row: beginChoose(plan, state, node, row) }
    case 'steps':
      return { row }
    case 'end': {
      if (node.text === undefined) return { row: completedRow(row, { text: null }, at) }
      const text = resolve(node.text, scope())
      if (!text.ok) return { row: failedRow(row, text.code, text.message, at) }
      return { row: completedRow(row, { text: text.value }, at) }
    }
    case 'ask':
    case 'approval':
    case 'call':
    case 'wait':
      return { row: beginWait(plan, state, node, row) }
    default:
      return node satisfies never
  }
}

function isAsked(node: PlanNode, row: StepRow): boolean {
  return ownDepth(node, row) === (node.loops.each === undefined ? 0 : 1)
}

/** One key for all attempts of a step and all who make them, and never another step's. */
export function idempotencyKeyOf(
  { executionId, calledFrom }: Pick<ExecutionStart, 'executionId' | 'calledFrom'>,
  { stepKey, iteration }: Pick<StepRow, 'stepKey' | 'iteration'>,
): string {
  const { rootId, path } = calledFrom ?? { rootId: executionId, path: [] }
  // A list of texts is its own canonical form.
  return sha256(JSON.stringify([rootId, ...path.flat(), stepKey, iteration]))
}

/** How much of its time limit a run has left at an instant, in milliseconds; below 0 when it is over. */
export function timeLeftMs({ timeLimitMs }: Plan, state: ExecutionState, at: number): number {
  const { startedAt, pauses } = state.start
  return withoutPauses(startedAt + timeLimitMs + state.waitedMs, pauses) - at
}

/**
 * The call that a running tool row stands for. A read is cut off when the run has no time left; a write never is, because
 * what it came to would be unknown.
 */
export function toolCallOf(
  node: ToolNode,
  { contract, contractHash }: PinnedTool,
  notBefore: number,
  leftMs: number,
): ToolCall {
  const { name, effect } = contract
  const timeoutMs = node.timeoutMs ?? contract.timeoutMs
  const isCut = effect === 'read' && leftMs < timeoutMs
  return {
    tool: name,
    contractHash,
    effect,
    // Timers may be early by a millisecond, and what is cut off is to find the time over.
    timeoutMs: isCut ? Math.max(0, leftMs) + 2 : timeoutMs,
    notBefore,
  }
}

export function failedRow(
  row: StepRow,
  code: string,
  message: string,
  endedAt: number,
  kind?: FailureKind,
): StepRow {
  const error = { code, message, ...(kind !== undefined && { kind }) }
  return { ...row, status: 'failed', error, endedAt }
}

export function completedRow(row: StepRow, output: Json, endedAt: number): StepRow {
  return { ...row, status: 'completed', output, endedAt }
}

function beginTool(plan: Plan, state: ExecutionState, node: ToolNode, row: StepRow): BegunStep {
  const at = row.startedAt
  const fail = (code: string, message: string): BegunStep => ({
    row: failedRow(row, code, message, at),
  })
  const name = node.step.tool
  const pinned = plan.tools.get(name)
  if (pinned === undefined) return fail('tool_unknown', `The version pinned no tool '${name}'.`)
  const missing = pinned.contract.requires.filter((tool) => !state.completedTools.includes(tool))
  if (missing.length > 0) {
    return fail(
      'tool_order',
      `'${name}' may run only after ${missing.join(', ')} completed in this run.`,
    )
  }
  if (state.start.customerId === undefined) {
    const isPerCustomer = pinned.contract.limits.some(({ per }) => per === 'customer')
    if (isPerCustomer) {
      return fail(
        'limit_exceeded',
        `'${name}' is limited per customer, and this run names none; start it with one: --customer ID, or customerId in a call.`,
      )
    }
  }
  const input = resolve(node.input, scopeOf(plan, state, at, row))
  if (!input.ok) return fail(input.code, input.message)
  const problems = pinned.input.problems(input.value)
  if (problems.length > 0 || !isJsonObject(input.value)) {
    const found = problems.map(({ path, message }) => `${path === '' ? 'input' : path}: ${message}`)
    return fail('input_invalid', `'${name}' cannot take this input: ${found.join('; ')}`)
  }
  const running: StepRow = { ...row, input: input.value }
  if (state.start.mode === 'guided' && pinned.contract.effect === 'write') {
    return { row: { ...running, status: 'waiting', attempt: 0 } }
  }
  return { row: running, call: toolCallOf(node, pinned, at, timeLeftMs(plan, state, at)) }
}

function beginRequire(plan: Plan, state: ExecutionState, node: RequireNode, row: StepRow): StepRow {
  const scope = scopeOf(plan, state, row.startedAt, row)
  for (const [index, { when }] of node.conditions.entries()) {
    if (when === undefined) continue
    const result = evaluateCondition(when, scope)
    if (!result.ok) return failedRow(row, result.code, result.message, row.startedAt)
    if (!result.value) return completedRow(row, { met: false, unmet: index }, row.startedAt)
  }
  return completedRow(row, { met: true, unmet: null }, row.startedAt)
}

function beginChoose(plan: Plan, state: ExecutionState, node: ChooseNode, row: StepRow): StepRow {
  const scope = scopeOf(plan, state, row.startedAt, row)
  for (const { text, when } of node.choices) {
    const result = evaluateCondition(when, scope)
    if (!result.ok) return failedRow(row, result.code, result.message, row.startedAt)
    if (result.value) return completedRow(row, { chosen: text }, row.startedAt)
  }
  if (node.step.otherwise === undefined) {
    return failedRow(row, 'no_branch', 'None of the choices holds.', row.startedAt)
  }
  return completedRow(row, { chosen: null }, row.startedAt)
}

function newRow(state: ExecutionState, node: PlanNode, at: number, iteration: string): StepRow {
  return {
    ordinal: state.nextOrdinal,
    stepKey: node.key,
    iteration,
    kind: node.kind,
    status: 'running',
    attempt: 1,
    tool: node.kind === 'tool' ? node.step.tool : null,
    input: null,
    output: null,
    error: null,
    attempts: null,
    startedAt: at,
    endedAt: null,
  }
}
