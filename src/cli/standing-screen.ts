import type { RunDetailOutput, RunOutput } from '../operations/execution-output.ts'
import { label, labelled } from './labels.ts'
import { stoppedText } from './stopped-text.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText } from './value-line.ts'
import { deadlineText, isForPeople, nextCommands, stepName, whomText } from './wait-screen.ts'

type Acts = RunDetailOutput['acts']

/** How a run that has not ended goes on, and who has paused it where that is known. */
export function standingLines(
  terminal: Terminal,
  run: RunOutput & Partial<Pick<RunDetailOutput, 'acts' | 'worker' | 'heldBy'>>,
): readonly string[] {
  const { execution, steps, acts = [], worker = null, heldBy = null } = run
  const waiting = execution.status === 'waiting' ? steps.filter(isWaiting) : []
  if (waiting.length > 0) return waiting.flatMap((step) => waitLines(terminal, execution, step))
  const text =
    heldBy !== null && execution.status === 'paused'
      ? heldText(heldBy)
      : worker?.isGone
        ? goneText(execution, worker)
        : standingText(execution, acts)
  return text === undefined ? [] : [labelled(terminal, 'Goes on', text)]
}

/** What has to be lifted before it goes on. */
function heldText(heldBy: NonNullable<RunDetailOutput['heldBy']>): string {
  const { kind, name } = heldBy
  const allow = `stepwarden ${kind === 'tool' ? 'tools' : 'procedures'} allow ${name}`
  return `with '${allow}': the ${kind} was stopped ${stoppedText(heldBy)}`
}

type Step = RunOutput['steps'][number]

function isWaiting({ status }: Step): boolean {
  return status === 'waiting'
}

/** What a step waits for, and below it the commands that it goes on with, not laid out, so that they can be copied. */
function waitLines(
  terminal: Terminal,
  { id, cancelRequested, wakeAt }: RunOutput['execution'],
  step: Step,
): readonly string[] {
  const name = stepName(step.key, step.iteration)
  const cancels = cancelRequested ? ', and is cancelled then' : ''
  if (!isForPeople(step)) {
    const text =
      step.kind === 'call'
        ? `when the run that step ${name} has called has ended`
        : `at ${instantText(wakeAt)}, when step ${name} is over`
    return [labelled(terminal, 'Goes on', `${text}${cancels}`)]
  }
  const deadline = deadlineText(step)
  const until = deadline === null ? '' : `, until ${deadline}`
  const word = `with ${wordText(step)} at step ${name}${until}${cancels}`
  if (step.notYou !== undefined) {
    return [labelled(terminal, 'Goes on', `${word}; somebody else must decide: ${step.notYou}`)]
  }
  const commands = nextCommands(id, step).map((command) => `${label(terminal, '')}${command}`)
  return [labelled(terminal, 'Goes on', word), ...commands]
}

function wordText(step: Step): string {
  if (step.kind === 'ask') return `an answer of ${whomText(step)}`
  return `a yes or a no of ${whomText(step)}`
}

function standingText(execution: RunOutput['execution'], acts: Acts): string | undefined {
  const { id, waitsFor, cancelRequested } = execution
  if (waitsFor === null) return workedOnText(execution)
  const cancels = cancelRequested ? ', and is cancelled then' : ''
  switch (waitsFor.kind) {
    case 'worker':
      return `with the next worker that is free ('stepwarden worker' is one): nobody has it now${cancels}`
    case 'timer':
      return `at ${instantText(waitsFor.until)}, when a worker makes ${nextCall(waitsFor)}${cancels}`
    case 'person':
      return `when step ${waitsFor.stepKey} has its word${cancels}`
    case 'call':
      return `when the run that step ${waitsFor.stepKey} has called has ended${cancels}`
    case 'resume':
      return `with 'stepwarden executions resume ${id}': ${pausedText(acts)}`
    default:
      return waitsFor.kind satisfies never
  }
}

function workedOnText({
  status,
  workerId,
  cancelRequested,
  pauseRequested,
}: RunOutput['execution']): string | undefined {
  if (status !== 'running') return undefined
  if (!cancelRequested && !pauseRequested) return `with ${workerId}, which has it`
  const then = cancelRequested ? 'cancelled' : 'paused'
  return `until the step that is going is done; then it is ${then}, unless that was its last step`
}

function goneText(
  { workerId, cancelRequested, pauseRequested }: RunOutput['execution'],
  { lastHeardAt }: NonNullable<RunDetailOutput['worker']>,
): string {
  const then = cancelRequested
    ? ', and is cancelled then'
    : pauseRequested
      ? ', and is paused then'
      : ''
  const heard = lastHeardAt === null ? '' : `, last heard of at ${instantText(lastHeardAt)}`
  return `with the next worker that is free ('stepwarden worker' is one): nobody works on it, for ${workerId} is gone${heard}${then}`
}

function nextCall({ stepKey, attempt }: NonNullable<RunOutput['execution']['waitsFor']>): string {
  if (stepKey === null) return 'its next step'
  return attempt === null ? `step ${stepKey}` : `attempt ${attempt} of step ${stepKey}`
}

function pausedText(acts: Acts): string {
  const act = acts.findLast(({ action }) => pauses.includes(action))
  return act === undefined ? 'it is paused' : actText(act)
}

const pauses = ['execution.pause_requested', 'executions.held']

const words: Readonly<Record<string, string>> = {
  'execution.cancel_requested': 'cancel asked for',
  'execution.pause_requested': 'pause asked for',
  'execution.resumed': 'resumed',
  'executions.held': 'paused with all others, after a restore,',
}

function actText({ action, at, actorId, origin }: Acts[number]): string {
  const door = origin === null ? '' : ` (${origin})`
  return `${words[action] ?? action} by ${actorId}${door} at ${instantText(at)}`
}

/** What befell a run besides its steps: what people wanted of it, and workers that it lost. */
export function eventLines(
  terminal: Terminal,
  { takeOverCount }: RunOutput['execution'],
  acts: Acts = [],
): readonly string[] {
  const lines = []
  if (acts.length > 0) lines.push(labelled(terminal, 'Steered', acts.map(actText).join('\n')))
  if (takeOverCount > 0) {
    const text = `${countText(takeOverCount, 'time')}: its worker was lost, or failed with it`
    lines.push(labelled(terminal, 'Taken over', text))
  }
  return lines
}
