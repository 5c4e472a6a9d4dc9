import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findRival, standsInText } from '../../src/domain/text-value.ts'

describe('standsInText', () => {
  it.each([
    ['TXN-1', 'It is TXN-1.'],
    ['TXN-1', '(TXN-1)'],
    ['1234', 'order:1234'],
    ['1234 5678', 'card 1234 5678, please'],
    ['ann@example.com', 'mail ann@example.com!'],
    ['5', 'I ordered 5'],
    ['café', 'at the café'],
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

describe('findRival', () => {
  const any = () => true

  it.each([
    ['TXN-DUP-002', 'TXN-DUP-002 or TXN-B-7', 'TXN-B-7'],
    ['1234 5678', '1234 5678 and 8765 4321', '8765 4321'],
    ['AB12', 'AB12 or 7C8D', '7C8D'],
    ['5', '5 or 6', '6'],
    ['a@x.example', 'a@x.example, b@y.example', 'b@y.example'],
  ])('finds beside %s in "%s" the value %s', (value, text, rival) => {
    expect(findRival(value, text, any)).toBe(rival)
  })

  it.each([
    ['TXN-DUP-002', 'TXN-DUP-002, again TXN-DUP-002'],
    ['1234 5678', 'the card 1234 5678'],
    ['Anna', 'Anna and Ben'],
    ['TXN-DUP-002', 'TXN-DUP-002 for 2 of us'],
  ])('finds none beside %s in "%s"', (value, text) => {
    expect(findRival(value, text, any)).toBeUndefined()
  })

  it('takes only what is accepted for a rival', () => {
    expect(findRival('A-1234', 'A-1234 on 2026-01-01', (other) => other.startsWith('A'))).toBe(
      undefined,
    )
  })

  it('takes linear time on a long text', () => {
    const text = 'a-'.repeat(250_000) + '1a '.repeat(200_000)
    const began = performance.now()

    findRival('a-a-a-1 2', text, () => false)

    expect(performance.now() - began).toBeLessThan(2_000)
  })
})
