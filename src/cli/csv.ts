import type { Json, JsonObject } from '../domain/json.ts'

/** A line of CSV after RFC 4180, ended by CR LF. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`
}

/** The cells of a row in the order of `columns`; lists and objects as JSON. */
export function csvCells(row: JsonObject, columns: readonly string[]): readonly string[] {
  return columns.map((column) => cellOf(row[column] ?? null))
}

/** What a spreadsheet takes for the beginning of a formula. */
const formula = /^[=+\-@\t\r]/

function cellOf(value: Json): string {
  if (value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // A text of a customer must not run in the spreadsheet of whoever opens the file; the mark makes it text there.
  return formula.test(text) ? `'${text}` : text
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
