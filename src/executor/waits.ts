import { hashOf } from '../domain/canonical.ts'
import type { Duration } from '../domain/duration.ts'
import type { Outcome, Said, StepRow } from '../domain/execution.ts'
import { addWorkdays, defaultCalendar, findInstant } from '../domain/expression.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import type { ExecutionState } from './apply.ts'
import { completedRow, failedRow } from './begin-step.ts'
import { evaluateInstant, resolve, scopeOf } from './evaluate.ts'
import type {
  ApprovalNode,
  AskNode,
  CallNode,
  Plan,
  PlanNode,
  WaitingNode,
  WaitNode,
} from './plan.ts'

/** How deep runs may call one another. */
const maxCallDepth = 8

/** Opens a wait: the row says what it waits for, and until when. */
export function beginWait(
  plan: Plan,
  state: ExecutionState,
  node: WaitingNode,
  begun: StepRow,
): StepRow {
  const row: StepRow = { ...begun, status: 'waiting' }
  switch (node.kind) {
    case 'ask':
      return beginAsk(plan, state, node, row)
    case 'approval':
      return beginApproval(plan, state, node, row)
    case 'call':
      return beginCall(plan, state, node, row)
    case 'wait':
      return beginTimedWait(plan, state, node, row)
    default:
      return node satisfies never
  }
}

function beginAsk(plan: Plan, state: ExecutionState, node: AskNode, row: StepRow): StepRow {
  const message = resolve(node.message, scopeOf(plan, state, row.startedAt, row))
  if (!message.ok) return failedRow(row, message.code, message.message, row.startedAt)
  const instant = (duration: Duration | undefined) => instantAfter(state, row.startedAt, duration)
  return {
    ...row,
    input: {
      from: node.step.ask,
      message: message.value,
      deadline: instant(node.deadline),
      remindAt: instant(node.remind),
    },
  }
}

function beginApproval(
  plan: Plan,
  state: ExecutionState,
  node: ApprovalNode,
  row: StepRow,
): StepRow {
  const show = resolve(node.show, scopeOf(plan, state, row.startedAt, row))
  if (!show.ok) return failedRow(row, show.code, show.message, row.startedAt)
  return {
    ...row,
    input: {
      from: node.step.approval,
      show: show.value,
      showHash: hashOf(show.value),
      quorum: node.step.quorum ?? 1,
      deadline: instantAfter(state, row.startedAt, node.deadline),
    },
  }
}

function beginCall(plan: Plan, state: ExecutionState, node: CallNode, row: StepRow): StepRow {
  const at = row.startedAt
  const key = node.step.call
  const pins = state.start.pins ?? {}
  const pin = Object.hasOwn(pins, key) ? pins[key] : undefined
  if (pin === undefined) {
    return failedRow(row, 'internal_error', `No version of ${key} was pinned at the start.`, at)
  }
  const depth = state.start.calledFrom?.path.length ?? 0
  if (depth >= maxCallDepth) {
    const message = `Calls may be nested ${maxCallDepth} deep, and this one would be deeper.`
    return failedRow(row, 'loop_exhausted', message, at)
  }
  const input = resolve(node.input, scopeOf(plan, state, at, row))
  if (!input.ok) return failedRow(row, input.code, input.message, at)
  return { ...row, input: { procedure: key, versionId: pin.versionId, input: input.value } }
}

function beginTimedWait(plan: Plan, state: ExecutionState, node: WaitNode, row: StepRow): StepRow {
  const at = row.startedAt
  if (!('evaluate' in node.until)) {
    return { ...row, input: { until: instantAfter(state, at, node.until) } }
  }
  const until = evaluateInstant(node.until, scopeOf(plan, state, at, row))
  if (!until.ok) return failedRow(row, until.code, until.message, at)
  return { ...row, input: { until: new Date(until.value).toISOString() } }
}

