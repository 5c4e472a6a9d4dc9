import type { z } from 'zod'
import { getInsights } from '../operations/get-insights.ts'
import { type Command, operationCommand } from './command.ts'
import { periodInput, periodOptions } from './period-options.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText, durationText, instantText } from './value-line.ts'

type Insights = z.infer<typeof getInsights.output>
type Share = Insights['versions'][number]['resolved']
type Durations = Insights['versions'][number]['durationMs']

export const insights: Command = operationCommand({
  path: 'insights',
  operation: getInsights,
  arguments: [
    {
      usage: '[KEY]',
      text: 'the key of a procedure, for its steps and periods (default: all procedures)',
    },
    { usage: '[NUMBER]', text: 'only runs of this version' },
  ],
  options: [
    ...periodOptions,
    { usage: '--by <PERIOD>', text: 'day, week or month (default week), in UTC' },
    { usage: '--limit <N>', text: 'at most so many versions, 1 to 1,000 (default 100)' },
  ],
  notes: [
    'Without --from it looks at 30 days. Behind each rate stands its 95 % confidence interval (Wilson); runs that are open',
    'or were cancelled are in none. docs/insights.md says what is counted.',
  ].join('\n'),
  input: (given) => ({
    procedureKey: given.find('KEY'),
    versionNumber: given.number('NUMBER'),
    ...periodInput(given),
    by: given.find('by'),
    limit: given.number('limit'),
  }),
  screen: insightsScreen,
})

function insightsScreen(found: Insights, terminal: Terminal): string {
  const { versions, steps, periods, coverageGaps, hasMore } = found
  const heading = (text: string) => `\n${terminal.style('heading', text)}`
  return [
    `Runs begun from ${instantText(found.from)} to ${instantText(found.to)}; ${countText(coverageGaps, 'ticket')} that no playbook fitted.`,
    heading('Versions'),
    table(
      terminal,
      ['PROCEDURE', 'RUNS', ...runHeadings, 'ESCALATED FOR'],
      versions.map((one) => [
        `${one.procedureKey} v${one.versionNumber}`,
        runsCell(one),
        ...runCells(one),
        reasonsText(one.escalations),
      ]),
      'No runs.',
    ),
    ...(hasMore ? [terminal.style('quiet', 'There are more: --limit')] : []),
    ...(steps.length === 0
      ? []
      : [
          heading('Steps'),
          table(
            terminal,
            [
              'STEP',
              'KIND',
              'RAN',
              'SKIPPED',
              'COMPLETED',
              'ATTEMPTS',
              'MEDIAN',
              'P95',
              'ESCALATED FOR',
            ],
            steps.map(stepCells),
            'No steps.',
          ),
        ]),
    ...(periods.length === 0
      ? []
      : [
          heading('Periods'),
          table(
            terminal,
            ['FROM', 'RUNS', ...runHeadings],
            periods.map((one) => [one.from.slice(0, 10), runsCell(one), ...runCells(one)]),
            'No runs.',
          ),
        ]),
  ].join('\n')
}

const runHeadings = ['RESOLVED', 'DECLINED', 'ESCALATED', 'MEDIAN', 'P95']

function runsCell({
  runs,
  open,
  cancelled,
}: Insights['periods'][number] | Insights['versions'][number]): string {
  const parts = [open > 0 && `${open} open`, cancelled > 0 && `${cancelled} cancelled`].filter(
    (part) => part !== false,
  )
  return parts.length === 0 ? String(runs) : `${runs} (${parts.join(', ')})`
}

function runCells(
  one: Pick<Insights['versions'][number], 'resolved' | 'declined' | 'escalated' | 'durationMs'>,
): readonly string[] {
  return [
    ...[one.resolved, one.declined, one.escalated].map(shareText),
    ...durationCells(one.durationMs),
  ]
}

function stepCells(one: Insights['steps'][number]): readonly string[] {
  const { attempts, open, begun } = one
  const isTried = one.tool !== null && attempts.mean !== null
  return [
    `v${one.versionNumber} ${one.stepKey}`,
    one.tool ?? one.kind,
    open > 0 ? `${begun} (${open} open)` : String(begun),
    String(one.skipped),
    shareText(one.completed),
    isTried ? `${attempts.mean?.toFixed(2)}, at most ${attempts.most}` : '',
    ...durationCells(one.durationMs),
    reasonsText(one.escalations),
  ]
}

function durationCells(durations: Durations): readonly string[] {
  return durations === null
    ? ['–', '–']
    : [durationText(durations.median), durationText(durations.p95)]
}

/** `93 % (91–95)`. */
function shareText({ rate, low, high }: Share): string {
  if (rate === null || low === null || high === null) return '–'
  return `${percent(rate)} % (${percent(low)}–${percent(high)})`
}

function percent(share: number): string {
  return String(Math.round(share * 100))
}

function reasonsText(escalations: Insights['versions'][number]['escalations']): string {
  return escalations.map(({ code, count }) => `${code} ${count}`).join(', ')
}
