import type { z } from 'zod'
import { isJsonObject } from '../domain/json.ts'
import { acceptProposal } from '../operations/accept-proposal.ts'
import { diffVersions } from '../operations/diff-versions.ts'
import { dismissProposal } from '../operations/dismiss-proposal.ts'
import { getProposal } from '../operations/get-proposal.ts'
import { listProposals } from '../operations/list-proposals.ts'
import { proposeImprovement } from '../operations/propose-improvement.ts'
import { proposeProcedure } from '../operations/propose-procedure.ts'
import { type Command, nextPageLine, operationCommand, pageInput, pageOptions } from './command.ts'
import { usageError } from './failures.ts'
import { findApproval, nextStepLines } from './next-step.ts'
import { findingsScreen } from './procedure-screen.ts'
import { countsText, proposalScreen } from './proposal-screen.ts'
import { readDocumentFile } from './read-text.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { instantText } from './value-line.ts'

type Learned = z.infer<typeof proposeProcedure.output>

const idArgument = { usage: '<ID>', text: 'the id of a proposal, prp_…' }

const list = operationCommand({
  path: 'proposals list',
  operation: listProposals,
  options: [
    { usage: '--status <STATUS>', text: 'open (default), accepted, dismissed or all' },
    { usage: '--kind <KIND>', text: 'demonstration, improvement or gap' },
    { usage: '--procedure <KEY>', text: 'only those of one procedure' },
    ...pageOptions,
  ],
  input: (given) => ({
    ...pageInput(given),
    status: given.find('status'),
    kind: given.find('kind'),
    procedureKey: given.find('procedure'),
  }),
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['PROPOSAL', 'KIND', 'STATUS', 'PROCEDURE', 'FROM', 'MADE WITH', 'PROPOSED'],
      items.map((item) => [
        item.proposalId,
        item.kind,
        item.erasedAt === null ? item.status : `${item.status}, erased`,
        item.procedureKey,
        fromText(item),
        item.madeWith,
        instantText(item.createdAt) ?? '',
      ]),
      'No proposals.',
    ) + nextPageLine(terminal, nextCursor),
})

function fromText({
  source,
  experienceCount,
  ticketCount,
}: {
  readonly source: string
  readonly experienceCount: number
  readonly ticketCount: number
}): string {
  const count = experienceCount + ticketCount
  const name = source.replaceAll('_', ' ')
  return count === 0 ? name : `${name} (${count})`
}

const show: Command = {
  path: 'proposals show',
  summary: getProposal.summary,
  arguments: [idArgument],
  notes:
    'Of a procedure that is there it shows what would change. The definition alone, as JSON: --json.',
  async run(shell, given) {
    const output = await shell.call(getProposal, { proposalId: given.text('ID') })
    const { terminal } = shell
    if (terminal.json) return { output, screen: '' }
    const { definition, target, procedureKey, status } = output
    const isCompared = definition !== null && target.newest !== null && status === 'open'
    const compared = isCompared
      ? await shell.call(diffVersions, {
          procedureKey,
          definition,
          ...(target.base !== null && { fromVersionNumber: target.base }),
        })
      : undefined
    return { output, screen: proposalScreen(terminal, output, compared?.changes) }
  },
}

const accept: Command = {
  path: 'proposals accept',
  summary: acceptProposal.summary,
  arguments: [idArgument],
  options: [
    {
      usage: '--rebase',
      text: 'though the version that it improves is not the newest any more',
    },
  ],
  notes:
    "You are the author of the draft then, and somebody else approves it. 'stepwarden procedures edit' changes it first.",
  async run(shell, given) {
    const output = await shell.call(acceptProposal, {
      proposalId: given.text('ID'),
      rebase: given.has('rebase'),
    })
    const approval = await findApproval(shell, output)
    const screen = [
      `Made: ${output.procedureKey} version ${output.versionNumber}, a draft.`,
      findingsScreen(shell.terminal, output.findings),
      ...(approval === undefined ? [] : nextStepLines(shell, approval)),
    ].join('\n')
    return { output, screen }
  },
}

