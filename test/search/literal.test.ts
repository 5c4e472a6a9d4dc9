import { describe, expect, it } from 'vitest'
import { literalMatches, literalText } from '../../src/search/literal.ts'

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
