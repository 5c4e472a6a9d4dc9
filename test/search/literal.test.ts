import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  literalMatches,
  literalPatterns,
  literalTails,
  literalText,
} from '../../src/search/literal.ts'

describe('literalMatches', () => {
  it('finds patterns that stand in the issue, ignoring case', () => {
    const text = literalText('My card was CHARGED TWICE yesterday')

    expect(literalMatches(['charged twice', 'late parcel'], text)).toEqual(['charged twice'])
  })

  it('finds patterns in the string values of the context, however deep, and not in its keys', () => {
    const text = literalText('It fails', {
      error: { code: 'GATEWAY_TIMEOUT', list: ['declined', 7, null, true] },
      refunded: 'no',
    })

    expect(literalMatches(['gateway_timeout', 'Declined', 'refunded'], text)).toEqual([
      'gateway_timeout',
      'Declined',
    ])
  })

  it('leaves out patterns of fewer than four characters, white space around them not counted', () => {
    const text = literalText('fee, fees 払い戻し')

    expect(literalMatches(['fee', ' fee ', '   fees', '払い戻', '払い戻し'], text)).toEqual([
      '   fees',
      '払い戻し',
    ])
  })

  it('never finds a pattern across two values', () => {
    const text = literalText('charged', ['twice'])

    expect(literalMatches(['charged twice', 'chargedtwice'], text)).toEqual([])
  })

  it('matches composed and decomposed letters', () => {
    expect(literalMatches(['Café zu'], literalText('das Cafe\u0301 zu'))).toEqual(['Café zu'])
  })

  it('survives a context nested far deeper than the call stack', () => {
    const context = JSON.parse(`${'['.repeat(50_000)}"charged twice"${']'.repeat(50_000)}`)

    expect(literalMatches(['charged twice'], literalText('', context))).toHaveLength(1)
  })
})

describe('literalTails', () => {
  it('has the end of every pattern that stands in the text, so that none is missed', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme' }),
        (before, pattern, after) => {
          const text = literalText(`${before}${pattern}${after}`)
          for (const wanted of literalPatterns([pattern])) {
            if (text.includes(wanted.pattern)) expect(literalTails(text)).toContain(wanted.tail)
          }
        },
      ),
    )
  })

  it('has each once, of eight and of four characters', () => {
    expect(literalTails('abcab')).toEqual(['abca', 'bcab'])
    expect([...literalTails('aaaaaaaaa')]).toEqual([8, 4].map((n) => 'a'.repeat(n)))
    expect(literalTails('abc')).toEqual([])
    expect(literalTails('😡😡😡😡')).toEqual(['😡😡😡😡'])
  })

  it('stays small for a ticket of a megabyte', () => {
    const text = literalText('I was charged twice. '.repeat(50_000))

    expect(text.length).toBeLessThanOrEqual(20_000)
    expect(literalTails(text).length).toBeLessThan(200)
  })
})

describe('literalText', () => {
  it('holds nothing that a database refuses', () => {
    expect(literalText('a\0b\ud800')).toBe('a b\ufffd')
  })
})
