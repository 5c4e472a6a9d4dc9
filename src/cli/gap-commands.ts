import type { z } from 'zod'
import { listGaps } from '../operations/list-gaps.ts'
import { proposeFromGap } from '../operations/propose-from-gap.ts'
import { type Command, operationCommand } from './command.ts'
import { periodInput, periodOptions } from './period-options.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText } from './value-line.ts'

type Gaps = z.infer<typeof listGaps.output>
type Gap = Gaps['items'][number]

const list = operationCommand({
  path: 'gaps list',
  operation: listGaps,
  options: [
    ...periodOptions,
    { usage: '--kind <KIND>', text: 'unmatched or escalated (default: both)' },
    { usage: '--dismissed', text: 'also those whose proposal was dismissed' },
    { usage: '--limit <N>', text: 'at most so many gaps, 1 to 200 (default 50)' },
  ],
  notes: [
    'Without --from it looks at 30 days, and of those at the newest 2,000 tickets. That tickets were read is told in the audit',
    'log. docs/gaps.md says how they are compared.',
  ].join('\n'),
  input: (given) => ({
    ...periodInput(given),
    kind: given.find('kind'),
    dismissed: given.has('dismissed'),
    limit: given.number('limit'),
  }),
  screen: gapsScreen,
})

const propose = operationCommand({
  path: 'gaps propose',
  operation: proposeFromGap,
  arguments: [{ usage: '<ID>', text: 'the id of the gap or of any ticket of it, esc_…' }],
  options: [
    ...periodOptions,
    {
      usage: '--key <KEY>',
      text: 'the key of the playbook; of one that is there: its next version',
    },
    { usage: '--name <TEXT>', text: 'what it is called' },
  ],
  notes: 'With --from and --to as they were given to the list, so that it is the same gap.',
  input: (given) => ({
    escalationId: given.text('ID'),
    ...periodInput(given),
    key: given.find('key'),
    name: given.find('name'),
  }),
  screen: ({ proposalId, isNew, status, procedureKey, learnedFrom }) => {
    if (!isNew) return `Proposed before: ${proposalId} (${status}).`
    const { successes } = learnedFrom
    const how =
      successes === undefined
        ? 'a skeleton that asks a person'
        : `learned from ${countText(successes, 'run')} of agents that went well`
    return [
      `Proposed: ${proposalId}, ${procedureKey}, ${how}.`,
      `Next: 'stepwarden proposals show ${proposalId}'.`,
    ].join('\n')
  },
})

function gapsScreen(found: Gaps, terminal: Terminal): string {
  const { items, ticketCount, isCut, fellBack, model, minSimilarity, hasMore } = found
  const [most, period] = [
    isCut ? 'the newest ' : '',
    `${instantText(found.from)} to ${instantText(found.to)}`,
  ]
  const how = `alike from ${minSimilarity} on by ${model}${fellBack ? ', as the model in use gave no vectors' : ''}`
  const seen = `${most}${countText(ticketCount, 'ticket')} from ${period}, ${how}.`
  return [
    `${seen.slice(0, 1).toUpperCase()}${seen.slice(1)}`,
    ...(items.length === 0 ? [terminal.style('quiet', 'No gaps.')] : []),
    ...items.map((gap) => `\n${gapLines(gap, terminal).join('\n')}`),
    ...(hasMore ? [`\n${terminal.style('quiet', 'There are more: --limit')}`] : []),
  ].join('\n')
}

function gapLines(gap: Gap, terminal: Terminal): readonly string[] {
  const { name, count, proposal, gapId, examples } = gap
  const heading = `${terminal.style('heading', name ?? 'No words in common')}  ${countText(count, 'ticket')}, ${whyText(gap)}`
  const seen = `${gapId}, ${instantText(gap.firstSeenAt)} to ${instantText(gap.lastSeenAt)}`
  const proposed =
    proposal === null ? [] : [`proposed: ${proposal.proposalId} (${proposal.status})`]
  const texts = examples.map(({ text }) => `“${(text ?? 'no ticket').replaceAll(/\s+/g, ' ')}”`)
  return [heading, ...[seen, ...proposed, ...texts].map((line) => `  ${terminal.wrap(line, 2)}`)]
}

function whyText({ kind, code, procedureKey, versionNumber, stepKey }: Gap): string {
  if (kind === 'unmatched') return 'no playbook fitted'
  const step = stepKey === null ? '' : ` at ${stepKey}`
  return `${procedureKey} v${versionNumber} handed over${step}: ${code}`
}

export const gapCommands: readonly Command[] = [list, propose]
