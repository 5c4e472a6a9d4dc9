import { z } from 'zod'
import { type AppContext, createContext } from '../../src/context.ts'
import { openDatabase } from '../../src/db/connect.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { Caller } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { fillHistory } from '../executor/history.ts'
import type { FigureContext } from './figure.ts'

/** Who measures. */
export const caller: Caller = {
  principal: { id: 'bench', kind: 'human', roles: ['admin'], groups: [], tenantId: 'default' },
  origin: 'library',
}

const order = z.object({ orderId: z.string() })
const readOrder = defineTool({
  name: 'read_order',
  description: 'Reads an order.',
  effect: 'read',
  input: order,
  output: z.object({ amount: z.number(), state: z.enum(['paid', 'open']), note: z.string() }),
  run: async () => ({ amount: 50, state: 'paid' as const, note: 'Paid by card, delivered.' }),
})
const readRefund = defineTool({
  name: 'read_refund',
  description: 'Reads whether an order was refunded.',
  effect: 'read',
  input: order,
  output: z.object({ state: z.enum(['none', 'submitted']) }),
  run: async () => ({ state: 'none' as const }),
})
const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  effect: 'write',
  idempotent: true,
  requires: ['read_refund'],
  input: order.extend({ amount: z.number() }),
  output: z.object({ refunded: z.boolean() }),
  run: async () => ({ refunded: true }),
})

export const refundKey = 'REFUND_PLAYBOOK'

/** A playbook of six steps, three of which call a tool, with a limit to be changed. */
export function refundPlaybook(limit: number) {
  return {
    key: refundKey,
    name: 'Refund',
    description: 'Refunds an order within the limit.',
    issuePatterns: [],
    input: { type: 'object', required: ['orderId'], properties: { orderId: { type: 'string' } } },
    policy: { limit },
    preconditions: [{ text: 'There is an order', when: 'has(input.orderId)' }],
    steps: [
      {
        key: 'order',
        action: 'Read the order',
        tool: 'read_order',
        with: { orderId: '{{input.orderId}}' },
      },
      {
        key: 'existing',
        action: 'Look for a refund',
        tool: 'read_refund',
        with: { orderId: '{{input.orderId}}' },
      },
      {
        key: 'eligible',
        action: 'Apply the policy',
        require: [
          { text: 'It is paid', when: "steps.order.output.state == 'paid'" },
          { text: 'It is within the limit', when: 'steps.order.output.amount <= policy.limit' },
        ],
        otherwise: 'declined',
      },
      {
        key: 'by_state',
        action: 'Refund, unless one exists',
        choose: [
          {
            text: 'No refund yet',
            when: "steps.existing.output.state == 'none'",
            steps: [
              {
                key: 'refund',
                action: 'Refund',
                tool: 'refund',
                with: { orderId: '{{input.orderId}}', amount: '{{steps.order.output.amount}}' },
              },
            ],
          },
        ],
        otherwise: 'continue',
      },
      { key: 'total', action: 'Add up', compute: { amount: 'steps.order.output.amount + 1' } },
    ],
    completionConditions: [{ text: 'The order is known', when: 'has(steps.order.output.amount)' }],
    escalationRules: [{ text: 'It is too much', when: 'steps.order.output.amount > 10000' }],
  }
}

/** The service on a database with so many finished refunds of 1 to 100 each, a second apart. */
export async function openWithRefunds(
  { database: { url, admin }, progress }: FigureContext,
  count: number,
): Promise<AppContext> {
  const database = await openDatabase({ url })
  const config = { tenantId: 'default', logLevel: 'silent' } as const
  const tools = [readOrder, readRefund, refund]
  const app = await createContext(database, config, { tools, embedder: ngramEmbedder })
  const definition = refundPlaybook(100)
  await operations.createProcedure.invoke(app, caller, { definition })
  await operations.activateVersion.invoke(app, caller, {
    procedureKey: refundKey,
    versionNumber: 1,
    seenActive: null,
  })
  await operations.startExecution.invoke(app, caller, {
    procedureKey: refundKey,
    input: { orderId: 'ORD-1' },
  })
  const query = async (text: string, values: readonly unknown[]) =>
    (await admin.query(text, [...values])).rows
  await fillHistory({ query }, count, new AbortController().signal, progress)
  await admin.query('SET session_replication_role = replica')
  for (const statement of spread) await admin.query(statement)
  await admin.query('SET session_replication_role = DEFAULT')
  await admin.query('VACUUM ANALYZE executions, step_executions')
  return {
    ...app,
    async [Symbol.asyncDispose]() {
      await using _database = database
      await app[Symbol.asyncDispose]()
    },
  }
}

const amount = `(1 + abs(hashtext(execution_id)) % 100)`
/** Another amount in each copy, wherever it stands. */
const spread = [
  `UPDATE step_executions SET output = jsonb_set(output, '{amount}', to_jsonb(${amount})) WHERE step_key = 'order'`,
  `UPDATE step_executions SET input = jsonb_set(input, '{amount}', to_jsonb(${amount})) WHERE step_key = 'refund'`,
  `UPDATE step_executions SET output = jsonb_set(output, '{amount}', to_jsonb(${amount} + 1)) WHERE step_key = 'total'`,
  `UPDATE executions SET result = jsonb_set(result, '{amount}', to_jsonb(2 + abs(hashtext(id)) % 100))`,
]
