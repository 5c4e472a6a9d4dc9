import type { JsonObject } from '../domain/json.ts'
import { exportAudit } from '../operations/export-audit.ts'
import type { Command, Given } from './command.ts'
import { csvCells, csvLine } from './csv.ts'
import { exitCodes, usageError } from './failures.ts'
import type { Shell } from './shell.ts'
import { countText } from './value-line.ts'
import { writeFileWhole } from './write-file.ts'

const whats = ['events', 'executions', 'steps', 'evidence']

export const exportCommand: Command = {
  path: 'audit export',
  summary: exportAudit.summary,
  options: [
    { usage: '--what <WHAT>', text: `${whats.join(', ')} (default executions)` },
    { usage: '--format <FORMAT>', text: 'jsonl, a line of JSON each, or csv (default jsonl)' },
    { usage: '-o, --output <FILE>', text: 'where to write it (default: standard output)' },
    { usage: '--from <TIME>', text: 'at or after, of runs: started; as 2026-11-30T12:00:00Z' },
    { usage: '--to <TIME>', text: 'before' },
    { usage: '--procedure <KEY>', text: 'only of this procedure' },
    { usage: '--version <NUMBER>', text: 'only runs of this version' },
    { usage: '--status <STATUS>', text: 'only runs in this state' },
    { usage: '--reason <CODE>', text: 'only runs that ended for this reason' },
    { usage: '--tool <NAME>', text: 'only runs that have called this tool; of steps, those' },
    { usage: '--principal <ID>', text: 'only what this principal has done or requested' },
    { usage: '--customer <ID>', text: 'only runs for this customer' },
    { usage: '--ticket <ID>', text: 'only runs of this ticket' },
  ],
  notes: `It is written to the audit log. Lists and objects are JSON in CSV, and a text that a spreadsheet would take for a
formula begins with an apostrophe there. 'evidence' is what 'audit verify --from' takes: all of it, without filters.`,
  async run(shell, given) {
    const what = given.find('what') ?? 'executions'
    const format = given.find('format') ?? 'jsonl'
    if (format !== 'jsonl' && format !== 'csv') {
      throw usageError(`--format must be jsonl or csv, found '${format}'.`, 'Choose one of them.')
    }
    if (format === 'csv' && what === 'evidence') {
      throw usageError('Evidence is no table.', 'Leave --format out.')
    }
    const count = { rows: 0 }
    const texts = exportTexts(shell, given, { what, format, count })
    const file = given.find('output')
    // Looked at between pages, so that an interruption leaves no file.
    void shell.untilInterrupted()
    if (file === undefined) {
      for await (const text of texts) if (!(await shell.terminal.printStream(text))) break
    } else {
      await writeFileWhole(file, texts, { isStopped: () => shell.isInterrupted })
    }
    const end = shell.isInterrupted ? { exitCode: exitCodes.interrupted[0] } : {}
    if (file === undefined) return { output: undefined, screen: '', isShown: true, ...end }
    const screen = shell.isInterrupted
      ? 'Nothing was written.'
      : `${countText(count.rows, 'row')} in ${file}.`
    return { output: { what, format, rows: count.rows, file }, screen, ...end }
  },
}

/** The export page by page: a page is all that is held at a time. */
async function* exportTexts(
  shell: Shell,
  given: Given,
  {
    what,
    format,
    count,
  }: { readonly what: string; readonly format: 'jsonl' | 'csv'; readonly count: { rows: number } },
): AsyncGenerator<string> {
  const input = { what, filters: filtersOf(given) }
  let columns: readonly string[] | undefined
  let cursor: string | undefined
  do {
    const { rows, nextCursor } = await shell.call(exportAudit, { ...input, cursor })
    count.rows += rows.length
    if (format === 'csv' && columns === undefined) {
      columns = Object.keys(rows[0] ?? {})
      if (columns.length > 0) yield csvLine(columns)
    }
    yield rows.map((row) => rowText(row, columns)).join('')
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined && !shell.isInterrupted)
}

function rowText(row: JsonObject, columns: readonly string[] | undefined): string {
  return columns === undefined ? `${JSON.stringify(row)}\n` : csvLine(csvCells(row, columns))
}

function filtersOf(given: Given) {
  return {
    from: given.find('from'),
    to: given.find('to'),
    procedureKey: given.find('procedure'),
    versionNumber: given.number('version'),
    status: given.find('status'),
    reasonCode: given.find('reason'),
    tool: given.find('tool'),
    principal: given.find('principal'),
    customerId: given.find('customer'),
    ticketId: given.find('ticket'),
  }
}
