import { eraseCustomer } from '../operations/erase-customer.ts'
import { getRetention } from '../operations/get-retention.ts'
import { setRetention } from '../operations/set-retention.ts'
import { type Command, operationCommand } from './command.ts'
import { usageError } from './failures.ts'
import { progress } from './progress.ts'
import { fields } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText } from './value-line.ts'

const erase: Command = {
  path: 'erase',
  summary: eraseCustomer.summary,
  arguments: [
    { usage: '<CUSTOMER>', text: 'the id of the customer, as runs were started with it' },
  ],
  options: [
    {
      usage: '--reason <TEXT>',
      text: 'why; it stays in the audit log, so write nothing about the customer into it',
    },
    { usage: '--dry-run', text: 'only say what would be erased, and what is in the way' },
  ],
  notes: `What is erased does not come back. All runs of the customer must have ended and its escalations be resolved; what is
in the way is named, with exit code 4. What stays of a run is its structure and digests, so that 'stepwarden audit verify'
still proves it. Cut off in the middle, the same command carries on.`,
  async run(shell, given) {
    const customerId = given.text('CUSTOMER')
    const dryRun = given.has('dry-run')
    const reason = given.find('reason') ?? (dryRun ? 'a dry run' : undefined)
    if (reason === undefined) {
      throw usageError('--reason is missing.', 'Say why, as in --reason "asked for by letter".')
    }
    const input = { customerId, reason, dryRun }
    const output = await shell.call(eraseCustomer, input, undefined, progress(shell))
    return { output, screen: eraseScreen(shell.terminal, output, dryRun) }
  },
}

function eraseScreen(
  terminal: Terminal,
  output: Awaited<ReturnType<typeof eraseCustomer.invoke>>,
  isDryRun: boolean,
): string {
  const { erasureId, runs, tickets, experiences, unfinished, takenAway, lessons, receipt } = output
  const naming =
    lessons.length === 0
      ? []
      : [
          terminal.style(
            'care',
            terminal.wrap(
              `Lessons name the customer; they are not erased: 'stepwarden lessons remove' ${lessons.join(', ')}.`,
              0,
            ),
          ),
        ]
  const inTheWay = [...unfinished.runs, ...unfinished.escalations]
  if (erasureId === null && runs + tickets + experiences + inTheWay.length === 0) {
    const nothing = terminal.wrap(
      'Nothing was found of that customer, so nothing was erased or written down. Check the id; runs that were started without a customerId are not found.',
      0,
    )
    return [nothing, ...naming].join('\n')
  }
  const ran = `${countText(runs, 'run')} and ${countText(tickets, 'ticket')} that nothing ran for`
  const what = experiences === 0 ? ran : `${ran}; ${countText(experiences, 'experience')} of agents`
  const left =
    takenAway === 0
      ? []
      : [
          terminal.style(
            'care',
            terminal.wrap(
              `Not erased is what was taken away before: the log knows of ${takenAway} ${takenAway === 1 ? 'export or bundle' : 'exports and bundles'} ('stepwarden audit list --action audit.exported', 'execution.bundled').`,
              0,
            ),
          ),
        ]
  if (isDryRun) {
    return [
      `Would be erased: ${what}.`,
      ...(inTheWay.length === 0
        ? []
        : [terminal.style('care', `Not over yet, and in the way: ${inTheWay.join(', ')}.`)]),
      ...left,
      ...naming,
    ].join('\n')
  }
  return [
    `Erased: ${what}.`,
    fields(terminal, [
      ['Erasure', erasureId],
      ['Receipt', receipt],
    ]),
    terminal.style(
      'quiet',
      'The receipt is stored nowhere. With the id of the customer it proves that this erasure was theirs.',
    ),
    ...left,
    ...naming,
  ].join('\n')
}

const show = operationCommand({
  path: 'retention show',
  operation: getRetention,
  input: () => ({}),
  screen: ({ days }) => retentionText(days),
})

const set: Command = {
  path: 'retention set',
  summary: setRetention.summary,
  arguments: [{ usage: '<DAYS>', text: "how many days after their end, or 'never'" }],
  notes: `Workers erase what is older within hours, as 'stepwarden erase' does, and it does not come back. Runs with an open
escalation are kept until that is resolved.`,
  async run(shell, given) {
    const isNever = given.find('DAYS') === 'never'
    const output = await shell.call(setRetention, { days: isNever ? null : given.number('DAYS') })
    return { output, screen: retentionText(output.days) }
  },
}

function retentionText(days: number | null): string {
  return days === null
    ? 'The values of runs are kept for ever.'
    : `The values of runs are erased ${countText(days, 'day')} after their end.`
}

export const erasureCommands: readonly Command[] = [erase, show, set]