/** RFC 3339 text of the end of a duration, in the calendar of the run. */
function instantAfter(
  { start }: ExecutionState,
  at: number,
  duration: Duration | undefined,
): string | null {
  if (duration === undefined) return null
  const end =
    'ms' in duration
      ? at + duration.ms
      : addWorkdays(at, duration.workdays, start.calendar ?? defaultCalendar)
  return new Date(end).toISOString()
}

/** What time alone makes of a wait: its row when it is over, or undefined while it is not. */
export function passTime(node: PlanNode, row: StepRow, now: number): StepRow | undefined {
  const endedAt = Math.max(now, row.startedAt)
  if (node.kind === 'wait') {
    const until = timeIn(row, 'until')
    return until === undefined || until > now ? undefined : completedRow(row, null, endedAt)
  }
  if (node.kind !== 'ask' && node.kind !== 'approval') return undefined
  const deadline = timeIn(row, 'deadline')
  if (deadline !== undefined && deadline <= now) {
    const message = `Nobody answered until ${new Date(deadline).toISOString()}.`
    const failed = failedRow(row, 'deadline_passed', message, endedAt)
    return node.step.onDeadline === 'continue' ? { ...failed, status: 'expired' } : failed
  }
  return undefined
}

/** A wait of which a reminder is due, with that in its row; undefined for any other. */
export function remind(row: StepRow, now: number): StepRow | undefined {
  const remindAt = timeIn(row, 'remindAt')
  if (remindAt === undefined || remindAt > now || isReminded(row)) return undefined
  return { ...row, exchange: [...(row.exchange ?? []), { kind: 'reminded', at: now }] }
}

/** The next moment at which time alone makes something of a wait. */
export function nextMoment(row: StepRow): number | undefined {
  const moments = [
    timeIn(row, 'until'),
    timeIn(row, 'deadline'),
    isReminded(row) ? undefined : timeIn(row, 'remindAt'),
  ].filter((at) => at !== undefined)
  return moments.length === 0 ? undefined : Math.min(...moments)
}

function isReminded({ exchange = [] }: StepRow): boolean {
  return exchange.some(({ kind }) => kind === 'reminded')
}

function timeIn({ input }: StepRow, name: string): number | undefined {
  const text = isJsonObject(input) ? input[name] : undefined
  return typeof text === 'string' ? findInstant(text) : undefined
}

/** The row of an `ask` that has its answer. */
export function concludeAsk(row: StepRow, said: Said, answer: Json): StepRow {
  const exchange = [...(row.exchange ?? []), said]
  return completedRow({ ...row, exchange }, answer, Math.max(said.at, row.startedAt))
}

/** An approval after somebody's word: still waiting, approved by as many as are needed, or denied. */
export function concludeApproval(
  node: ApprovalNode,
  row: StepRow,
  said: Extract<Said, { readonly kind: 'approved' | 'denied' }>,
): StepRow {
  const exchange = [...(row.exchange ?? []), said]
  const endedAt = Math.max(said.at, row.startedAt)
  const heard = { ...row, exchange }
  if (said.kind === 'denied') {
    const message = said.comment ?? 'No reason was given.'
    const failed = failedRow(heard, 'approval_denied', message, endedAt)
    return node.step.onDenied === 'continue' ? { ...failed, status: 'denied' } : failed
  }
  const approvedBy = new Set(
    exchange.flatMap((one) => (one.kind === 'approved' ? [one.by.id] : [])),
  )
  if (approvedBy.size < (node.step.quorum ?? 1)) return heard
  return completedRow(heard, { approvedBy: [...approvedBy] }, endedAt)
}

/** How a run that was called has ended. */
export interface ChildEnd {
  /** Null for one that was escalated or cancelled. */
  readonly outcome: Outcome | null
  readonly result: Json
  readonly message: string
  readonly endedAt: number
}

/** The row of a `call` whose run has ended. */
export function concludeCall(row: StepRow, end: ChildEnd): StepRow {
  const endedAt = Math.max(end.endedAt, row.startedAt)
  return end.outcome === null
    ? failedRow(row, 'child_escalated', end.message, endedAt)
    : completedRow(row, { outcome: end.outcome, output: end.result }, endedAt)
}
