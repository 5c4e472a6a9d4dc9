import { hashOf } from '../domain/canonical.ts'
import {
  type ConditionVerdict,
  type ExecutionEnd,
  type ExecutionRecord,
  isStepEnded,
  type StepRow,
} from '../domain/execution.ts'
import { isJsonObject } from '../domain/json.ts'
import { apply, type ExecutionState, initialState } from './apply.ts'
import { recordAttempt } from './attempt.ts'
import { type Command, concludeAttempt, decide, endFromOutside } from './decide.ts'
import type { Plan } from './plan.ts'
import { concludeApproval, concludeAsk, concludeCall } from './waits.ts'

export interface Divergence {
  /** Ordinal of the first row that does not fit; null for the end of the run. */
  readonly ordinal: number | null
  /** Without values where any of them may be sensitive. */
  readonly expected: string
  readonly found: string
}

/** A difference before it is told: the values in it may be sensitive. */
interface Difference {
  readonly ordinal: number | null
  readonly expected: Told
  readonly found: Told
}

interface Told {
  readonly what: string
  readonly values: string
}

export interface ReplayResult {
  readonly agrees: boolean
  /** Decisions that were made again and compared. */
  readonly decisions: number
  readonly divergence: Divergence | null
  /** The state that the rows fold into, up to the first that does not fit. */
  readonly state: ExecutionState
}

/** Ends that come from outside the definition; replay takes them as observed. */
const observedEnds: ReadonlySet<string> = new Set(['recovery_exhausted', 'internal_error'])

/**
 * Folds a record into state, making every decision again: each row and the end must be what the definition demands,
 * given the observations (what tools answered, when a step began, which attempts failed). It proves nothing about
 * whether a tool really answered so. A run that is still going replays as far as it has come.
 */
export function replay(plan: Plan, record: ExecutionRecord): ReplayResult {
  let state = initialState(plan, record.start)
  let decisions = 0
  let position = 0
  const tell = ({ what, values }: Told): string =>
    plan.sensitivity === undefined && plan.calls.length === 0 ? what + values : what
  const result = (found: Difference | null): ReplayResult => ({
    agrees: found === null,
    decisions,
    divergence: found && { ...found, expected: tell(found.expected), found: tell(found.found) },
    state,
  })

  /** What is right where no more can be decided yet: no further row, and no end but one from outside. */
  const atRest = (): ReplayResult => {
    const extra = record.rows[position]
    if (extra !== undefined) {
      const expected = { what: 'no further step while one is running', values: '' }
      return result({ ordinal: extra.ordinal, expected, found: describeRow(extra) })
    }
    return result(record.end === null ? null : compareOutsideEnd(record.end))
  }

  for (;;) {
    const next = record.rows[position]
    // A loop or a block that has ended may be all that is recorded last.
    const left = findLeft(state, record.rows)
    const mayRest = next === undefined && left === undefined && isOver(record.end)
    if (mayRest && state.waiting.length === 0) return atRest()
    const closed = nextClosed(state, record.rows)
    // What waits together is opened one after the other, whatever is heard meanwhile; then what closes first comes first.
    const end = record.end?.endedAt ?? state.lastEndedAt
    let now = next?.startedAt ?? closed?.endedAt ?? end
    let command = decide(plan, state, now)
    if (next !== undefined && closed !== undefined && !isBeginning(state, command)) {
      now = closed.endedAt
      command = decide(plan, state, now)
    }
    decisions += 1
    if (command.kind === 'end') {
      // It is due, and nobody has carried it out yet, or something from outside was faster.
      if (mayRest) return atRest()
      const due = decide(plan, state, end)
      return result(compareEnd(due.kind === 'end' ? due.end : command.end, next, record))
    }
    const isNew = isBeginning(state, command)
    if (isNew ? next === undefined : isUnseen(state, command, record.rows, closed)) {
      // What somebody else has done is observed; what has become of the wait follows from it.
      if (closed !== undefined) {
        const expected = concludeRecorded(plan, state, closed)
        const divergence = compareWhole(expected, closed)
        if (divergence !== null) return result(divergence)
        state = apply(state, expected)
        continue
      }
      if (left !== undefined) {
        const what = `step ${left.ordinal} '${left.stepKey}' running`
        const expected = { what, values: '' }
        return result({ ordinal: left.ordinal, expected, found: describeRow(left) })
      }
      if (!isNew || mayRest) return atRest()
    }
    if (command.kind === 'wait') throw new TypeError('what waits is seen to first')
    const found = isNew ? next : record.rows[command.row.ordinal - 1]
    if (found === undefined) {
      const expected = describeRow(command.row)
      return result({ ordinal: null, expected, found: describeEnd(record.end) })
    }
    const divergence = compareStart(command.row, found)
    if (divergence !== null) return result(divergence)
    if (isNew) position += 1
    else if (isStillOpen(found, command)) return atRest()

    const folded = fold(plan, state, command, found)
    state = folded.state
    decisions += folded.decisions
    // What is only entered is compared as it began, and once more when it is left.
    const isOpened = isNew && isOpen(folded.row, state)
    const difference = isOpened ? compareOpened(folded.row, found) : compareWhole(folded.row, found)
    if (difference !== null) return result(difference)
    if (folded.row.status === 'running' && command.kind === 'callTool') return atRest()
  }
}

