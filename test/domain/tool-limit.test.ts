import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { contractHash } from '../../src/domain/tool.ts'
import { limitMessage, type ToolLimit, usesOf, windowStart } from '../../src/domain/tool-limit.ts'

function toolWith(limits: readonly ToolLimit[]) {
  return defineTool({
    name: 'refund',
    description: 'Refunds',
    effect: 'write',
    limits,
    input: z.object({
      amount: z.number().min(0),
      tip: z.number().min(0).optional(),
      change: z.number(),
      note: z.string(),
      payment: z.object({ amount: z.number().positive() }),
    }),
    output: z.object({ done: z.boolean() }),
    run: async () => ({ done: true }),
  })
}

function problemsOf(limits: readonly unknown[]): unknown {
  try {
    toolWith(limits as readonly ToolLimit[])
  } catch (error) {
    return Object(error).details.problems
  }
  return []
}

describe('the limits of a tool', () => {
  it('are part of its contract, in an order of their own', () => {
    const perDay = { per: 'customer', every: 'day', sum: 'amount', atMost: 500 } as const
    const perHour = { per: 'tenant', every: 'hour', atMost: 10 } as const

    const one = toolWith([perDay, perHour]).contract
    const other = toolWith([perHour, { atMost: 500, sum: 'amount', every: 'day', per: 'customer' }])

    expect(one.limits).toEqual([perDay, perHour])
    expect(contractHash(other.contract)).toBe(contractHash(one))
    expect(contractHash(toolWith([perDay]).contract)).not.toBe(contractHash(one))
  })

  it.each([
    [{ per: 'shop', every: 'day', atMost: 1 }, 'limits[0].per', 'found "shop"'],
    [{ per: 'tenant', every: '1d', atMost: 1 }, 'limits[0].every', 'found "1d"'],
    [{ per: 'tenant', every: 'day', atMost: -1 }, 'limits[0].atMost', 'from 0 on'],
    [{ per: 'tenant', every: 'day', atMost: Number.NaN }, 'limits[0].atMost', 'from 0 on'],
    [{ per: 'tenant', every: 'day', atMost: 1.5 }, 'limits[0].atMost', 'a whole number'],
    [{ per: 'tenant', every: 'day', sum: 'cost', atMost: 1 }, 'limits[0].sum', 'does not have'],
    [{ per: 'tenant', every: 'day', sum: 'tip', atMost: 1 }, 'limits[0].sum', 'leave out'],
    [{ per: 'tenant', every: 'day', sum: 'note', atMost: 1 }, 'limits[0].sum', 'is no number'],
    [{ per: 'tenant', every: 'day', sum: 'change', atMost: 1 }, 'limits[0].sum', 'below zero'],
    [{ per: 'tenant', every: 'day', max: 1, atMost: 1 }, 'limits[0].max', 'no field of a limit'],
  ])('refuses %j', (limit, path, message) => {
    expect(problemsOf([limit])).toEqual([{ path, message: expect.stringContaining(message) }])
  })

  it('refuses two that count the same', () => {
    const limit = { per: 'tenant', every: 'day', atMost: 3 }

    expect(problemsOf([limit, { ...limit, atMost: 4 }])).toMatchObject([{ path: 'limits[1]' }])
  })

  it('takes a number that lies deeper in the input', () => {
    const { contract } = toolWith([
      { per: 'tenant', every: 'day', sum: 'payment.amount', atMost: 9 },
    ])

    const subjects = { customer: 'c', procedure: 'P' }
    expect(usesOf(contract, { payment: { amount: 2.5 } }, subjects, 0)).toMatchObject([
      { measure: 'sum:payment.amount', subject: '', amount: 2.5 },
    ])
  })
})

describe('a window', () => {
  const at = Date.UTC(2026, 10, 29, 23, 59, 59, 999)

  it.each([
    ['hour', '2026-11-29T23:00:00.000Z'],
    ['day', '2026-11-29T00:00:00.000Z'],
    ['week', '2026-11-23T00:00:00.000Z'],
    ['month', '2026-11-01T00:00:00.000Z'],
  ] as const)('of a %s begins in UTC', (every, expected) => {
    expect(new Date(windowStart(every, at)).toISOString()).toBe(expected)
    // The last millisecond belongs to it, the next one to the window after.
    const next = windowStart(every, at + 1)
    expect(next > windowStart(every, at)).toBe(every !== 'month')
    expect(windowStart(every, next)).toBe(next)
  })
})

it('a reached limit says what was used, of what, and since when', () => {
  const [use] = usesOf(
    { name: 'refund', limits: [{ per: 'customer', every: 'day', sum: 'amount', atMost: 500 }] },
    { amount: 80.5 },
    { customer: 'c-1', procedure: 'P' },
    Date.UTC(2026, 10, 30, 9),
  )

  expect(use && limitMessage({ use, used: '430.01' })).toBe(
    "'refund' may have 500 of amount in all per customer and day: 430.01 are used for customer c-1 since " +
      '2026-11-30 UTC, and this call needs 80.5 more.',
  )
})
