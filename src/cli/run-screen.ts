import type { z } from 'zod'
import type { Reason } from '../domain/escalation.ts'
import { isStepEnded, type StepRow, type StepStatus } from '../domain/execution.ts'
import type { Json } from '../domain/json.ts'
import type { RunDetailOutput, RunOutput } from '../operations/execution-output.ts'
import type { stepOutput } from '../operations/step-output.ts'
import { dueText } from './due-text.ts'
import { label, labelled } from './labels.ts'
import { erasedValue, originLines } from './origin-screen.ts'
import { factsScreen, replyScreen } from './reply-screen.ts'
import { eventLines, standingLines } from './standing-screen.ts'
import { pad } from './table.ts'
import type { Terminal, Tone } from './terminal.ts'
import { countText, durationText, instantText, valueLine } from './value-line.ts'
import { stepName, waitDetails } from './wait-screen.ts'

const marks: Readonly<Record<StepStatus, readonly [mark: string, tone: Tone]>> = {
  pending: ['·', 'quiet'],
  running: ['…', 'care'],
  waiting: ['…', 'care'],
  completed: ['✓', 'good'],
  failed: ['✗', 'bad'],
  skipped: ['↷', 'quiet'],
  expired: ['✗', 'bad'],
  denied: ['✗', 'bad'],
}

/** Wide enough for most step keys, so that the outputs stand in one column while the steps are still to come. */
const keyWidth = 26