/** The innermost loop or block that was entered and that the record shows to have ended. */
function findLeft({ frames }: ExecutionState, rows: readonly StepRow[]): StepRow | undefined {
  return frames
    .map(({ row }) => rows[row.ordinal - 1])
    .findLast((row) => row !== undefined && isStepEnded(row.status))
}

/** Whether a command begins a step, and does not go on with one. */
function isBeginning({ nextOrdinal }: ExecutionState, command: Command): boolean {
  return 'row' in command && command.row.ordinal >= nextOrdinal
}

/**
 * Whether nothing is to be done at a moment but to wait, or nobody was there who did it: what time makes of a wait is
 * recorded when a worker looks, and until then others may be heard.
 */
function isUnseen(
  state: ExecutionState,
  command: Command,
  rows: readonly StepRow[],
  closed: StepRow | undefined,
): boolean {
  if (command.kind === 'wait') return true
  if (command.kind !== 'record') return false
  const { ordinal, kind, endedAt } = command.row
  const isTimed = kind !== 'tool' && state.waiting.some((row) => row.ordinal === ordinal)
  if (!isTimed) return false
  const isHeardFirst =
    closed !== undefined && closed.ordinal !== ordinal && isClosedByOthers(closed)
  return isHeardFirst || endedAt === null || rows[ordinal - 1]?.endedAt !== endedAt
}

/** True of a run that goes on, and of one that something outside the definition has ended. */
function isOver(end: ExecutionEnd | null): boolean {
  return end === null || isFromOutside(end)
}

/** Whether the record does not show yet what a command makes of a row that is there. */
function isStillOpen({ status }: StepRow, { kind }: Command): boolean {
  return status === 'waiting' || (status === 'running' && kind === 'record')
}

/**
 * Of the steps that wait the one that the record shows closed first, as it shows it. In one millisecond a word comes before
 * the time: whoever lets the time pass has read all that was said by then.
 */
function nextClosed(
  { waiting }: ExecutionState,
  rows: readonly StepRow[],
): (StepRow & { readonly endedAt: number }) | undefined {
  let first: (StepRow & { readonly endedAt: number }) | undefined
  for (const { ordinal } of waiting) {
    const row = rows[ordinal - 1]
    if (row === undefined || row.endedAt === null) continue
    const { endedAt } = row
    const isFirst = first === undefined || endedAt < first.endedAt
    const isWordFirst = endedAt === first?.endedAt && isClosedByOthers(row)
    if (first === undefined || isFirst || (isWordFirst && !isClosedByOthers(first))) {
      first = { ...row, endedAt }
    }
  }
  return first
}

