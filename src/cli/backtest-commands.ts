import type { BacktestOutput } from '../operations/backtest-output.ts'
import { backtestVersion } from '../operations/backtest-version.ts'
import { cancelBacktest } from '../operations/cancel-backtest.ts'
import { continueBacktest } from '../operations/continue-backtest.ts'
import { getBacktest } from '../operations/get-backtest.ts'
import { listBacktests } from '../operations/list-backtests.ts'
import { affectedTable, backtestScreen, runsText } from './backtest-screen.ts'
import { type Command, nextPageLine, operationCommand, pageInput, pageOptions } from './command.ts'
import { periodInput, periodOptions } from './period-options.ts'
import type { Shell } from './shell.ts'
import { table } from './table.ts'
import { instantText } from './value-line.ts'

/** After how long a person is told how far it is. */
const beatMs = 1_000
/** How many affected runs the answer shows; `backtests show` has the rest. */
const shownRuns = 20

const key = { usage: '<KEY>', text: 'the key of a procedure' }
const number = { usage: '<NUMBER>', text: 'the number of a version' }
const id = { usage: '<ID>', text: 'the id of a backtest, bkt_…' }

const backtest: Command = {
  path: 'backtest',
  summary: backtestVersion.summary,
  arguments: [key, number],
  options: [
    ...periodOptions,
    {
      usage: '--status <STATUS>',
      text: 'only runs that are completed, escalated or cancelled (default: the first two)',
    },
    { usage: '--outcome <OUTCOME>', text: 'only runs that are resolved or declined' },
    { usage: '--against <N>', text: 'only runs of version N (default: of all versions)' },
    { usage: '--limit <N>', text: 'the newest so many, 1 to 1,000,000 (default 10,000)' },
  ],
  notes: [
    'Nothing is called: what was observed in each run is all that it is held against. Stop it whenever you like; the same',
    'command carries it on. docs/backtest.md says what counts as the same end, and what cannot be known.',
  ].join('\n'),
  async run(shell, given) {
    const { terminal } = shell
    const [procedureKey, versionNumber] = [given.text('KEY'), given.number('NUMBER')]
    const done = await shell.interruptible(
      `What was found is kept: the same command carries it on, 'stepwarden backtests list ${procedureKey} ${versionNumber}' shows it.`,
      async () => {
        const begun = await shell.call(backtestVersion, {
          procedureKey,
          versionNumber,
          ...periodInput(given),
          status: given.find('status'),
          outcome: given.find('outcome'),
          againstVersion: given.number('against'),
          limit: given.number('limit'),
          withinMs: beatMs,
        })
        return toItsEnd(shell, begun)
      },
    )
    const found = await shell.call(getBacktest, { backtestId: done.backtestId, limit: shownRuns })
    const affectedCount = done.different + done.unknown
    return {
      output: { ...done, runs: found.items, nextCursor: found.nextCursor },
      screen: [
        backtestScreen(terminal, done),
        ...(affectedCount === 0 ? [] : ['', affectedTable(terminal, found.items)]),
        ...(found.nextCursor === null
          ? []
          : [
              terminal.style(
                'quiet',
                `And ${runsText(affectedCount - shownRuns)} more: stepwarden backtests show ${done.backtestId} --cursor ${found.nextCursor}`,
              ),
            ]),
      ].join('\n'),
    }
  },
}

async function toItsEnd(shell: Shell, begun: BacktestOutput): Promise<BacktestOutput> {
  let now = begun
  while (now.state === 'running') {
    shell.terminal.notice(`${now.doneCount.toLocaleString('en')} of ${runsText(now.runCount)}`)
    now = await shell.call(continueBacktest, { backtestId: now.backtestId, withinMs: beatMs })
  }
  return now
}

const list = operationCommand({
  path: 'backtests list',
  operation: listBacktests,
  arguments: [key, number],
  options: pageOptions,
  input: (given) => ({
    procedureKey: given.text('KEY'),
    versionNumber: given.number('NUMBER'),
    ...pageInput(given),
  }),
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['BACKTEST', 'STATE', 'RUNS', 'SAME', 'DIFFERENT', 'UNKNOWN', 'BEGUN', 'BY'],
      items.map((one) => [
        one.backtestId,
        one.isCurrent ? one.state : `${one.state}, of an earlier revision`,
        `${one.doneCount} of ${one.runCount}`,
        String(one.same),
        String(one.different),
        String(one.unknown),
        instantText(one.startedAt) ?? '',
        one.startedBy.id,
      ]),
      'No backtests.',
    ) + nextPageLine(terminal, nextCursor),
})

const show = operationCommand({
  path: 'backtests show',
  operation: getBacktest,
  arguments: [id],
  options: [
    { usage: '--kind <KIND>', text: 'only runs that are different, or unknown' },
    ...pageOptions,
  ],
  input: (given) => ({
    backtestId: given.text('ID'),
    kind: given.find('kind'),
    ...pageInput(given),
  }),
  screen: ({ backtest: one, items, nextCursor }, terminal) =>
    `${backtestScreen(terminal, one)}\n\n${affectedTable(terminal, items)}${nextPageLine(terminal, nextCursor)}`,
})

const cancel = operationCommand({
  path: 'backtests cancel',
  operation: cancelBacktest,
  arguments: [id],
  input: (given) => ({ backtestId: given.text('ID') }),
  screen: (one, terminal) => backtestScreen(terminal, one),
})

export const backtestCommands: readonly Command[] = [backtest, list, show, cancel]
