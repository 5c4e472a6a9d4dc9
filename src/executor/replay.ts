import { hashOf } from '../domain/canonical.ts'
import type { ExecutionEnd, ExecutionRecord, StepRow } from '../domain/execution.ts'
import { apply, type ExecutionState, initialState } from './apply.ts'
import { recordAttempt } from './attempt.ts'
import { type Command, concludeAttempt, decide, endFromOutside } from './decide.ts'
import type { Plan } from './plan.ts'

export interface Divergence {
  /** Ordinal of the first row that does not fit; null for the end of the run. */
  readonly ordinal: number | null
  readonly expected: string
  readonly found: string
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
  const result = (divergence: Divergence | null): ReplayResult => ({
    agrees: divergence === null,
    decisions,
    divergence,
    state,
  })

  /** What is right where no more can be decided yet: no further row, and no end but one from outside. */
  const atRest = (): ReplayResult => {
    const extra = record.rows[position]
    if (extra !== undefined) {
      const expected = 'no further step while one is running'
      return result({ ordinal: extra.ordinal, expected, found: describeRow(extra) })
    }
    return result(record.end === null ? null : compareOutsideEnd(record.end))
  }

  for (;;) {
    const recorded = record.rows[position]
    if (recorded === undefined && (record.end === null || isFromOutside(record.end)))
      return atRest()
    const now = recorded?.startedAt ?? record.end?.endedAt ?? state.lastEndedAt
    const command = decide(plan, state, now)
    decisions += 1
    if (command.kind === 'end') return result(compareEnd(command.end, recorded, record.end))
    const isBlockEnd = command.row.ordinal < state.nextOrdinal
    const found = isBlockEnd ? record.rows[command.row.ordinal - 1] : recorded
    if (found === undefined) {
      return result({
        ordinal: null,
        expected: describeRow(command.row),
        found: describeEnd(record.end),
      })
    }
    const divergence = compareStart(command.row, found)
    if (divergence !== null) return result(divergence)
    if (!isBlockEnd) position += 1
    if (found.status === 'running' && found.kind === 'steps' && isBlockEnd) return atRest()

    const folded =
      command.kind === 'callTool'
        ? foldAttempts(plan, state, command, found)
        : { row: command.row, state: apply(state, command.row), decisions: 0 }
    state = folded.state
    decisions += folded.decisions
    if (isBlockEnd || folded.row.kind !== 'steps') {
      if (folded.row.status !== found.status || facts(folded.row) !== facts(found)) {
        return result({
          ordinal: found.ordinal,
          expected: describeRow(folded.row),
          found: describeRow(found),
        })
      }
    }
    if (folded.row.status === 'running' && folded.row.kind === 'tool') return atRest()
  }
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
    if (command.kind === 'end') return { row, state, decisions }
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
function hasAnswer({ status, error }: StepRow): boolean {
  if (status === 'completed') return true
  return error?.code === 'expectation_failed' || error?.code === 'expression_failed'
}

function compareStart(expected: StepRow, found: StepRow): Divergence | null {
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
  const { tool, input, output, error, attempt, attempts, endedAt } = row
  return hashOf({ tool, input, output, error: error?.code ?? null, attempt, attempts, endedAt })
}

function endFacts(end: ExecutionEnd): string {
  const { message: _wording, ...reason } = end.reason ?? { message: '' }
  return hashOf({ ...end, reason })
}

function compareEnd(
  expected: ExecutionEnd,
  extra: StepRow | undefined,
  found: ExecutionEnd | null,
): Divergence | null {
  if (extra !== undefined) {
    return { ordinal: extra.ordinal, expected: describeEnd(expected), found: describeRow(extra) }
  }
  if (found !== null && endFacts(expected) === endFacts(found)) return null
  return { ordinal: null, expected: describeEnd(expected), found: describeEnd(found) }
}

/** An end from outside claims nothing of the definition besides why; its instant is observed. */
function compareOutsideEnd(end: ExecutionEnd): Divergence | null {
  const { status, reason, endedAt } = end
  const expected = endFromOutside({ status, reason }, endedAt)
  if (isFromOutside(end) && endFacts(expected) === endFacts(end)) return null
  return {
    ordinal: null,
    expected: isFromOutside(end) ? describeEnd(expected) : 'no end while a step is running',
    found: describeEnd(end),
  }
}

function isFromOutside(end: ExecutionEnd): boolean {
  return end.status === 'cancelled' || observedEnds.has(end.reason?.code ?? '')
}

function describeRow(row: StepRow): string {
  const error = row.error === null ? '' : ` (${row.error.code})`
  return `step ${row.ordinal} '${row.stepKey}' ${row.status}${error}, input ${short(row.input)}, output ${short(row.output)}`
}

function describeEnd(end: ExecutionEnd | null): string {
  if (end === null) return 'no end'
  const how = end.outcome ?? end.reason?.code ?? ''
  return `end ${end.status} (${how}), result ${short(end.result)}`
}

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