interface ShownStep {
  readonly ordinal: number
  readonly key: string
  readonly status: StepStatus
  readonly attempts: number
  readonly output: Json | null
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Shows the steps of a run as they are committed, each once, when it has ended. */
export function liveSteps(terminal: Terminal): (rows: readonly StepRow[]) => void {
  const shown = new Set<number>()
  return (rows) => {
    for (const row of rows) {
      if (!isStepEnded(row.status) || shown.has(row.ordinal)) continue
      if (shown.size === 0) terminal.print(label(terminal, 'Steps').trimEnd())
      shown.add(row.ordinal)
      const key = stepName(row.stepKey, row.iteration)
      terminal.print(stepLine(terminal, { ...row, key, attempts: row.attempt }))
    }
  }
}

/** Steps of a run that were not shown as they were committed. */
export function stepLines(terminal: Terminal, steps: RunOutput['steps']): readonly string[] {
  if (steps.length === 0) return []
  const lines = steps.map((step) =>
    stepLine(terminal, {
      ...step,
      ordinal: step.sequence,
      key: stepName(step.key, step.iteration),
    }),
  )
  return [label(terminal, 'Steps').trimEnd(), ...lines]
}

/** `✓ 2  check_transaction   state: failed, amount: 49.00 USD` */
function stepLine(terminal: Terminal, step: ShownStep): string {
  const [mark, tone] = marks[step.status]
  const lead = `${terminal.style(tone, mark)} ${String(step.ordinal).padStart(2)}  `
  const indent = 2 + 6 + keyWidth + 1
  const text = terminal.wrap(stepText(step), indent)
  return `  ${lead}${pad(step.key, keyWidth)} ${text}`
}

function stepText({ status, attempts, output, error }: ShownStep): string {
  const tries = attempts > 1 ? ` (after ${attempts} attempts)` : ''
  if (status === 'completed') return `${valueLine(output)}${tries}`
  return error === null ? status : `${status}${tries}: ${error.message} (${error.code})`
}

/** A run, with what people did to it and how its worker is where that was asked for. */
type ShownRun = RunOutput & Partial<Pick<RunDetailOutput, 'acts' | 'worker'>>

/** How a run ended, in a few words and a tone. */
export function endOf(execution: {
  readonly status: string
  readonly outcome: string | null
}): readonly [text: string, tone: Tone] {
  const text = execution.outcome ?? execution.status
  if (text === 'resolved') return [text, 'good']
  return [text, text === 'escalated' ? 'bad' : 'care']
}

/** What came of a run: how it ended and why, and what the customer is told. */
export function endScreen(terminal: Terminal, run: ShownRun): string {
  const { execution, steps, reply } = run
  const [end, tone] = endOf(execution)
  const took = execution.durationMs === null ? '' : `, ${durationText(execution.durationMs)}`
  const lines = [
    `${label(terminal, 'Outcome')}${terminal.style(tone, end)} ${terminal.style('quiet', `(${execution.id}, ${countText(steps.length, 'step')}${took})`)}`,
    ...reasonLines(terminal, execution.reason),
    ...erasedLines(terminal, execution),
    ...standingLines(terminal, run),
  ]
  if (reply !== null) lines.push(replyScreen(terminal, reply))
  return lines.join('\n')
}

function erasedLines(terminal: Terminal, { erasedAt }: RunOutput['execution']): readonly string[] {
  if (erasedAt === null) return []
  const text = `${instantText(erasedAt)}: what it held about its customer is gone; 'stepwarden audit verify' proves the rest`
  return [labelled(terminal, 'Erased', text)]
}

function reasonLines(terminal: Terminal, reason: Reason | null): readonly string[] {
  if (reason === null) return []
  const at = reason.stepKey === undefined ? '' : ` at step ${reason.stepKey}`
  return [labelled(terminal, 'Reason', `${reason.message} (${reason.code}${at})`)]
}

/** A whole run as a timeline: what was asked, each step with what went in and came out, the conditions, the end. */
export function timelineScreen(terminal: Terminal, run: ShownRun): string {
  const { execution, steps, acts } = run
  const began = new Date(execution.createdAt).getTime()
  const parts = [
    `${terminal.style('heading', execution.id)}  ${execution.procedureKey} version ${execution.versionNumber}`,
    '',
    labelled(
      terminal,
      'Started',
      `${instantText(execution.createdAt)} by ${execution.requester.id}${forWhom(execution)}`,
    ),
    ...(execution.ticket === null ? [] : [labelled(terminal, 'Ticket', execution.ticket.text)]),
    ...originLines(terminal, run),
    ...(execution.dueAt === null ? [] : [labelled(terminal, 'Due', dueText(execution))]),
    ...eventLines(terminal, execution, acts),
    '',
    ...steps.flatMap((step) => timelineLines(terminal, step, began, execution.erasedAt !== null)),
    '',
    endScreen(terminal, run),
    ...(run.reply === null || run.reply.facts.length === 0
      ? []
      : [factsScreen(terminal, run.reply)]),
  ]
  const conditions = execution.conditions.map(({ kind, text, verdict }) =>
    labelled(terminal, verdict, `${kind}: ${text}`),
  )
  if (conditions.length > 0) parts.push('', ...conditions)
  return parts.join('\n')
}

function forWhom(execution: RunOutput['execution']): string {
  const { customerId, onBehalfOf, ticketId } = execution
  return [
    customerId === null ? '' : `, customer ${customerId}`,
    onBehalfOf === null ? '' : `, on behalf of ${onBehalfOf}`,
    ticketId === null ? '' : `, ticket ${ticketId}`,
  ].join('')
}

/** What came of each attempt that did not complete the step; nothing where the step's own error says it all. */
function attemptTexts({ status, failedAttempts }: ShownAttempts): readonly string[] {
  if (status === 'failed' && failedAttempts.length === 1) return []
  return failedAttempts.map(
    ({ attempt, result, code, message, endedAt }) =>
      `${attempt}: ${result}, ${instantText(endedAt)}: ${message} (${code})`,
  )
}

type ShownAttempts = Pick<z.infer<typeof stepOutput>, 'status' | 'failedAttempts'>

function timelineLines(
  terminal: Terminal,
  step: z.infer<typeof stepOutput>,
  began: number,
  isErased: boolean,
): readonly string[] {
  const [mark, tone] = marks[step.status]
  const after = new Date(step.startedAt).getTime() - began
  const what = step.tool === null ? step.kind : `${step.kind} ${step.tool}`
  const indent = 8
  const shown = { ...step, ordinal: step.sequence }
  const isGone = isErased && step.status === 'completed' && step.output === null
  const detail = (name: string, text: string): string =>
    `${' '.repeat(indent)}${terminal.style('quiet', pad(name, 7))}${terminal.wrap(text, indent + 7)}`
  const head = `  ${terminal.style(tone, mark)} ${String(step.sequence).padStart(2)}  ${stepName(step.key, step.iteration)}`
  return [
    `${head}  ${terminal.style('quiet', `${what}, +${durationText(Math.max(0, after))}`)}`,
    detail('', step.action),
    ...waitDetails(step).map(([name, text]) => detail(name, text)),
    ...attemptTexts(step).map((text) => detail('try', text)),
    detail(step.status === 'completed' ? 'out' : '', isGone ? erasedValue : stepText(shown)),
  ]
}
