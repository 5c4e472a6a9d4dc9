import type { z } from 'zod'
import { cancelSchedule } from '../operations/cancel-schedule.ts'
import { listSchedules } from '../operations/list-schedules.ts'
import { type Command, nextPageLine, operationCommand, pageInput, pageOptions } from './command.ts'
import { table } from './table.ts'
import { instantText } from './value-line.ts'

type Schedule = z.infer<typeof cancelSchedule.output>

const list = operationCommand({
  path: 'procedures schedules',
  operation: listSchedules,
  arguments: [{ usage: '[KEY]', text: 'only those of this procedure' }],
  options: [{ usage: '--open', text: 'only those that are still to come' }, ...pageOptions],
  input: (given) => ({
    ...pageInput(given),
    procedureKey: given.find('KEY'),
    status: given.has('open') ? 'open' : undefined,
  }),
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['SCHEDULE', 'AT', 'VERSION', 'BY', 'STATUS', 'WHAT CAME OF IT'],
      items.map((item) => [
        item.scheduleId,
        instantText(item.at) ?? '',
        `${item.procedureKey} v${item.versionNumber}`,
        item.scheduledBy,
        item.status,
        outcomeText(item),
      ]),
      'No activation is scheduled.',
    ) + nextPageLine(terminal, nextCursor),
})

const cancel = operationCommand({
  path: 'procedures unschedule',
  operation: cancelSchedule,
  arguments: [{ usage: '<ID>', text: 'the id of a schedule, sch_…' }],
  input: (given) => ({ scheduleId: given.text('ID') }),
  screen: ({ procedureKey, versionNumber, at }) =>
    `Version ${versionNumber} of ${procedureKey} does not go live at ${instantText(at)}.`,
})

export const scheduleCommands: readonly Command[] = [list, cancel]

function outcomeText({ status, problem, cancelledBy, endedAt }: Schedule): string {
  const at = instantText(endedAt) ?? ''
  switch (status) {
    case 'open':
      return '–'
    case 'activated':
      return `it went live at ${at}`
    case 'refused':
      return `${problem?.code ?? ''} at ${at}: ${problem?.message ?? ''}`
    case 'cancelled':
      return `by ${cancelledBy ?? 'nobody'} at ${at}`
    default:
      return status satisfies never
  }
}
