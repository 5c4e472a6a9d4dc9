import type { z } from 'zod'
import { speaksFor, whyNotApproving, whyNotAsked } from '../domain/asked.ts'
import { isJsonObject } from '../domain/json.ts'
import type { Principal } from '../domain/principal.ts'
import type { Caller } from '../operations/define.ts'
import type { getEscalation } from '../operations/get-escalation.ts'
import type { listEscalations } from '../operations/list-escalations.ts'
import type { listWaitingSteps } from '../operations/list-waiting-steps.ts'
import type { resolveTicket } from '../operations/resolve-ticket.ts'
import type { selectionOutput } from '../operations/search-procedures.ts'
import { tellRun } from './tell-run.ts'
import { tellWait } from './tell-wait.ts'

type Selection = z.infer<typeof selectionOutput>
type Escalation = z.infer<typeof getEscalation.output>['escalation']

/** What a search found, for a model. */
export function tellSelection(selection: Selection): string {
  const { decision, procedureKey, versionNumber } = selection
  const found = {
    selected: `${procedureKey} version ${versionNumber} fits.`,
    ambiguous: 'Several playbooks fit about as well.',
    no_match: 'No playbook fits.',
  }
  const next = {
    selected:
      'Next: resolve_ticket runs it. Its resource says what it does and which input it needs.',
    ambiguous: chooseText,
    no_match:
      'Next: resolve_ticket hands the ticket to a person. Do not solve it by means of your own.',
  }
  return [found[decision], ...candidateTexts(selection), next[decision]].join('\n\n')
}

const chooseText =
  'Next: read the candidates, choose the one that is for this ticket, and call resolve_ticket with its `procedureKey`. If none clearly is, ask a person.'

function candidateTexts({ candidates }: Selection): readonly string[] {
  if (candidates.length === 0) return []
  const lines = candidates.map(
    ({ procedureKey, versionNumber, similarity, literal }) =>
      `- ${procedureKey} version ${versionNumber}, similarity ${similarity.toFixed(2)}${literal ? ', one of its patterns stands in the text' : ''}`,
  )
  return [`Candidates:\n${lines.join('\n')}`]
}

/** What came of a ticket, for a model. */
export function tellResolution(output: z.infer<typeof resolveTicket.output>): string {
  const { execution, steps, reply, selection, triageId, triageReason } = output
  if (execution !== null) return tellRun({ execution, steps, reply })
  if (triageId === null) {
    const found = 'Several playbooks fit about as well, so nothing ran.'
    return [found, ...candidateTexts(selection), chooseText].join('\n\n')
  }
  return [
    `Nothing ran. ${triageReason?.message ?? ''} A person has the ticket now: ${triageId}.`,
    ...(reply === null ? [] : [`Reply for the customer:\n${reply.text}`]),
    'Next: send the reply. Do not solve the ticket by means of your own.',
  ].join('\n\n')
}

type Waiting = z.infer<typeof listWaitingSteps.output>

/** What waits for somebody's word, for a model. */
export function tellWaiting({ items, nextCursor }: Waiting, { principal }: Caller): string {
  if (items.length === 0) return 'No step waits.'
  const texts = items.map((item) => tellWait({ ...item, notYou: whyNot(item, principal) }))
  return [...texts, ...moreTexts(nextCursor)].join('\n\n')
}

/** As far as a list can tell; the operation knows the rest. */
function whyNot(
  { kind, asks }: Waiting['items'][number],
  principal: Principal,
): string | undefined {
  if (kind === 'tool' || !isJsonObject(asks)) return undefined
  const from = String(asks.from)
  if (kind === 'approval') {
    return whyNotApproving(from, principal, { requesters: [], others: [], exchange: [] })
  }
  return speaksFor(from, principal) ? undefined : whyNotAsked(from)
}

export function tellEscalations({
  items,
  nextCursor,
}: z.infer<typeof listEscalations.output>): string {
  if (items.length === 0) return 'There is no such escalation.'
  return [
    items.map((item) => `- ${escalationText(item)}`).join('\n'),
    ...moreTexts(nextCursor),
  ].join('\n\n')
}

export function tellEscalation({ escalation, run }: z.infer<typeof getEscalation.output>): string {
  const { resolution } = escalation
  return [
    escalationText(escalation),
    ...(resolution === null ? [] : [`Resolved by ${resolution.by}: ${resolution.text}`]),
    ...(run === null ? [] : [tellRun(run)]),
  ].join('\n\n')
}

function escalationText({
  id,
  status,
  priority,
  queue,
  reason,
  ...escalation
}: Escalation): string {
  const { executionId, assignee, openedAt, overdue } = escalation
  const who = assignee === null ? '' : ` to ${assignee}`
  const from = executionId === null ? 'a ticket that nothing runs for' : executionId
  const why = reason === null ? '' : ` ${reason.message} (${reason.code})`
  return `${id}: ${status}${who}, ${priority}, queue ${queue}, from ${from}, opened ${openedAt}${overdue ? ', overdue' : ''}.${why}`
}

function moreTexts(cursor: string | null): readonly string[] {
  return cursor === null
    ? []
    : [`There are more: call again with cursor ${JSON.stringify(cursor)}.`]
}
