import type { Change } from '../diff/change.ts'
import {
  actText,
  type ChangeGroup,
  countChanges,
  groupChanges,
  shownValue,
  wholeMembers,
} from '../diff/change-text.ts'
import type { Json } from '../domain/json.ts'
import type { Terminal, Tone } from './terminal.ts'
import { textWidth } from './text-width.ts'

const marks: Readonly<Record<Change['kind'], readonly [mark: string, tone: Tone]>> = {
  added: ['+', 'good'],
  removed: ['-', 'bad'],
  changed: ['~', 'care'],
  moved: ['>', 'care'],
  renamed: ['>', 'care'],
}

/** Values that are longer stand below each other where no terminal has a width. */
const maxInline = 100

/**
 * Changes as people read them in a terminal: by what they are part of, each with what was there and what is, all of it
 * `indent` columns from the left.
 */
export function diffScreen(terminal: Terminal, changes: readonly Change[], indent = 0): string {
  const margin = ' '.repeat(indent)
  if (changes.length === 0) return `${margin}${terminal.style('quiet', 'No changes.')}`
  return [
    ...groupChanges(changes).flatMap((group) => groupLines(terminal, group, indent)),
    `${margin}${countChanges(changes)}.`,
  ].join('\n')
}

function groupLines(
  terminal: Terminal,
  { of, name, changes }: ChangeGroup,
  indent: number,
): readonly string[] {
  const title = name === null ? of : `${of} ${terminal.style('name', name)}`
  return [
    `${' '.repeat(indent)}${terminal.wrap(title, indent + 4)}`,
    ...changes.flatMap((change) => changeLines(terminal, change, indent + 2)),
  ]
}

function changeLines(terminal: Terminal, change: Change, indent: number): readonly string[] {
  const { kind, before, after } = change
  const [mark, tone] = marks[kind]
  const text = terminal.wrap(actText(change, plain), indent + 2)
  const act = `${' '.repeat(indent)}${terminal.style(tone, mark)} ${text}`
  const valueLines = (lead: string, value: Json): string => {
    const written = terminal.wrap(`${lead}${shownValue(value)}`, indent + 6)
    return `${' '.repeat(indent + 4)}${written}`
  }
  if (kind === 'renamed') return [act]
  const members = wholeMembers(change)
  if (members !== undefined) {
    return [act, ...members.map(([name, value]) => valueLines(`${name}: `, value))]
  }
  const values = [before, after].flatMap((value) => (value === undefined ? [] : shownValue(value)))
  if (values.length === 0) return [act]
  const line = `${act}: ${values.join(' → ')}`
  const room = Number.isFinite(terminal.width) ? terminal.width : maxInline
  if (!line.includes('\n') && textWidth(line) <= room) return [line]
  return [
    `${act}:`,
    ...(before === undefined ? [] : [valueLines(terminal.style('bad', '- '), before)]),
    ...(after === undefined ? [] : [valueLines(terminal.style('good', '+ '), after)]),
  ]
}

function plain(text: string): string {
  return /^[\w.[\]]+$/.test(text) ? text : `'${text}'`
}
