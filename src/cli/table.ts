import type { Terminal } from './terminal.ts'
import { cutToWidth, textWidth } from './text-width.ts'

const gap = '  '
const narrowest = 8

/** A last column narrower than this is hard to read, and stands below its row instead. */
const readable = 30

/**
 * Rows as columns under their headings, or `empty` when there are none. In a terminal that is too narrow the last column
 * is laid out in lines, or below its row where little room is left; what is still too wide is cut, the last columns before
 * the others. A pipe gets everything in one line.
 */
export function table(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
): string {
  if (rows.length === 0) return terminal.style('quiet', empty)
  const widths = headings.map((heading, column) =>
    Math.max(textWidth(heading), ...rows.map((row) => textWidth(oneLine(row[column] ?? '')))),
  )
  const last = headings.length - 1
  const before = widths.slice(0, last)
  const indent = before.reduce((sum, width) => sum + width + gap.length, 0)
  const wanted = widths[last] ?? 0
  if (indent + wanted > terminal.width && wanted > readable) {
    return terminal.width - indent >= readable
      ? rowsOf(terminal, headings, rows, [...before, Number.POSITIVE_INFINITY], indent)
      : rowsWithRest(terminal, headings, rows, before)
  }
  narrow(widths, terminal.width - gap.length * last)
  return rowsOf(terminal, headings, rows, widths, 0)
}

/** The rows, the last cell of each laid out in lines from `indent` on where its width is not bound. */
function rowsOf(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  widths: readonly number[],
  indent: number,
): string {
  const cellText = (cell: string, column: number) => {
    const width = widths[column] ?? 0
    if (!Number.isFinite(width)) return terminal.wrap(oneLine(cell), indent)
    return pad(cutToWidth(oneLine(cell), width), width)
  }
  const line = (cells: readonly string[]) => cells.map(cellText).join(gap).trimEnd()
  return [terminal.style('quiet', line(headings)), ...rows.map(line)].join('\n')
}

/** Each row with what its last column says in lines of its own below it. */
function rowsWithRest(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  widths: readonly number[],
): string {
  const last = widths.length
  const narrowed = [...widths]
  narrow(narrowed, terminal.width - gap.length * (last - 1))
  const below = (text: string) => `${gap}${gap}${terminal.wrap(oneLine(text), 2 * gap.length)}`
  const lines = (cells: readonly string[]) => {
    const rest = cells[last] ?? ''
    const row = cells
      .slice(0, last)
      .map((cell, column) =>
        pad(cutToWidth(oneLine(cell), narrowed[column] ?? 0), narrowed[column]),
      )
      .join(gap)
      .trimEnd()
    return rest === '' || rest === '–' ? [row] : [row, below(rest)]
  }
  const head = lines(headings).map((text) => terminal.style('quiet', text))
  return [...head, ...rows.flatMap(lines)].join('\n')
}

/** Names and values below each other, the values beginning in one column. Pairs without a value are left out. */
export function fields(
  terminal: Terminal,
  pairs: readonly (readonly [name: string, value: string | null | undefined])[],
): string {
  const shown = pairs.flatMap(([name, value]) => (value == null ? [] : [{ name, value }]))
  const width = Math.max(...shown.map(({ name }) => textWidth(name)))
  return shown
    .map(({ name, value }) => {
      const label = terminal.style('quiet', pad(name, width))
      return `${label}${gap}${terminal.wrap(value, width + gap.length)}`
    })
    .join('\n')
}

/** The text with spaces behind it, to a width in columns. */
export function pad(text: string, width = 0): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)))
}

/** Takes from the last column first, and never from the first: what it names must be whole to be of use. */
function narrow(widths: number[], room: number): void {
  let over = widths.reduce((sum, width) => sum + width, 0) - room
  for (let column = widths.length - 1; column > 0 && over > 0; column -= 1) {
    const width = widths[column] ?? 0
    const cut = Math.min(over, Math.max(0, width - narrowest))
    widths[column] = width - cut
    over -= cut
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
