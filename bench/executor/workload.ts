import type { JsonObject } from '../../src/domain/json.ts'

/** Tool calls in one execution. */
export const stepCount = 6

/** What a measured side does over and over: one execution, durable when the promise resolves. */
export interface Engine {
  readonly name: string
  readonly runOne: (index: number) => Promise<void>
}

/** The input of one execution, about 70 bytes of JSON. */
export function inputOf(index: number): JsonObject {
  return { customerId: `customer-${index % 1_000}`, ticket: index, topic: 'account standing' }
}

/** What every step calls: asynchronous and otherwise free, with an answer of about 150 bytes of JSON. */
export async function lookUpAccount(part: number, customerId: string) {
  await null
  return {
    part,
    customerId,
    found: true,
    standing: 'good',
    note: 'no open dispute, identity was verified at the last visit',
    source: 'ledger-2',
  }
}
