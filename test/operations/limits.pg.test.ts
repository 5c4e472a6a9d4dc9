import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolRefused } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const paid: number[] = []
let call = 0
const pay = defineTool({
  name: 'pay',
  description: 'Pays',
  effect: 'write',
  limits: [
    { per: 'customer', every: 'month', sum: 'amount', atMost: 40 },
    { per: 'tenant', every: 'month', sum: 'amount', atMost: 100.01 },
    { per: 'procedure', every: 'month', atMost: 1_000 },
  ],
  input: z.object({ amount: z.number().min(0) }),
  output: z.object({ paid: z.boolean() }),
  async run({ amount }) {
    call += 1
    // Every fifth gives back what it took while others wait for it.
    if (call % 5 === 0) throw new ToolRefused('not this one')
    paid.push(amount)
    return { paid: true }
  },
})
const { app, db } = await openTestApp({ tools: [pay] })
const caller = callerOf()

it('fifty runs at once never pass a limit by a cent', async () => {
  const procedureKey = 'LIMITED_PLAYBOOK'
  const definition = {
    key: procedureKey,
    name: 'Limited',
    description: 'Limited',
    issuePatterns: [],
    input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    steps: [{ key: 'pay', action: 'Pay', tool: 'pay', with: { amount: '{{input.amount}}' } }],
  }
  await operations.createProcedure.invoke(app, caller, { definition })
  const version = { procedureKey, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, version)

  const runs = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      operations.startExecution.invoke(app, caller, {
        procedureKey,
        input: { amount: 3.33 },
        customerId: `customer-${index % 4}`,
      }),
    ),
  )

  const codes = runs.map(({ execution }) => execution.reason?.code ?? execution.outcome)
  const resolved = codes.filter((code) => code === 'resolved').length
  expect(resolved).toBe(paid.length)
  expect(new Set(codes)).toEqual(new Set(['resolved', 'limit_exceeded', 'tool_failed']))
  const { rows } = await db.asApp('default', (client) =>
    client.query(
      `SELECT scope, sum(used)::text AS used, bool_and(used <= at_most) AS within
       FROM limit_counters GROUP BY scope ORDER BY scope`,
    ),
  )
  const total = (resolved * 333) / 100
  // Thirty times 3.33 fit into 100.01; whoever is refused by the tool frees its place for later ones alone.
  expect(total).toBeLessThanOrEqual(100.01)
  expect(rows.map(({ scope, within }) => [scope, within])).toEqual([
    ['customer', true],
    ['procedure', true],
    ['tenant', true],
  ])
  expect(rows.map(({ used }) => Number(used))).toEqual([total, resolved, total])
})
