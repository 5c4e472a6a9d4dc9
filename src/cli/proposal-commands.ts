import { acceptProposal } from '../operations/accept-proposal.ts'
import { diffVersions } from '../operations/diff-versions.ts'
import { dismissProposal } from '../operations/dismiss-proposal.ts'
import { getProposal } from '../operations/get-proposal.ts'
import { listProposals } from '../operations/list-proposals.ts'
import { type Command, nextPageLine, operationCommand, pageInput, pageOptions } from './command.ts'
import { findApproval, nextStepLines } from './next-step.ts'
import { findingsScreen } from './procedure-screen.ts'
import { proposalScreen } from './proposal-screen.ts'
import { table } from './table.ts'
import { instantText } from './value-line.ts'

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

export const proposalCommands: readonly Command[] = [list, show, accept, dismiss]
