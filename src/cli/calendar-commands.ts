import { getCalendar } from '../operations/get-calendar.ts'
import { setCalendar } from '../operations/set-calendar.ts'
import { type Command, operationCommand } from './command.ts'
import { readDocumentFile } from './read-text.ts'
import { fields } from './table.ts'
import type { Terminal } from './terminal.ts'

type Calendar = Awaited<ReturnType<typeof getCalendar.invoke>>['calendar']

const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const show = operationCommand({
  path: 'calendar show',
  operation: getCalendar,
  input: () => ({}),
  screen: ({ calendar, isDefault }, terminal) =>
    calendarScreen(terminal, calendar, isDefault ? ' (nobody has set them)' : ''),
})

const set: Command = {
  path: 'calendar set',
  summary: setCalendar.summary,
  arguments: [{ usage: '<FILE>', text: 'a file in YAML or JSON, or - for standard input' }],
  notes: `The file has all of it; dates are in UTC:

  weekdays: [1, 2, 3, 4, 5]        # 1 is Monday, 7 is Sunday
  holidays: [2026-12-25, 2027-01-01]

A run keeps the working days that it was started with.`,
  async run(shell, given) {
    const { value } = await readDocumentFile(shell, given.text('FILE'))
    const output = await shell.call(setCalendar, { calendar: value })
    return { output, screen: calendarScreen(shell.terminal, output.calendar, '') }
  },
}

export const calendarCommands: readonly Command[] = [show, set]

function calendarScreen(
  terminal: Terminal,
  { weekdays, holidays }: Calendar,
  note: string,
): string {
  return fields(terminal, [
    ['Working days', weekdays.map((day) => days[day - 1]).join(', ') + note],
    ['Holidays', holidays.join(', ') || 'none'],
  ])
}
