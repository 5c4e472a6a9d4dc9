import { isServiceError, ServiceError } from '../domain/errors.ts'
import { isJsonObject } from '../domain/json.ts'
import { answerStep } from '../operations/answer-step.ts'
import { approveStep } from '../operations/approve-step.ts'
import type { Operation } from '../operations/define.ts'
import { denyStep } from '../operations/deny-step.ts'
import type { RunOutput } from '../operations/execution-output.ts'
import { getExecution } from '../operations/get-execution.ts'
import { listWaitingSteps } from '../operations/list-waiting-steps.ts'
import {
  type Command,
  type Given,
  nextPageLine,
  operationCommand,
  type Parameter,
  pageInput,
  pageOptions,
} from './command.ts'
import { dueText, overdueOption } from './due-text.ts'
import { usageError } from './failures.ts'
import { freeLeft } from './left-runs.ts'
import { readValue } from './read-text.ts'
import { endScreen, stepLines } from './run-screen.ts'
import type { Shell } from './shell.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { cutToWidth } from './text-width.ts'
import { instantText, valueLine } from './value-line.ts'
import { askedValue, deadlineText, saidAt, soFarText, stepName, whomText } from './wait-screen.ts'

/** As much of a question as tells it from the others. */
const maxAskedWidth = 200

const list = operationCommand({
  path: 'executions waiting',
  operation: listWaitingSteps,
  options: [
    {
      usage: '--mine',
      text: 'only those that ask a role or group of yours, or the customer, and that you may decide',
    },
    { usage: '--execution <ID>', text: 'only those of this execution, exec_…' },
    overdueOption,
    ...pageOptions,
  ],
  notes: `The oldest execution comes first. 'executions show ID' shows the whole of a question, and the command that answers it.`,
  input: (given) => ({
    ...pageInput(given),
    mine: given.has('mine'),
    overdue: given.has('overdue'),
    executionId: given.find('execution'),
  }),
  screen: ({ items, nextCursor }, terminal, given) =>
    table(
      terminal,
      ['EXECUTION', 'STEP', 'KIND', 'ASKS', 'UNTIL', 'SINCE', 'DUE', 'PLAYBOOK', 'SO FAR', 'WHAT'],
      items.map(({ asks, step, ...item }) => {
        const wait = { ...item, input: asks }
        return [
          item.executionId,
          stepName(step, item.iteration),
          item.kind === 'tool' ? 'write' : item.kind,
          whomText(wait),
          deadlineText(wait) ?? '–',
          instantText(item.since) ?? '',
          dueText(item),
          `${item.procedureKey} v${item.versionNumber}`,
          soFarText(wait) || '–',
          whatText(wait, item),
        ]
      }),
      given.has('mine') ? 'No step waits for you.' : 'No step waits for anybody.',
    ) + nextPageLine(terminal, nextCursor),
})

/** What is asked and in which form it is answered; of a write, the tool and what it would be given. */
function whatText(
  wait: Parameters<typeof askedValue>[0],
  { tool, answerText }: { readonly tool: string | null; readonly answerText: string | null },
): string {
  const asked = cutToWidth(valueLine(askedValue(wait)), maxAskedWidth)
  const form = answerText === null ? '' : ` (${cutToWidth(answerText, maxAskedWidth)})`
  return `${tool === null ? '' : `${tool}: `}${asked}${form}`
}

const place: readonly Parameter[] = [
  { usage: '<ID>', text: 'the id of an execution, exec_…' },
  {
    usage: '<STEP>',
    text: 'the key of the step that waits; in a loop also with its round, code[3]',
  },
]
const iteration: Parameter = {
  usage: '--iteration <I>',
  text: 'its round in a loop, from 0; 4.0 in a loop of a loop',
}

/** The step that was named: `code --iteration 3`, or as the screens write it, `code[3]`. */
function waitRef(given: Given) {
  const named = given.text('STEP')
  const [, step = named, round] = /^(.+)\[([^[\]]*)\]$/.exec(named) ?? []
  const option = given.find('iteration')
  if (round !== undefined && option !== undefined && round !== option) {
    throw usageError(
      `STEP names round ${round}, and --iteration round ${option}.`,
      'Leave one of them out.',
    )
  }
  return { executionId: given.text('ID'), step, iteration: option ?? round }
}

interface Speaking extends Pick<Command, 'options' | 'notes'> {
  readonly operation: Operation<unknown, RunOutput>
  readonly input: (shell: Shell, given: Given) => Promise<object>
}

