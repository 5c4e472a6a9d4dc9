import { z } from 'zod'
import type { DeskStore } from '../src/db/queries/desk.ts'
import { defineTool } from '../src/domain/define-tool.ts'
import { type Tool, ToolRefused } from '../src/domain/tool.ts'

const transactionStates = ['failed', 'captured', 'captured_twice', 'refunded', 'unknown'] as const
const gatewayResults = ['captured', 'duplicate_capture', 'timeout', 'unavailable'] as const
const refundStates = [
  'none',
  'submitted',
  'processing',
  'refunded',
  'auto_refund_triggered',
  'failed',
  'cancelled',
] as const

interface DeskTransaction {
  readonly state: (typeof transactionStates)[number]
  readonly amountValue: number
  readonly currency: string
  readonly orderCreated: boolean
  readonly gateway: {
    readonly result: (typeof gatewayResults)[number]
    readonly reference: string | null
  }
  readonly refund: {
    readonly state: (typeof refundStates)[number]
    readonly etaBusinessDays: number | null
  }
}

/** The five transactions of the demo. What the desk does about them is kept in its tables. */
const transactions: ReadonlyMap<string, DeskTransaction> = new Map(
  Object.entries({
    'TXN-DEMO-001': {
      state: 'failed',
      amountValue: 49,
      currency: 'USD',
      orderCreated: false,
      gateway: { result: 'timeout', reference: 'gw-demo-1' },
      refund: { state: 'auto_refund_triggered', etaBusinessDays: 5 },
    },
    'TXN-DUP-002': {
      state: 'captured_twice',
      amountValue: 29,
      currency: 'USD',
      orderCreated: true,
      gateway: { result: 'duplicate_capture', reference: 'gw-demo-2' },
      refund: { state: 'none', etaBusinessDays: null },
    },
    'TXN-REFUND-003': {
      state: 'refunded',
      amountValue: 79,
      currency: 'USD',
      orderCreated: true,
      gateway: { result: 'captured', reference: 'gw-demo-3' },
      refund: { state: 'processing', etaBusinessDays: 2 },
    },
    'TXN-INCONSISTENT-004': {
      state: 'unknown',
      amountValue: 19,
      currency: 'USD',
      orderCreated: false,
      gateway: { result: 'unavailable', reference: null },
      refund: { state: 'none', etaBusinessDays: null },
    },
    'TXN-GATEWAY-005': {
      state: 'captured',
      amountValue: 59,
      currency: 'USD',
      orderCreated: true,
      gateway: { result: 'unavailable', reference: null },
      refund: { state: 'none', etaBusinessDays: null },
    },
  } satisfies Record<string, DeskTransaction>),
)

const transactionInput = z.object({ transactionId: z.string().describe('Such as TXN-DEMO-001') })

/** The tools of the demo's payment desk. */
export function createDeskTools(store: DeskStore): readonly Tool[] {
  async function refundOf(
    tenantId: string,
    transactionId: string,
  ): Promise<{
    readonly state: (typeof refundStates)[number]
    readonly etaBusinessDays: number | null
  }> {
    const transaction = requireTransaction(transactionId)
    const recorded = await store.findRefund(tenantId, transactionId)
    if (recorded === undefined) return transaction.refund
    const state = refundStates.find((known) => known === recorded.state)
    if (state === undefined)
      throw new Error(`the refund has a state '${recorded.state}' that nobody knows`)
    return { state, etaBusinessDays: recorded.etaBusinessDays }
  }

  return [
    defineTool({
      name: 'check_transaction',
      description: 'Looks up the state and the amount of a transaction.',
      effect: 'read',
      input: transactionInput,
      output: z.object({
        state: z.enum(transactionStates),
        amount: z.string(),
        amountValue: z.number(),
        currency: z.string(),
        orderCreated: z.boolean(),
      }),
      states: transactionStates,
      async run({ transactionId }) {
        const { state, amountValue, currency, orderCreated } = requireTransaction(transactionId)
        return {
          state,
          amount: `${amountValue.toFixed(2)} ${currency}`,
          amountValue,
          currency,
          orderCreated,
        }
      },
    }),
    defineTool({
      name: 'check_gateway',
      description: 'Asks the payment gateway what it knows of a transaction.',
      effect: 'read',
      input: transactionInput,
      output: z.object({ result: z.enum(gatewayResults), reference: z.string().nullable() }),
      states: gatewayResults,
      async run({ transactionId }) {
        return requireTransaction(transactionId).gateway
      },
    }),
    defineTool({
      name: 'check_refund',
      description: 'Tells whether a refund of a transaction exists, and when it arrives.',
      effect: 'read',
      input: transactionInput,
      output: z.object({
        state: z.enum(refundStates),
        etaBusinessDays: z.number().int().nullable(),
      }),
      states: refundStates,
      async run({ transactionId }, { tenantId }) {
        return refundOf(tenantId, transactionId)
      },
    }),
    defineTool({
      name: 'issue_refund',
      description: 'Refunds a transaction, unless a refund of it exists.',
      effect: 'write',
      idempotent: true,
      requires: ['check_refund'],
      input: transactionInput,
      output: z.object({
        issued: z.boolean(),
        state: z.enum(refundStates),
        etaBusinessDays: z.number().int().nullable(),
        reason: z.string().nullable(),
      }),
      states: refundStates,
      claims: ['a refund was issued'],
      async run({ transactionId }, { tenantId, idempotencyKey }) {
        const { amountValue, currency, refund } = requireTransaction(transactionId)
        if (stands(refund.state)) {
          return { issued: false, ...refund, reason: `a refund exists: ${refund.state}` }
        }
        const standing = await store.recordRefund(tenantId, {
          transactionId,
          amount: amountValue,
          currency,
          idempotencyKey,
        })
        const { state, etaBusinessDays } = await refundOf(tenantId, transactionId)
        // A repeat of this very call finds its own refund, and answers as it did then.
        return standing.idempotencyKey === idempotencyKey
          ? { issued: true, state, etaBusinessDays, reason: null }
          : { issued: false, state, etaBusinessDays, reason: `a refund exists: ${state}` }
      },
    }),
    defineTool({
      name: 'notify_customer',
      description: 'Sends a message to the customer.',
      effect: 'write',
      idempotent: true,
      input: z.object({ message: z.string() }),
      output: z.object({ notified: z.boolean(), message: z.string() }),
      claims: ['the customer was notified'],
      async run({ message }, { tenantId, idempotencyKey }) {
        if (message.trim() === '') throw new ToolRefused('the message is empty')
        await store.recordMessage(tenantId, message, idempotencyKey)
        return { notified: true, message }
      },
    }),
  ]
}

function stands(state: (typeof refundStates)[number]): boolean {
  return state !== 'none' && state !== 'failed' && state !== 'cancelled'
}

function requireTransaction(transactionId: string): DeskTransaction {
  const transaction = transactions.get(transactionId)
  if (transaction === undefined) throw new ToolRefused('transaction not found')
  return transaction
}
