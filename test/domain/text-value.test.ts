import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { standsInText } from '../../src/domain/text-value.ts'

describe('standsInText', () => {
  it.each([
    ['TXN-1', 'It is TXN-1.'],
    ['TXN-1', '(TXN-1)'],
    ['1234', 'order:1234'],
    ['1234 5678', 'card 1234 5678, please'],
    ['ann@example.com', 'mail ann@example.com!'],
    ['5', 'I ordered 5'],
    ['café', 'at the café'],
    ['TXN-1', 'TXN-1,please'],
    ['TXN-1', 'TXN-1!!!'],
    ['TXN-1', '**TXN-1**'],
    ['TXN-1', '“TXN-1”, “TXN-2”'],
    ['TXN-1', "TXN-1's owner"],
    ['TXN-1', 'order #TXN-1'],
    ['TXN-1', 'order#TXN-1'],
    ['TXN-1', '注文「TXN-1」です。'],
    ['TXN-1', '我的订单：TXN-1。'],
  ])('finds %s in "%s"', (value, text) => {
    expect(standsInText(value, text)).toBe(true)
  })

  it.each([
    ['TXN-1', 'TXN-12'],
    ['TXN-1', 'txn-1'],
    ['TXN-1', 'XTXN-1'],
    ['TXN-1', 'A-TXN-1'],
    ['TXN-1', 'TXN\u200b-1'],
    ['TXN-1', 'TXN-1\u200d'],
    ['TXN-1', 'TXN\u20111'],
    ['1234', '1234.56'],
    ['1234', '9,1234'],
    ['1234', '12/1234'],
    ['1234', "9'1234"],
    ['1234', '12:1234'],
    ['49', '-49'],
    ['49', '\u221249'],
    ['49', '49%'],
    ['49', '49½'],
    ['49', '$49'],
    ['TXN-1', 'TXN-1@example.com'],
    ['TXN-1', 'ORDER.TXN-1'],
    ['TXN-1', 'TXN-1.X'],
    ['TXN-1', 'TXN-1..2'],
    ['TXN-1', 'TXN-1#4'],
    ['TXN-1', 'TXN-1%20'],
    ['TXN-1', '%54TXN-1'],
    ['TXN-1', 'TXN-1~1'],
    ['TXN-1', 'TXN-1+2'],
    ['TXN-1', 'TXN-1/2'],
    ['TXN-1', '/TXN-1'],
    ['TXN-1', 'TXN-1:5'],
    ['TXN-1', "TXN-1'3"],
    ['TXN-1', 'TXN-1’3'],
    ['TXN-1', 'TXN-1)2'],
    ['TXN-1', 'TXN-1&x=1'],
    ['TXN-1', 'id=TXN-1'],
    ['TXN-1', '\\uTXN-1'],
    ['TXN-1', 'TXN-1\ufe0f'],
    ['TXN-1', 'TXN-1\u3164'],
    ['TXN-1', 'TXN-1\0'],
    ['TXN-1', 'TXN-1②'],
    ['example.com', 'ann@example.com'],
    ['ann', 'ann@example.com'],
    ['cafe\u0301', 'at the café'],
    ['', 'anything'],
    [' TXN-1', 'a TXN-1'],
    ['TXN-1,', 'a TXN-1, b'],
    ['x'.repeat(201), 'x'.repeat(201)],
  ])('does not find %j in "%s"', (value, text) => {
    expect(standsInText(value, text)).toBe(false)
  })

  it('finds only what the text has, character for character', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '-', ' ', '.', '1', '\u200b') })
    fc.assert(
      fc.property(texts, texts, (value, text) => {
        if (standsInText(value, text)) expect(text).toContain(value)
      }),
      { numRuns: 1_000 },
    )
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z]{2,5}-[0-9]{1,5}$/), (value) => {
        expect(standsInText(value, `so ${value}, and more`)).toBe(true)
        expect(standsInText(value, `so ${value}0, and more`)).toBe(false)
      }),
    )
  })
})