/** Whether a word has closed a wait, or the end of a called run, and not the time, after whatever was said before. */
function isClosedByOthers({ kind, exchange, error }: StepRow): boolean {
  if (error?.code === 'deadline_passed') return false
  const said = exchange?.at(-1)?.kind
  return kind === 'call' || said === 'answered' || said === 'approved' || said === 'denied'
}

/** The row that what was said, or how a called run has ended, makes of a wait; as it was where neither closes it. */
function concludeRecorded(
  plan: Plan,
  state: ExecutionState,
  closed: StepRow & { readonly endedAt: number },
): StepRow {
  const row = state.waiting.find(({ ordinal }) => ordinal === closed.ordinal)
  const node = plan.nodes.get(closed.stepKey)
  if (row === undefined || node === undefined) throw new TypeError('only what waits is closed')
  const { endedAt, output, error } = closed
  if (node.kind === 'call') {
    const { outcome, output: result = null } = isJsonObject(output) ? output : {}
    const isEnded = outcome === 'resolved' || outcome === 'declined'
    const message = error?.message ?? ''
    return concludeCall(row, { outcome: isEnded ? outcome : null, result, message, endedAt })
  }
  const said = row.exchange?.at(-1)
  const before: StepRow = { ...row, exchange: row.exchange?.slice(0, -1) ?? [] }
  if (node.kind === 'ask' && said?.kind === 'answered') {
    return node.answer.problems(output).length > 0 ? row : concludeAsk(before, said, output)
  }
  const isWord = said?.kind === 'approved' || said?.kind === 'denied'
  return node.kind === 'approval' && isWord ? concludeApproval(node, before, said) : row
}

/** Applies what a command leads to: of a tool with the attempts that are recorded, of a wait with what was said in it. */
function fold(
  plan: Plan,
  state: ExecutionState,
  command: Exclude<Command, { readonly kind: 'end' | 'wait' }>,
  found: StepRow,
): { readonly row: StepRow; readonly state: ExecutionState; readonly decisions: number } {
  if (command.kind === 'callTool') return foldAttempts(plan, state, command, found)
  const { exchange } = found
  const isOpened = command.row.status === 'waiting' && exchange !== undefined
  const row = isOpened ? { ...command.row, exchange } : command.row
  return { row, state: apply(state, row), decisions: 0 }
}

/** Whether a row stands for something that was entered and goes on in other rows, or waits. */
function isOpen(row: StepRow, { frames }: ExecutionState): boolean {
  return row.status === 'waiting' || frames.some((frame) => frame.row.ordinal === row.ordinal)
}

function compareOpened(expected: StepRow, found: StepRow): Difference | null {
  const same = hashOf({ input: expected.input }) === hashOf({ input: found.input })
  return same
    ? null
    : { ordinal: found.ordinal, expected: describeRow(expected), found: describeRow(found) }
}

function compareWhole(expected: StepRow, found: StepRow): Difference | null {
  if (expected.status === found.status && facts(expected) === facts(found)) return null
  return { ordinal: found.ordinal, expected: describeRow(expected), found: describeRow(found) }
}

/** Makes the decisions between the attempts of one tool step again, from the attempts that are in its row. */
function foldAttempts(
  plan: Plan,
  before: ExecutionState,
  first: Extract<Command, { readonly kind: 'callTool' }>,
  recorded: StepRow,
): { readonly row: StepRow; readonly state: ExecutionState; readonly decisions: number } {
  let { row } = first
  let state = before
  let decisions = 0
  for (const attempt of recorded.attempts ?? []) {
    row = recordAttempt(row, attempt)
    state = apply(state, row)
    // A run that was left between two attempts: the next one was not begun.
    const isLeft = recorded.status === 'running' && recorded.attempts?.length === recorded.attempt
    if (isLeft && attempt.attempt === recorded.attempt) return { row, state, decisions }
    const command = decide(plan, state, attempt.endedAt)
    decisions += 1
    if (command.kind === 'end' || command.kind === 'wait') return { row, state, decisions }
    row = command.row
    if (command.kind === 'record') return { row, state: apply(state, row), decisions }
  }
  if (hasAnswer(recorded) && recorded.endedAt !== null) {
    row = concludeAttempt(plan, before, row, {
      result: 'done',
      output: recorded.output,
      endedAt: recorded.endedAt,
    })
  }
  return { row, state: apply(state, row), decisions }
}