/** A command that speaks to one step that waits, and shows what has followed from it. */
function speaking(name: string, { operation, input, options = [], notes }: Speaking): Command {
  return {
    path: `executions ${name}`,
    summary: operation.summary,
    arguments: place,
    options: [iteration, ...options],
    ...(notes !== undefined && { notes }),
    async run(shell, given) {
      const ref = waitRef(given)
      const said = await input(shell, given)
      // A run whose process is gone would otherwise keep everybody waiting for it.
      if (!shell.isServed) await freeLeft(await shell.app())
      const run = await shell.call(getExecution, { executionId: ref.executionId })
      const speak = () => shell.call(operation, { ...ref, ...said })
      const output = await explained(shell, run, ref, speak)
      return { output, screen: spokenScreen(shell.terminal, output, ref) }
    },
  }
}

const answer = speaking('answer', {
  operation: answerStep,
  options: [
    {
      usage: '--answer <JSON>',
      text: 'the answer in the form that is asked for, as JSON or YAML, or @FILE',
    },
    { usage: '--text <WORDS>', text: "the customer's own words, or a number" },
  ],
  notes: `Words that do not have the form that is asked for are kept beside the question, which stays open (exit code 0);
an --answer that does not have it is refused. For example:

  stepwarden executions answer exec_… code --text 1234
  stepwarden executions answer exec_… address --answer '{"street": "Main Road 1", "city": "Leeds"}'`,
  async input(shell, given) {
    const [json, text] = [given.find('answer'), given.find('text')]
    if ((json === undefined) === (text === undefined)) {
      throw usageError(
        json === undefined ? 'There is no answer.' : 'There are two answers.',
        'Give either --answer JSON or --text WORDS.',
      )
    }
    return json === undefined ? { text } : { answer: await readValue(shell, '--answer', json) }
  },
})

const judgementOptions: readonly Parameter[] = [
  { usage: '--comment <TEXT>', text: 'why, for the record' },
  {
    usage: '--shown <HASH>',
    text: 'the hash of what you have seen; when something else is shown, nothing happens',
  },
]
const judgement = async (_shell: Shell, given: Given) => ({
  comment: given.find('comment'),
  showHash: given.find('shown'),
})

const approve = speaking('approve', {
  operation: approveStep,
  options: judgementOptions,
  notes:
    'An approval is never given by whoever the run was started by or for. A write of a guided run is confirmed by any agent.',
  input: judgement,
})

const deny = speaking('deny', {
  operation: denyStep,
  options: judgementOptions,
  notes:
    'What follows from a no is for the playbook to say; where it says nothing, the run is escalated.',
  input: judgement,
})

export const waitingCommands: readonly Command[] = [list, answer, approve, deny]

type WaitRef = ReturnType<typeof waitRef>

function findStep({ steps }: RunOutput, { step, iteration: round = '' }: WaitRef) {
  return steps.findLast(({ key, iteration: own }) => key === step && own === round)
}

/** What somebody's word came to: the steps from the one that it was said to, and how the run stands. */
function spokenScreen(terminal: Terminal, output: RunOutput, ref: WaitRef): string {
  const spoken = findStep(output, ref)
  const last = spoken && saidAt(spoken).at(-1)
  if (spoken?.status === 'waiting' && last?.kind === 'unfit') {
    const text = `The words do not fit and were kept: ${last.problems.join('; ')}`
    return [terminal.wrap(text, 2), endScreen(terminal, output)].join('\n')
  }
  const followed = output.steps.filter(({ sequence }) => sequence >= (spoken?.sequence ?? 0))
  return [...stepLines(terminal, followed), endScreen(terminal, output)].join('\n')
}

/** Says, to a person who is not asked at a step, how it can go on all the same. */
async function explained<T>(
  shell: Shell,
  run: RunOutput,
  ref: WaitRef,
  speak: () => Promise<T>,
): Promise<T> {
  try {
    return await speak()
  } catch (error) {
    const next = isServiceError(error, 'NOT_ASKED') ? await nextMove(shell, run, ref) : undefined
    if (!isServiceError(error, 'NOT_ASKED') || next === undefined) throw error
    const why = `${error.details.why}. ${next}`
    throw new ServiceError('NOT_ASKED', { ...error.details, why }, { cause: error })
  }
}

async function nextMove(shell: Shell, run: RunOutput, ref: WaitRef): Promise<string | undefined> {
  // The process that serves the folder has judged who it was; what it says stands by itself.
  if (shell.isServed) return undefined
  const principal = await shell.principal(await shell.app())
  const { id, requester, onBehalfOf } = run.execution
  const step = findStep(run, ref)
  const from = isJsonObject(step?.input ?? null) ? String(Object(step?.input).from) : ''
  const orEnd = `'stepwarden executions cancel ${id}' ends the run without it`
  if (from.startsWith('group:')) {
    return `The command line speaks for '${principal.id}', who is not in it: somebody of the group does it, with a key of theirs (STEPWARDEN_KEY); ${orEnd}`
  }
  if (requester.id === principal.id || onBehalfOf === principal.id) {
    return `This run was started by or for '${principal.id}', for whom the command line speaks: somebody else does it, with a key of theirs (STEPWARDEN_KEY) or under another user of this machine; ${orEnd}`
  }
  return undefined
}
