import { cancelExecution } from '../operations/cancel-execution.ts'
import type { Operation } from '../operations/define.ts'
import { executionListItem, type RunOutput } from '../operations/execution-output.ts'
import { getExecution } from '../operations/get-execution.ts'
import { listExecutions } from '../operations/list-executions.ts'
import { pauseExecution } from '../operations/pause-execution.ts'
import { replayExecution } from '../operations/replay-execution.ts'
import { resumeExecution } from '../operations/resume-execution.ts'
import { startExecution } from '../operations/start-execution.ts'
import {
  type Command,
  type Given,
  nextPageLine,
  operationCommand,
  pageInput,
  pageOptions,
} from './command.ts'
import { dueText, overdueOption } from './due-text.ts'
import { exitCodes, usageError } from './failures.ts'
import { goOnLines } from './go-on.ts'
import { labelled } from './labels.ts'
import { carryOnLeft, freeLeft } from './left-runs.ts'
import { endOf, endScreen, liveSteps, timelineScreen } from './run-screen.ts'
import { table } from './table.ts'
import { startInput, startOptions } from './ticket-commands.ts'
import { countText, instantText } from './value-line.ts'
import { waitingCommands } from './waiting-commands.ts'

const executionId = { usage: '<ID>', text: 'the id of an execution, exec_…' }

const list = operationCommand({
  path: 'executions list',
  operation: listExecutions,
  options: [
    { usage: '--procedure <KEY>', text: 'only runs of this procedure' },
    {
      usage: '--status <STATUS>',
      text: `only runs in this state: ${executionListItem.shape.status.options.join(', ')}`,
    },
    { usage: '--ticket <ID>', text: 'only runs for this ticket' },
    { usage: '--customer <ID>', text: 'only runs for this customer' },
    { usage: '--by <ID>', text: 'only runs that this principal has started' },
    overdueOption,
    ...pageOptions,
  ],
  input: (given) => ({
    ...pageInput(given),
    procedureKey: given.find('procedure'),
    status: given.find('status'),
    ticketId: given.find('ticket'),
    customerId: given.find('customer'),
    requesterId: given.find('by'),
    overdue: given.has('overdue'),
  }),
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['EXECUTION', 'END', 'REASON', 'PROCEDURE', 'STARTED', 'DUE'],
      items.map((item) => [
        item.id,
        item.erasedAt === null ? endOf(item)[0] : `${endOf(item)[0]} (erased)`,
        item.reasonCode ?? '',
        `${item.procedureKey} v${item.versionNumber}`,
        instantText(item.createdAt) ?? '',
        dueText(item),
      ]),
      'No executions.',
    ) + nextPageLine(terminal, nextCursor),
})

const show = operationCommand({
  path: 'executions show',
  operation: getExecution,
  arguments: [executionId],
  input: (given) => ({ executionId: given.text('ID') }),
  screen: (run, terminal) => timelineScreen(terminal, run),
})

const start: Command = {
  path: 'executions start',
  summary: startExecution.summary,
  arguments: [{ usage: '<KEY>', text: 'the key of a procedure' }],
  options: [
    ...startOptions,
    { usage: '--ticket <TEXT>', text: "the customer's message" },
    { usage: '--detach', text: 'only store the run, and leave it to a worker' },
  ],
  notes:
    'The exit code is 0 whenever the run was carried out, escalations included; execution.status says how it ended.',
  async run(shell, given) {
    const { terminal } = shell
    const text = given.find('ticket')
    const language = given.find('language')
    if (text === undefined && language !== undefined) {
      throw usageError('--language is that of a ticket.', 'Give the ticket with --ticket as well.')
    }
    const procedureKey = given.text('KEY')
    const detach = given.has('detach')
    if (!detach) await carryOnLeft(shell)
    const output = await shell.call(
      startExecution,
      {
        procedureKey,
        ticket: text === undefined ? undefined : { text, language },
        ...(await startInput(shell, given)),
        detach,
      },
      liveSteps(terminal),
    )
    const how = shell.isSession ? undefined : `executions start ${procedureKey}`
    return {
      output,
      screen: [endScreen(terminal, output), ...goOnLines(terminal, output.execution, how)].join(
        '\n',
      ),
    }
  },
}

interface Control extends Pick<Command, 'options' | 'notes'> {
  readonly operation: Operation<unknown, RunOutput>
  readonly input?: (given: Given) => object
}

/** A command that says what is to become of one run. It carries on no other. */
function control(name: string, { operation, input, ...help }: Control): Command {
  return {
    path: `executions ${name}`,
    summary: operation.summary,
    arguments: [executionId],
    ...help,
    async run(shell, given) {
      // A run whose process is gone would otherwise wait for somebody to find that out.
      if (!shell.isServed) await freeLeft(await shell.app())
      const output = await shell.call(operation, {
        executionId: given.text('ID'),
        ...input?.(given),
      })
      return { output, screen: endScreen(shell.terminal, output) }
    },
  }
}

const controls = [
  control('cancel', {
    operation: cancelExecution,
    notes: `A run that nobody works on ends at once; another one before its next step. The step that is going is let finish and
recorded, so a run whose last step it was ends as that step leaves it: 'executions show' says how.`,
  }),
  control('pause', {
    operation: pauseExecution,
    notes: `A run that nobody works on is paused at once; another one before its next step. The step that is going is let finish
and recorded, so a run whose last step it was ends as that step leaves it.`,
  }),
  control('resume', {
    operation: resumeExecution,
    options: [{ usage: '--detach', text: 'only let it go on, and leave it to a worker' }],
    notes: 'Without --detach this process carries it on, to its end or its next wait.',
    input: (given) => ({ detach: given.has('detach') }),
  }),
]

const replay = operationCommand({
  path: 'executions replay',
  operation: replayExecution,
  arguments: [executionId],
  input: (given) => ({ executionId: given.text('ID') }),
  screen: ({ agrees, decisions, divergence, erasedAt }, terminal) => {
    if (erasedAt !== null) {
      return `Its values were erased at ${instantText(erasedAt)}, so no decision can be made again. 'stepwarden audit verify' proves what is left.`
    }
    if (agrees) {
      return `${terminal.style('good', '✓')} The record agrees with its definition: ${countText(decisions, 'decision')} made again, all the same.`
    }
    const where =
      divergence === null || divergence.ordinal === null ? 'the end' : `step ${divergence.ordinal}`
    return [
      `${terminal.style('bad', '✗')} The record does not agree with its definition: ${where} differs.`,
      labelled(terminal, 'Expected', divergence?.expected ?? ''),
      labelled(terminal, 'Found', divergence?.found ?? ''),
    ].join('\n')
  },
  exitCode: ({ agrees, erasedAt }) =>
    agrees || erasedAt !== null ? exitCodes.done[0] : exitCodes.disagrees[0],
})

export const executionCommands: readonly Command[] = [
  list,
  show,
  start,
  ...waitingCommands,
  ...controls,
  replay,
]
