import { describe, expect, it } from 'vitest'
import {
  digestsOf,
  type RecordRow,
  type RunRows,
  replyLeaf,
  runLeaf,
  tableRows,
} from '../../src/domain/record.ts'
import { coveredColumns } from '../../src/domain/record-fields.ts'
import { digestOf } from '../../src/domain/sensitive-value.ts'

const salt = 'ab'.repeat(32)
const apart = {
  salt: 'cd'.repeat(16),
  value: '"1234"',
  digest: digestOf('cd'.repeat(16), '"1234"'),
}
const run: RunRows = {
  execution: {
    id: 'exec_1',
    status: 'escalated',
    reason_code: 'tool_failed',
    input: { transactionId: 'T-1' },
    customer_id: 'C-1',
    reason: { code: 'tool_failed', message: 'The gateway was away for T-1.' },
  },
  steps: [
    { ordinal: 1, step_key: 'look', output: { amount: 49 } },
    { ordinal: 2, step_key: 'tell', error: { code: 'tool_failed' } },
  ],
  reply: { execution_id: 'exec_1', text: 'Somebody looks at it.', facts: [], verification: {} },
  escalation: { id: 'esc_1', execution_id: 'exec_1', ticket: { text: 'Help' } },
  sensitive: [{ execution_id: 'exec_1', ordinal: 1, part: 'input', pointer: '/pin', ...apart }],
}
const leaf = runLeaf(run, { salt }).hash

/** The run as erasure leaves it. */
function erased(row: RecordRow, table: Parameters<typeof coveredColumns>[0]): RecordRow {
  const personal = coveredColumns(table).flatMap(([column, kind]) =>
    kind === 'personal' && (row[column] ?? null) !== null ? [column] : [],
  )
  return { ...row, ...Object.fromEntries(personal.map((column) => [column, null])) }
}
const left: RunRows = {
  execution: { ...erased(run.execution, 'executions'), reason: { code: 'tool_failed' }, input: {} },
  steps: run.steps.map((step) => erased(step, 'step_executions')),
  reply: run.reply && { ...erased(run.reply, 'replies'), text: '', facts: [] },
  escalation: run.escalation && erased(run.escalation, 'escalations'),
  sensitive: run.sensitive.map((row) => ({ ...row, salt: '', value: '' })),
}
const digests = digestsOf(tableRows(run), salt)

describe('the record of a run', () => {
  it('is for ever', () => {
    expect(leaf).toBe('bee52d366ab8434a1c8d4076102f2102dde0bec235ca527e2c1676bf7853af35')
    expect(run.reply && replyLeaf(run.reply, { salt }).hash).toBe(
      '7d3e422a639d19e3039dfda62f81437852ff3f5cc9c65861d30afb7a2f5dd846',
    )
  })

  it('is another one with any other value, salt or order', () => {
    const others: readonly RunRows[] = [
      { ...run, execution: { ...run.execution, customer_id: 'C-2' } },
      { ...run, execution: { ...run.execution, status: 'completed' } },
      { ...run, steps: [...run.steps].reverse() },
      { ...run, steps: run.steps.slice(1) },
      { ...run, reply: null },
      { ...run, escalation: null },
      { ...run, sensitive: [] },
    ]
    for (const other of others) expect(runLeaf(other, { salt }).hash).not.toBe(leaf)
    expect(runLeaf(run, { salt: 'ac'.repeat(32) }).hash).not.toBe(leaf)
  })

  it('is the same from the digests, once salt and values are gone', () => {
    expect(runLeaf(left, { digests })).toEqual({ hash: leaf, flaws: [] })
  })

  it('says when a value stands beside its digest, or without a salt', () => {
    const kept = { ...left, execution: { ...left.execution, customer_id: 'C-9' } }

    expect(runLeaf(kept, { digests }).flaws).toEqual(['executions.customer_id'])
    expect(runLeaf({ ...run, sensitive: [] }, {}).flaws).toContain('step_executions.output')
  })

  it('proves what is kept apart by its digest, and is the same without it', () => {
    const changes = [
      { value: '"1235"' },
      { salt: 'ce'.repeat(16) },
      { salt: '', value: '' },
      // One byte went from one to the other.
      { salt: 'cd'.repeat(15), value: 'cd"1234"' },
    ]
    for (const change of changes) {
      const sensitive = run.sensitive.map((row) => ({ ...row, ...change }))
      expect(runLeaf({ ...run, sensitive }, { salt }).flaws).toEqual(['sensitive_values.value'])
    }
    const sensitive = run.sensitive.map((row) => ({ ...row, salt: null, value: null }))
    expect(runLeaf({ ...run, sensitive }, { salt })).toEqual({ hash: leaf, flaws: [] })
  })

  it('does not tell a short value by its digest', () => {
    const other = { ...run, execution: { ...run.execution, customer_id: 'C-1' } }

    expect(digestsOf(tableRows(other), 'ac'.repeat(32))).not.toEqual(digests)
    expect(JSON.stringify(digests)).not.toContain('C-1')
  })
})
