import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/domain/json.ts'
import { claimsOf, saysNo } from '../../src/reply/claims.ts'
import { findLaterWrites, type ToolCall } from '../../src/reply/tool-call.ts'

function call(tool: string, input: Json, output: Json, more: Partial<ToolCall> = {}): ToolCall {
  return { tool, effect: 'write', input, output, result: 'done', ...more }
}

function supports(claim: string, ...calls: readonly ToolCall[]): boolean {
  return claimsOf([{ name: 'act', claims: [claim] }], calls).every(({ isSupported }) => isSupported)
}

const issued = 'a refund was issued'

describe('claimsOf', () => {
  it('says a claim as the contract does, and to the customer', () => {
    const claims = claimsOf(
      [{ name: 'act', claims: ['a refund was issued', 'the customer was notified'] }],
      [],
    )

    expect(claims.map(({ sentence }) => sentence)).toEqual([
      'A refund was issued.',
      'You were notified.',
    ])
  })

  it.each([[{ issued: true }], [{ refundIssued: true, state: 'submitted', error: null }]])(
    'is borne out by an output that says so: %j',
    (output) => {
      expect(supports(issued, call('act', { id: 1 }, output))).toBe(true)
    },
  )

  it.each([
    [null],
    [{}],
    [{ reference: 'RF-1' }],
    [{ issued: false }],
    [{ issued: 'yes' }],
    [{ notIssued: true }],
    [{ issueRequested: true }],
    [{ refund: true }],
    [{ success: false, error: 'declined by bank' }],
    [{ result: { issued: false }, issued: true }],
    [{ result: { issued: true } }],
    [{ issued: true, issueSucceeded: false }],
    [{ issued: true, error: 'declined by bank' }],
    [{ issued: true, state: 'failed' }],
    [{ issued: true, refundState: 'none' }],
    [{ issued: true, outcome: 'DECLINED_BY_BANK' }],
  ])('is not borne out by %j', (output) => {
    expect(supports(issued, call('act', { id: 1 }, output))).toBe(false)
  })

  it('may be of an act that undoes another', () => {
    const output = { cancelled: true, state: 'cancelled' }

    expect(supports('a refund was cancelled', call('act', { id: 1 }, output))).toBe(true)
    expect(saysNo(output)).toBe(true)
  })

  it('is never borne out when it says no act', () => {
    expect(supports('refunded', call('act', { id: 1 }, { refunded: true }))).toBe(false)
  })

  it('needs every call of the tool', () => {
    const good = call('act', { n: 1 }, { issued: true })

    expect(supports(issued)).toBe(false)
    expect(supports(issued, good, good)).toBe(true)
    for (const result of ['unknown', 'not_done'] as const) {
      expect(supports(issued, good, call('act', { n: 2 }, null, { result }))).toBe(false)
      expect(supports(issued, call('act', { n: 2 }, { issued: true }, { result }), good)).toBe(
        false,
      )
    }
  })

  it.each([
    ['of the same thing', call('cancel', { refundOf: 'T-1' }, null)],
    ['that may have happened', call('cancel', { id: 'T-1' }, null, { result: 'unknown' })],
    ['of a thing that it answered', call('cancel', { refund: 'R-1' }, null)],
    ['of nobody knows what', call('cancel', {}, null)],
  ])('does not hold after a write %s', (_, later) => {
    const first = call('act', { id: 'T-1' }, { issued: true, refund: 'R-1' })

    expect(supports(issued, first, later)).toBe(false)
    expect(supports(issued, later, first)).toBe(true)
  })

  it.each([
    ['a write of something else', call('tell', { message: 'About T-1.' }, { told: true })],
    [
      'a write that certainly did nothing',
      call('cancel', { id: 'T-1' }, null, { result: 'not_done' }),
    ],
    ['a read', call('check', { id: 'T-1' }, null, { effect: 'read' })],
  ])('holds after %s', (_, later) => {
    expect(supports(issued, call('act', { id: 'T-1' }, { issued: true }), later)).toBe(true)
  })
})

describe('findLaterWrites', () => {
  it('follows the values from call to call', () => {
    const account = call('get_account', { customer: 'C-1' }, { account: 'A-1' }, { effect: 'read' })
    const balance = call('get_balance', { account: 'A-1' }, { balance: 900 }, { effect: 'read' })
    const other = call('get_balance', { account: 'A-2' }, { balance: 5 }, { effect: 'read' })
    const withdraw = call('withdraw', { customer: 'C-1' }, null)
    const laterWrites = findLaterWrites([account, balance, other, withdraw])

    expect(laterWrites(balance)).toEqual([withdraw])
    expect(laterWrites(other)).toEqual([])
    expect(laterWrites(withdraw)).toEqual([])
  })

  it('takes a read without a value to be about anything', () => {
    const read = call('get_balance', {}, { balance: 900 }, { effect: 'read' })
    const withdraw = call('withdraw', { amount: 1 }, null)

    expect(findLaterWrites([read, withdraw])(read)).toEqual([withdraw])
  })
})