/** True when the last attempt of a tool row got an answer, be it one that the playbook did not expect. */
export function hasAnswer({ status, error }: StepRow): boolean {
  if (status === 'completed') return true
  return error?.code === 'expectation_failed' || error?.code === 'expression_failed'
}

function compareStart(expected: StepRow, found: StepRow): Difference | null {
  const same =
    expected.ordinal === found.ordinal &&
    expected.stepKey === found.stepKey &&
    expected.kind === found.kind &&
    expected.iteration === found.iteration &&
    expected.startedAt === found.startedAt
  return same
    ? null
    : { ordinal: found.ordinal, expected: describeRow(expected), found: describeRow(found) }
}

/** All of a row that is decided or observed, as one comparable text. The wording of an error is neither. */
function facts(row: StepRow): string {
  const { tool, input, output, error, attempt, attempts, endedAt, exchange = [] } = row
  const code = error?.code ?? null
  return hashOf({ tool, input, output, error: code, attempt, attempts, endedAt, exchange })
}

function endFacts(end: ExecutionEnd, version?: number): string {
  const { message: _wording, ...reason } = end.reason ?? { message: '' }
  const conditions = version === 1 ? end.conditions.map(asOfVersion1) : end.conditions
  return hashOf({ ...end, conditions, reason })
}

/** Version 1 calls a rule clear as soon as its steps have ended, whether it was tested by then or not. */
function asOfVersion1(verdict: ConditionVerdict): ConditionVerdict {
  const isRule = verdict.kind === 'rule' && verdict.verdict === 'clear'
  return isRule ? { ...verdict, verdict: 'not_reached' } : verdict
}

function compareEnd(
  expected: ExecutionEnd,
  extra: StepRow | undefined,
  { end: found, start: { semanticsVersion: version } }: ExecutionRecord,
): Difference | null {
  if (extra !== undefined) {
    return { ordinal: extra.ordinal, expected: describeEnd(expected), found: describeRow(extra) }
  }
  if (found !== null && endFacts(expected, version) === endFacts(found, version)) return null
  return { ordinal: null, expected: describeEnd(expected), found: describeEnd(found) }
}

/** An end from outside claims nothing of the definition besides why; its instant is observed. */
function compareOutsideEnd(end: ExecutionEnd): Difference | null {
  const { status, reason, endedAt } = end
  const expected = endFromOutside({ status, reason }, endedAt)
  if (isFromOutside(end) && endFacts(expected) === endFacts(end)) return null
  return {
    ordinal: null,
    expected: isFromOutside(end)
      ? describeEnd(expected)
      : { what: 'no end while a step is running', values: '' },
    found: describeEnd(end),
  }
}

/** Whether something that is not in the definition has ended a run. */
export function isFromOutside(end: ExecutionEnd): boolean {
  return end.status === 'cancelled' || observedEnds.has(end.reason?.code ?? '')
}

function describeRow(row: StepRow): Told {
  const error = row.error === null ? '' : ` (${row.error.code})`
  return {
    what: `step ${row.ordinal} '${row.stepKey}' ${row.status}${error}`,
    values: `, input ${short(row.input)}, output ${short(row.output)}`,
  }
}

function describeEnd(end: ExecutionEnd | null): Told {
  if (end === null) return { what: 'no end', values: '' }
  const how = end.outcome ?? end.reason?.code ?? ''
  return { what: `end ${end.status} (${how})`, values: `, result ${short(end.result)}` }
}

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
