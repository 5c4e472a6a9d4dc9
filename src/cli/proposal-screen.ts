import type { z } from 'zod'
import type { Change } from '../diff/change.ts'
import { requireDefinition } from '../domain/parse-definition.ts'
import type { getProposal } from '../operations/get-proposal.ts'
import { definitionSections } from './definition-screen.ts'
import { diffScreen } from './diff-screen.ts'
import { findingsScreen } from './procedure-screen.ts'
import { fields } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText } from './value-line.ts'

type Shown = z.infer<typeof getProposal.output>
type Evidence = Shown['evidence']

/**
 * A proposal for whoever decides: what it was learned from, what it would make, and what a check of that finds. `changes`:
 * against the version that people mean now, of a procedure that is there.
 */
export function proposalScreen(
  terminal: Terminal,
  proposal: Shown,
  changes: readonly Change[] | undefined,
): string {
  const { definition, target, evidence } = proposal
  const isWhole = changes === undefined && definition !== null
  const parsed = definition === null ? undefined : requireDefinition(definition)
  const sections = [
    [
      `${terminal.style('heading', proposal.procedureKey)}  ${proposal.kind}, ${proposal.status}`,
      fields(terminal, [
        ['Proposal', proposal.proposalId],
        ['Name', proposal.name],
        ['Would make', makes(proposal)],
        ['Made with', proposal.madeWith],
        ['Proposed', `by ${proposal.createdBy.id}, ${instantText(proposal.createdAt)}`],
        ['Decided', decidedText(proposal)],
        ['Reason', proposal.reason],
        ['Draft', proposal.versionId],
        ['Erased', instantText(proposal.erasedAt)],
      ]),
    ],
    section(terminal, 'Learned from', evidenceLines(terminal, evidence)),
    ...(isWhole && parsed !== undefined
      ? definitionSections(terminal, parsed).map(([title, lines]) =>
          section(terminal, title, lines),
        )
      : []),
    ...(changes === undefined
      ? []
      : [section(terminal, 'Changes', [diffScreen(terminal, changes, 2)])]),
    ...(definition === null ? [] : [[findingsScreen(terminal, proposal.findings)]]),
    ...(proposal.status === 'open' ? [[terminal.style('quiet', nextLine(proposal))]] : []),
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')

  function makes({ kind }: Shown): string | null {
    if (definition === null || proposal.status !== 'open') return null
    if (!target.isThere) return 'a new procedure'
    const next = `the version after ${target.newest ?? 'those that were deleted'}`
    if (kind !== 'improvement' || target.isCurrent) return next
    return `${next}, though it improves ${target.base === null ? 'one that was deleted' : `version ${target.base}`}`
  }
}

function section(terminal: Terminal, title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [terminal.style('heading', title), ...lines]
}

function decidedText({ decidedBy, decidedAt, status }: Shown): string | null {
  return decidedBy && `${status} by ${decidedBy.id}, ${instantText(decidedAt)}`
}

function nextLine({ proposalId, definition, kind, target }: Shown): string {
  const dismiss = `'stepwarden proposals dismiss ${proposalId} --reason TEXT'`
  if (definition === null) return `Next: ${dismiss}; what is left can propose anew.`
  const rebase = kind === 'improvement' && !target.isCurrent ? ' --rebase' : ''
  return `Next: 'stepwarden proposals accept ${proposalId}${rebase}' makes a draft of it, with you as its author; ${dismiss} ends it.`
}

/** Why it is proposed, in short lines. */
function evidenceLines(terminal: Terminal, evidence: Evidence): readonly string[] {
  const { experienceIds, executionIds, ticketCount, learnedFrom = {}, agreement } = evidence
  const counts = countsText(learnedFrom)
  const seen = [
    ...(experienceIds.length > 0 ? [countText(experienceIds.length, 'experience')] : []),
    ...(executionIds.length > 0 ? [countText(executionIds.length, 'run')] : []),
    ...(ticketCount !== undefined ? [countText(ticketCount, 'ticket')] : []),
  ]
  const lines = [
    `source: ${evidence.source.replaceAll('_', ' ')}`,
    ...(seen.length > 0 ? [seen.join(', ')] : []),
    ...(counts === '' ? [] : [counts]),
    ...(agreement === null ? [] : [agreementText(agreement)]),
    ...(evidence.situation === undefined ? [] : [`situation: ${evidence.situation}`]),
    ...(evidence.feedback === undefined ? [] : [`feedback: ${evidence.feedback}`]),
    ...evidence.guards.map(guardText),
    ...toolLines(evidence),
    ...(evidence.notes ?? []),
  ]
  return lines.map((line) => `  ${terminal.wrap(line, 2)}`)
}

function guardText({ text, stepKey, runs, why }: Evidence['guards'][number]): string {
  if (why === 'runs_differ') return `${text}: only then ${stepKey}, as in ${countText(runs, 'run')}`
  const met = why === 'failures' ? `as in ${countText(runs, 'failure')}` : 'which no run has met'
  return `${text}: to a person, ${met}`
}

function toolLines({ unknownTools = [], leftOutTools = [] }: Evidence): readonly string[] {
  return [
    ...(unknownTools.length === 0
      ? []
      : [`no tools of this service, so that a person is asked: ${unknownTools.join(', ')}`]),
    ...(leftOutTools.length === 0
      ? []
      : [`left out, as nothing tells when: ${leftOutTools.join(', ')}`]),
  ]
}

function agreementText({ trainedOn, heldOut, agreed }: NonNullable<Evidence['agreement']>): string {
  return `learned from ${trainedOn} of them, it foretells ${agreed} of the ${heldOut} others`
}

/** What was counted, in words; what there is none of is left out. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${(count === 1 && singular.get(what)) || worded(what)}`)
    .join(', ')
}

const singular: ReadonlyMap<string, string> = new Map([
  ['successes', 'success'],
  ['failures', 'failure'],
  ['agents', 'agent'],
  ['runs', 'run'],
])

function worded(name: string): string {
  return name.replaceAll(/([A-Z])/g, ' $1').toLowerCase()
}
