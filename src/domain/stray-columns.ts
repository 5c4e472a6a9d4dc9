import type { HeaderLine, RecordLine, RowLine } from './evidence.ts'
import type { EvidenceProblem } from './evidence-acts.ts'
import { tableRows } from './record.ts'
import { findStrayColumns } from './record-fields.ts'

/**
 * What a line of evidence has that nothing proves: another reader could take it for proved. Values that are kept apart have
 * their own digests; the status of a version follows from the events, where all of them are there.
 */
export function strayColumns(
  line: RowLine | RecordLine,
  { scope }: HeaderLine,
): readonly EvidenceProblem[] {
  const found = line.kind === 'row' ? strayOfRow(line, scope) : strayOfRecord(line, scope)
  if (found.length === 0) return []
  const [table, id] =
    line.kind === 'row'
      ? [line.table, String(line.row.id ?? line.row.hash)]
      : ['executions', line.executionId]
  const problem = `It has ${found.join(', ')}, which nothing proves.`
  return [{ table, id, problem }]
}

function strayOfRow(
  { table, row, scenarios }: RowLine,
  scope: HeaderLine['scope'],
): readonly string[] {
  const isVersion = table === 'procedure_versions'
  const stray = findStrayColumns(table, row).filter(
    (column) => !(isVersion && column === 'status' && scope === 'all'),
  )
  return scenarios === undefined || isVersion ? stray : [...stray, 'scenarios']
}

function strayOfRecord(line: RecordLine, scope: HeaderLine['scope']): readonly string[] {
  const { run, reply, salt, erasedBy, path } = line
  const stray: string[] = []
  if (line.of === 'run' && reply !== undefined) stray.push('reply')
  if (line.of === 'reply' && run !== undefined) stray.push('run')
  if (salt !== undefined && erasedBy !== undefined) stray.push('erasedBy')
  if (scope === 'all' && path !== undefined) stray.push('path')
  if (run) {
    for (const [table, row] of tableRows(run)) stray.push(...findStrayColumns(table, row))
    for (const row of run.sensitive) stray.push(...findStrayColumns('sensitive_values', row))
  }
  if (reply) stray.push(...findStrayColumns('replies', reply))
  return stray
}
