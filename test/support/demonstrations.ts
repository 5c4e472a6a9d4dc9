import type { JsonObject } from '../../src/domain/json.ts'
import type { Contracts, Demonstration } from '../../src/learning/demonstration.ts'
import type { OutcomeType } from '../../src/learning/experience.ts'
import { deskRegistry } from './desk.ts'

/** The tools of the demo's desk by name, as an allowlist. */
export const deskContracts: Contracts = new Map(
  ['check_transaction', 'check_gateway', 'check_refund', 'issue_refund', 'notify_customer'].flatMap(
    (name) => {
      const contract = deskRegistry.find(name)?.contract
      return contract === undefined ? [] : [[name, contract] as const]
    },
  ),
)

/** What each tool answered in a run, by the tool. */
export type Answers = ReadonlyMap<string, JsonObject>

export interface DeskRun {
  readonly demonstration: Demonstration
  readonly transactionId: string
  readonly answers: Answers
}

const words = [
  'I was charged twice for',
  'My card was charged twice, order',
  'You charged twice for my order',
]

/**
 * How an agent once handled a double charge: it looks the transaction up, refunds it unless a refund is under way, and tells
 * the customer. Where the gateway does not answer, that ends badly.
 */
export function deskRun(
  number: number,
  world: {
    readonly refund?: string
    readonly gateway?: string
    readonly outcome?: OutcomeType
  } = {},
): DeskRun {
  const { refund = 'none', gateway = 'duplicate_capture', outcome = 'success' } = world
  const transactionId = `TXN-DUP-${100 + number}`
  const amountValue = 20 + number
  const amount = `${amountValue}.00 USD`
  const state = 'captured_twice'
  const issued = { issued: true, state: 'submitted', etaBusinessDays: 5 }
  const answers = new Map<string, JsonObject>([
    ['check_transaction', { state, amount, amountValue, currency: 'USD', orderCreated: true }],
    ['check_gateway', { result: gateway, reference: `gw-${number}` }],
    ['check_refund', { state: refund, etaBusinessDays: null }],
    ['issue_refund', issued],
    ['notify_customer', { notified: true, message: 'sent' }],
  ])
  const message =
    refund === 'none'
      ? `Refund of ${amount} for ${transactionId}: submitted.`
      : `Refund for ${transactionId} exists: ${refund}.`
  const tools = ['check_transaction', 'check_gateway', 'check_refund']
  const writes = refund === 'none' ? ['issue_refund', 'notify_customer'] : ['notify_customer']
  return {
    transactionId,
    answers,
    demonstration: {
      id: `exp_${String(number).padStart(3, '0')}`,
      situation: `${words[number % words.length]} ${transactionId}`,
      actions: [...tools, ...writes].map((tool) => ({
        tool,
        input: tool === 'notify_customer' ? { message } : { transactionId },
        outputSummary: summaryOf(answers.get(tool) ?? {}),
      })),
      outcome: outcome === 'success' ? 'The customer has their money' : 'Refunded twice',
      outcomeType: outcome,
      score: outcome === 'success' ? 0.9 : 0.1,
    },
  }
}

/** Twelve runs, of which two failed: the gateway was not there. */
export const twelveRuns: readonly DeskRun[] = Array.from({ length: 12 }, (_, number) =>
  number === 4 || number === 9
    ? deskRun(number, { gateway: 'unavailable', outcome: 'failure' })
    : deskRun(number, { refund: number % 3 === 1 ? 'processing' : 'none' }),
)

function summaryOf(output: JsonObject): string {
  return Object.entries(output)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
}
