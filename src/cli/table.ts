import type { Terminal } from './terminal.ts'
import { cutToWidth, textWidth } from './text-width.ts'

const gap = '  '
const narrowest = 8

/**
 * Rows as columns under their headings, or `empty` when there are none. In a terminal that is too narrow the last
 * columns are cut; a pipe gets everything.
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
  narrow(widths, terminal.width - gap.length * (headings.length - 1))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => pad(cutToWidth(oneLine(cell), widths[column] ?? 0), widths[column]))
      .join(gap)
      .trimEnd()
  return [terminal.style('quiet', line(headings)), ...rows.map(line)].join('\n')
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
