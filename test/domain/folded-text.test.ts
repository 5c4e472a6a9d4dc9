import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldText, lettersOf } from '../../src/domain/folded-text.ts'

describe('foldText', () => {
  it.each([
    ['case', 'txn-Dup-002', 'TXN-DUP-002'],
    ['dashes and minus signs', 'A\u2010B\u2011C\u2013D\u2014E\u2212F_G', 'A-B-C-D-E-F-G'],
    ['full width', 'ＴＸＮ－００２', 'TXN-002'],
    ['Cyrillic and Greek', 'ТХN-ΑВС', 'TXN-ABC'],
    ['digits of other scripts', '٠١٢ ०९ ②', '012 09 2'],
    ['accents', 'é e\u0301', 'E E'],
    ['what is invisible', 'T\u200bX\u00adN\ufe0f\u3164\u0000\ufeff', 'TXN'],
    ['white space', 'a\t\n\u00a0\u2800b', 'A   \u0020B'],
    ['fractions', '1½', '11/2'],
  ])('folds %s', (_, text, folded) => {
    expect(foldText(text).text).toBe(folded)
  })

  it('knows for each part where it came from', () => {
    const text = 'é\u200bb ½ ﬁx 𝟙2'
    const folded = foldText(text)
    const sourceOf = (part: string) => {
      const start = folded.text.indexOf(part)
      return text.slice(...folded.sourceOf(start, start + part.length))
    }

    expect(['EB', '1/2', 'FIX', '12'].map(sourceOf)).toEqual(['é\u200bb', '½', 'ﬁx', '𝟙2'])
  })

  it('changes nothing a second time, and never leaves the source', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const folded = foldText(text)
        const [start, end] = folded.sourceOf(0, folded.text.length)

        expect(foldText(folded.text).text).toBe(folded.text)
        expect(start >= 0 && end <= text.length).toBe(true)
      }),
    )
  })
})

describe('lettersOf', () => {
  it('leaves letters and digits, and a blank or nothing between them', () => {
    const text = '(4111) – 1111 / ab'
    const whole = foldText(text)
    const apart = lettersOf(whole, ' ')

    expect([apart.text, lettersOf(whole, '').text]).toEqual(['4111 1111 AB', '41111111AB'])
    expect(text.slice(...apart.sourceOf(0, 9))).toBe('4111) – 1111')
  })
})
