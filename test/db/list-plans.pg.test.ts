import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { copyRun } from '../support/copy-runs.ts'
import { watchStatements } from '../support/statements.ts'

/** As large as makes a walk over all of it the dearer way; the planner knows what it knows of a million. */
const runCount = 6_000
const { app, db } = await openTestApp()
const ann = callerOf('ann')

beforeAll(async () => {
  await seedProcedures(app)
  const { execution } = await operations.startExecution.invoke(app, ann, {
    procedureKey: 'DUPLICATE_CHARGE_PLAYBOOK',
    input: { transactionId: 'TXN-REFUND-003' },
    ticketId: 'ticket-of-many',
    customerId: 'customer-of-many',
  })
  await db.asApp('default', (client) =>
    copyRun(client, execution.id, runCount, (text, index) =>
      text
        .replaceAll('ticket-of-many', `ticket-${index}`)
        .replaceAll('customer-of-many', `customer-${index % (runCount / 3)}`),
    ),
  )
  await db.asOwner('default', (client) => client.query('ANALYZE executions, step_executions'))
})
afterEach(() => {
  vi.restoreAllMocks()
})

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** How executions are read by the statement that an operation really sends: by which index, and how many rows of them. */
async function readingOf(ask: () => Promise<unknown>) {
  const statements = watchStatements()
  await ask()
  const sent = statements().find(({ text }) => text.includes('from "executions"'))
  vi.restoreAllMocks()
  if (sent === undefined) throw new Error('no executions were read')
  const plan = await db.asApp('default', async (client) => {
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sent.text}`, sent.values)
    const { Plan }: { Plan: PlanNode } = rows[0]['QUERY PLAN'][0]
    return Plan
  })
  const nodes = (node: PlanNode): readonly PlanNode[] => [
    node,
    ...(node.Plans ?? []).flatMap(nodes),
  ]
  const scans = nodes(plan).filter(
    (node) =>
      ['executions', undefined].includes(node['Relation Name']) &&
      node['Node Type'].includes('Scan'),
  )
  return {
    kinds: scans.map((node) => node['Node Type']),
    indexes: scans.map((node) => node['Index Name']).filter((name) => name !== undefined),
    rows: Math.max(
      ...scans.map((node) => (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)),
    ),
  }
}

it.each([
  ['ticket', { ticketId: 'ticket-17' }, 'executions_of_ticket'],
  ['customer', { customerId: 'customer-17' }, 'executions_of_customer'],
])(
  'the runs of a %s are found without the others, in a list and in an export',
  async (_what, filters, index) => {
    const list = await readingOf(() => operations.listExecutions.invoke(app, ann, filters))
    const exported = await readingOf(() =>
      operations.exportAudit.invoke(app, ann, { what: 'executions', filters }),
    )

    for (const reading of [list, exported]) {
      expect(reading.indexes).toContain(index)
      expect(reading.kinds).not.toContain('Seq Scan')
      expect(reading.rows).toBeLessThanOrEqual(3)
    }
  },
)

it('the runs that somebody has started are read from the newest on, and no more of them than a page', async () => {
  const list = await readingOf(() =>
    operations.listExecutions.invoke(app, ann, { requesterId: 'ann' }),
  )

  expect(list.indexes).toEqual(['executions_pkey'])
  expect(list.kinds).not.toContain('Seq Scan')
  expect(list.rows).toBeLessThanOrEqual(51)
})

it('those of somebody who has started none are looked for in the runs of their tenant alone', async () => {
  const list = await readingOf(() =>
    operations.listExecutions.invoke(app, ann, { requesterId: 'nobody' }),
  )

  expect(list.indexes).toEqual(['executions_pkey'])
  expect(list.kinds).not.toContain('Seq Scan')
})

it('the runs of nobody are looked for in no more than an index', async () => {
  const none = await readingOf(() =>
    operations.listExecutions.invoke(app, ann, { customerId: 'nobody' }),
  )

  expect(none.kinds).not.toContain('Seq Scan')
  expect(none.rows).toBe(0)
})
