import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isId, newId, parseId } from '../../src/domain/ids.ts'

const instant = fc.integer({ min: 0, max: 32 ** 9 - 1 })

describe('ids', () => {
  it('say their kind and sort by the time at which they were made', () => {
    fc.assert(
      fc.property(instant, instant, (a, b) => {
        const [first, second] = [newId('execution', a), newId('execution', b)]

        expect(isId('execution', first)).toBe(true)
        expect(isId('version', first)).toBe(false)
        if (a < b) expect(first < second).toBe(true)
      }),
    )
  })

  it('are never the same, also within a millisecond', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId('escalation', 1))).size).toBe(10_000)
  })

  it('are refused with the kind that was expected', () => {
    expect(() => parseId('execution', 'ver_0123456789abcdefghjkm')).toThrow(
      /'exec_' and 21 characters/,
    )
    expect(() => parseId('execution', "exec_' OR 1=1 --")).toThrow(/is no execution id/)
  })
})
