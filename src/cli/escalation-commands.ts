import type { z } from 'zod'
import { assignEscalation } from '../operations/assign-escalation.ts'
import type { escalationOutput } from '../operations/escalation-output.ts'
import { getEscalation } from '../operations/get-escalation.ts'
import { listEscalations } from '../operations/list-escalations.ts'
import { resolveEscalation } from '../operations/resolve-escalation.ts'
import { type Command, nextPageLine, operationCommand, pageInput, pageOptions } from './command.ts'
import { dueText, overdueOption } from './due-text.ts'
import { erasedValue } from './origin-screen.ts'
import { timelineScreen } from './run-screen.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { cutToWidth } from './text-width.ts'
import { instantText } from './value-line.ts'

const escalationId = { usage: '<ID>', text: 'the id of an escalation, esc_…' }

/** As much of a ticket as tells it from the others. */
const maxTicketWidth = 200

const list = operationCommand({
  path: 'escalations list',
  operation: listEscalations,
  options: [
    { usage: '--status <STATUS>', text: 'only open, assigned or resolved' },
    { usage: '--queue <NAME>', text: 'only those of this queue' },
    { usage: '--execution <ID>', text: 'only the one that this run has led to' },
    overdueOption,
    ...pageOptions,
  ],
  input: (given) => ({
    ...pageInput(given),
    status: given.find('status'),
    executionId: given.find('execution'),
    queue: given.find('queue'),
    overdue: given.has('overdue'),
  }),
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['ESCALATION', 'STATUS', 'REASON', 'QUEUE', 'DUE', 'TICKET'],
      items.map((item) => [
        item.id,
        item.assignee === null ? item.status : `${item.status} (${item.assignee})`,
        item.reason?.code ?? '',
        item.queue,
        dueText(item),
        // A pipe would get all of a message; `show` has it whole.
        cutToWidth(
          item.ticket?.text ?? (item.erasedAt === null ? '–' : erasedValue),
          maxTicketWidth,
        ),
      ]),
      'No escalations.',
    ) + nextPageLine(terminal, nextCursor),
})

const show = operationCommand({
  path: 'escalations show',
  operation: getEscalation,
  arguments: [escalationId],
  input: (given) => ({ escalationId: given.text('ID') }),
  screen: ({ escalation, run }, terminal) =>
    [
      escalationScreen(terminal, escalation),
      ...(run === null
        ? ['Nothing ran for this ticket; the reason says why.']
        : [terminal.style('heading', 'What was done'), timelineScreen(terminal, run)]),
    ].join('\n\n'),
})

const assign = operationCommand({
  path: 'escalations assign',
  operation: assignEscalation,
  arguments: [escalationId, { usage: '<ASSIGNEE>', text: 'who takes it' }],
  input: (given) => ({ escalationId: given.text('ID'), assignee: given.text('ASSIGNEE') }),
  screen: ({ id, assignee }) => `${id} is assigned to ${assignee}.`,
})

const resolve = operationCommand({
  path: 'escalations resolve',
  operation: resolveEscalation,
  arguments: [escalationId, { usage: '<TEXT...>', text: 'what was done' }],
  input: (given) => ({ escalationId: given.text('ID'), resolution: given.text('TEXT') }),
  screen: ({ id }) => `${id} is resolved.`,
})

export const escalationCommands: readonly Command[] = [list, show, assign, resolve]

function escalationScreen(
  terminal: Terminal,
  escalation: z.infer<typeof escalationOutput>,
): string {
  const { resolution, reason } = escalation
  return [
    `${terminal.style('heading', escalation.id)}  ${escalation.status}`,
    fields(terminal, [
      ['Ticket', escalation.ticket?.text],
      ['Reason', reason === null ? null : `${reason.message} (${reason.code})`],
      ['Queue', `${escalation.queue}, priority ${escalation.priority}`],
      ['Assignee', escalation.assignee],
      ['Due', dueText(escalation) || null],
      ['Opened', instantText(escalation.openedAt)],
      ['Assigned', instantText(escalation.assignedAt)],
      ['Resolved', instantText(escalation.resolvedAt)],
      ['Resolution', resolution === null ? null : `${resolution.text} (${resolution.by})`],
      ['Erased', instantText(escalation.erasedAt)],
    ]),
  ].join('\n')
}
