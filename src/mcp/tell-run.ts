import type { RunDetailOutput, RunOutput } from '../operations/execution-output.ts'
import { tellWait } from './tell-wait.ts'

type Execution = RunOutput['execution']
type Step = RunOutput['steps'][number]
type Run = RunOutput & Partial<Pick<RunDetailOutput, 'heldBy'>>

/** What came of a run, for a model: how it stands and why, what the customer is told, and what is next. */
export function tellRun({ execution, steps, reply, heldBy }: Run): string {
  const { procedureKey, versionNumber, id, reason } = execution
  const at = reason?.stepKey === undefined ? '' : ` at step ${reason.stepKey}`
  return [
    `${standingText(execution)}: ${procedureKey} version ${versionNumber}, execution ${id}.`,
    ...(reason === null ? [] : [`Why: ${reason.message} (${reason.code}${at})`]),
    ...(heldBy == null ? [] : [`It is held by a switch: ${heldBy.reason}`]),
    ...stepTexts(steps),
    ...(reply === null ? [] : [`Reply for the customer:\n${reply.text}`]),
    ...nextTexts(execution, steps, reply !== null),
  ].join('\n\n')
}

function standingText({ status, outcome }: Execution): string {
  const standings: Readonly<Record<Execution['status'], string>> = {
    pending: 'Not begun',
    running: 'Running',
    waiting: 'Waiting',
    paused: 'Paused by a person',
    completed: outcome === 'declined' ? 'Declined' : 'Resolved',
    escalated: 'Escalated, handed to a person',
    cancelled: 'Cancelled',
  }
  return standings[status]
}

function stepTexts(steps: readonly Step[]): readonly string[] {
  if (steps.length === 0) return []
  const texts = steps.map(({ key, iteration, status, tool, error }) => {
    const round = iteration === '' ? '' : `[${iteration}]`
    const what = tool === null ? '' : ` (${tool})`
    const why = error === null ? '' : `: ${error.message} (${error.code})`
    return `- ${key}${round}${what}: ${status}${why}`
  })
  return [`Steps:\n${texts.join('\n')}`]
}

/** What a model does now. A wait that is somebody else's is told as well, so that it can say whom it depends on. */
function nextTexts(
  execution: Execution,
  steps: readonly Step[],
  hasReply: boolean,
): readonly string[] {
  const { id, status, reason, waitsFor } = execution
  const send = hasReply
    ? 'Send the reply as it stands: every value in it comes from the record.'
    : ''
  switch (status) {
    case 'completed':
      return [`Next: ${send || 'nothing is left to do.'}`]
    case 'escalated':
      return [`Next: ${escalatedText(reason)} ${send}`.trim()]
    case 'cancelled':
      return ['Next: nothing; a person ended it.']
    case 'paused':
      return [`Next: nothing before a person lets it go on. get_execution with ${id} shows that.`]
    case 'pending':
    case 'running':
      return [`Next: it goes on by itself. Look again with get_execution and ${id}.`]
    case 'waiting':
      return [...waitTexts(id, steps), ...timerTexts(id, waitsFor)]
    default:
      return status satisfies never
  }
}

function escalatedText(reason: Execution['reason']): string {
  if (reason?.code !== 'missing_input') {
    return 'a person takes it from here. Do not try to do by other means what this run was not allowed to do.'
  }
  const names = (reason.fields ?? []).join(', ') || 'what is missing'
  return `ask the customer for ${names}, then call again with it in \`input\` and with another \`idempotencyKey\`.`
}

function waitTexts(executionId: string, steps: readonly Step[]): readonly string[] {
  const forPeople = ['ask', 'approval', 'tool']
  return steps
    .filter(({ status, kind }) => status === 'waiting' && forPeople.includes(kind))
    .map(({ key, iteration, kind, input, tool, answer, notYou, exchange }) =>
      tellWait({
        ...{ executionId, step: key, iteration, kind, asks: input, tool, notYou, exchange },
        answer: answer ?? null,
      }),
    )
}

function timerTexts(id: string, waitsFor: Execution['waitsFor']): readonly string[] {
  if (waitsFor === null || waitsFor.until === null) return []
  return [
    `It goes on by itself at ${waitsFor.until} at the latest. Look again with get_execution and ${id}.`,
  ]
}
