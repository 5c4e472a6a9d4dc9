import type { StepRow } from '../domain/execution.ts'
import type { Json } from '../domain/json.ts'
import { type ExecutionState, type Frame, itemsOf } from './apply.ts'
import { completedRow, failedRow } from './begin-step.ts'
import { evaluateCondition, evaluateList, scopeOf } from './evaluate.ts'
import { isEachRow, ownDepth, roundOf } from './iteration.ts'
import type { Plan, PlanNode } from './plan.ts'

/** The most that the outputs of all items of a loop may be together, as JSON text. */
const maxOutputLength = 1024 * 1024

/** What a loop does next. */
export type LoopStep =
  | { readonly kind: 'end'; readonly row: StepRow }
  | { readonly kind: 'round'; readonly iteration: string; readonly notBefore: number }
  /** Its rounds were all begun, and some of them wait. */
  | { readonly kind: 'wait' }

/** The row of a loop as it begins: its list is fixed once. */
export function beginLoop(
  plan: Plan,
  state: ExecutionState,
  node: PlanNode,
  begun: StepRow,
): StepRow {
  const row: StepRow = { ...begun, attempt: 0, tool: null }
  const { each } = node.loops
  if (each === undefined || !isEachRow(node, row)) return row
  const at = row.startedAt
  const list = evaluateList(each.list, scopeOf(plan, state, at, { iteration: row.iteration }))
  if (!list.ok) return failedRow(row, list.code, list.message, at)
  const { length } = list.value
  if (length > each.maxItems) {
    const message = `The list has ${length} items, and maxItems allows ${each.maxItems}.`
    return failedRow(row, 'loop_invalid', message, at)
  }
  if (JSON.stringify(list.value).length > maxOutputLength) {
    return failedRow(row, 'loop_invalid', 'The list is larger than 1 MiB.', at)
  }
  return { ...row, input: { items: list.value } }
}

/** Decides what follows in a loop from the rounds that were begun and that have ended. */
export function advanceLoop(
  plan: Plan,
  state: ExecutionState,
  node: PlanNode,
  frame: Frame,
): LoopStep {
  return isEachRow(node, frame.row)
    ? advanceEach(state, node, frame)
    : advanceRounds(plan, state, node, frame)
}

function advanceEach(state: ExecutionState, node: PlanNode, frame: Frame): LoopStep {
  const { row, begun, ended } = frame
  const length = itemsOf(row)?.length ?? 0
  // People and other runs are asked all at once.
  const isTogether = node.kind === 'ask' || node.kind === 'approval' || node.kind === 'call'
  if (begun < length && (isTogether || begun === ended)) {
    return { kind: 'round', iteration: roundOf(row.iteration, begun), notBefore: 0 }
  }
  if (ended < length) return { kind: 'wait' }
  const outputs: Json[] = Array.from({ length }, (_, index) => {
    const result = frame.results[index]
    return result?.status === 'completed' ? result.output : null
  })
  if (JSON.stringify(outputs).length > maxOutputLength) {
    const message = 'The outputs of all items together are larger than 1 MiB.'
    return { kind: 'end', row: failedRow(row, 'output_too_large', message, state.lastEndedAt) }
  }
  return { kind: 'end', row: completedRow(row, outputs, state.lastEndedAt) }
}

function advanceRounds(plan: Plan, state: ExecutionState, node: PlanNode, frame: Frame): LoopStep {
  const { row, begun, ended, results } = frame
  const { rounds } = node.loops
  if (rounds === undefined) throw new TypeError(`step ${node.key} is no loop of rounds`)
  const next: LoopStep = {
    kind: 'round',
    iteration: roundOf(row.iteration, begun),
    notBefore: begun === 0 ? 0 : state.lastEndedAt + rounds.everyMs,
  }
  if (begun === 0) return next
  if (ended < begun) return { kind: 'wait' }
  const at = state.lastEndedAt
  const last = results[begun - 1]
  const end = (ended: StepRow): LoopStep => ({ kind: 'end', row: ended })
  if (last?.status !== 'completed') {
    const { code = 'tool_failed', message = '', kind } = last?.error ?? {}
    return end(failedRow(row, code, message, at, kind))
  }
  const scope = scopeOf(plan, state, at, { iteration: row.iteration, output: last.output })
  const isDone = evaluateCondition(rounds.until, scope)
  if (!isDone.ok) return end(failedRow(row, isDone.code, isDone.message, at))
  if (isDone.value) {
    // Of a block only the loop around it asks what it came to.
    const isAnswer = node.kind === 'tool' || ownDepth(node, row) > 0
    return end(completedRow(row, isAnswer ? last.output : null, at))
  }
  if (begun >= rounds.atMost) {
    const message = `After ${begun} rounds '${rounds.until.source}' does not hold.`
    return end(failedRow(row, 'loop_exhausted', message, at))
  }
  return next
}