const dismiss = operationCommand({
  path: 'proposals dismiss',
  operation: dismissProposal,
  arguments: [idArgument],
  options: [{ usage: '--reason <TEXT>', text: 'why; it is asked for' }],
  input: (given) => ({ proposalId: given.text('ID'), reason: given.find('reason') }),
  screen: ({ proposalId }) => `Dismissed: ${proposalId}. The same evidence proposes nothing again.`,
})

const keyOptions = [
  { usage: '--key <KEY>', text: 'the key of the playbook (default: made of what it is about)' },
  { usage: '--name <TEXT>', text: 'its name' },
]

const fromExperiences = operationCommand({
  path: 'proposals from-experiences',
  operation: proposeProcedure,
  arguments: [
    { usage: '[SITUATION...]', text: 'what is to be done: all that was recorded in ones like it' },
  ],
  options: [
    { usage: '--ids <IDS>', text: 'the experiences to learn from, exp_…, with commas' },
    { usage: '--agent <AGENTS>', text: 'only those of these agents, with commas' },
    ...keyOptions,
  ],
  notes: 'Up to 200 are learned from, failures as well. The same experiences propose once.',
  input: (given) => ({
    situation: given.find('SITUATION'),
    key: given.find('key'),
    name: given.find('name'),
    ...(given.find('ids') !== undefined && { experienceIds: given.words('ids') }),
    ...(given.find('agent') !== undefined && { agentIds: given.words('agent') }),
  }),
  screen: learnedScreen,
})

const fromActions: Command = {
  path: 'proposals from-actions',
  summary: 'Propose a playbook for actions that are told in a file',
  arguments: [
    {
      usage: '<FILE>',
      text: 'YAML or JSON as docs/proposals.md shows it, or - for standard input',
    },
  ],
  options: keyOptions,
  async run(shell, given) {
    const { value } = await readDocumentFile(shell, given.text('FILE'))
    if (!isJsonObject(value)) {
      throw usageError('The file holds no object.', 'docs/proposals.md has an example.')
    }
    const named = { key: given.find('key'), name: given.find('name') }
    const output = await shell.call(proposeProcedure, {
      ...value,
      ...(named.key !== undefined && { key: named.key }),
      ...(named.name !== undefined && { name: named.name }),
    })
    return { output, screen: learnedScreen(output, shell.terminal) }
  },
}

const improve = operationCommand({
  path: 'proposals improve',
  operation: proposeImprovement,
  arguments: [
    { usage: '<KEY>', text: 'the key of a procedure' },
    {
      usage: '[NUMBER]',
      text: 'the version to improve (default: the active one, else the newest)',
    },
  ],
  options: [{ usage: '--feedback <TEXT>', text: 'what should be better; it is asked for' }],
  notes:
    'A model writes it, where STEPWARDEN_PROPOSE_MODEL names one; else the runs of the version teach it.',
  input: (given) => ({
    procedureKey: given.text('KEY'),
    versionNumber: given.number('NUMBER'),
    feedback: given.find('feedback'),
  }),
  screen: learnedScreen,
})

function learnedScreen(
  { isNew, proposalId, status, procedureKey, name, ...learned }: Learned,
  terminal: Terminal,
): string {
  const counts = countsText(learned.learnedFrom)
  const { agreement } = learned
  return [
    isNew
      ? `Proposed: ${proposalId}`
      : `The same evidence has proposed before: ${proposalId}, which is ${status}`,
    fields(terminal, [
      ['Procedure', procedureKey],
      ['Name', name],
      ['Made with', learned.madeWith],
      ['Learned from', counts === '' ? null : counts],
      [
        'Foretells',
        agreement && `${agreement.agreed} of ${agreement.heldOut} that were kept apart`,
      ],
      ['Parameters', learned.parameters.length === 0 ? null : learned.parameters.join(', ')],
      ['Decided by', learned.guards.length === 0 ? null : learned.guards.join('; ')],
      ['By hand', learned.unknownTools.length === 0 ? null : learned.unknownTools.join(', ')],
    ]),
    ...(isNew ? [terminal.style('quiet', `Next: 'stepwarden proposals show ${proposalId}'`)] : []),
  ].join('\n')
}

export const proposalCommands: readonly Command[] = [
  list,
  show,
  accept,
  dismiss,
  fromExperiences,
  fromActions,
  improve,
]
