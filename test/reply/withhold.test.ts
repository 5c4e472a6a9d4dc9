import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withhold } from '../../src/reply/withhold.ts'

describe('withhold', () => {
  it.each([
    ['5551234567', '555) 123-4567'],
    ['5551234567', '555.123.4567'],
    ['5551234567', '555–123–4567'],
    ['5551234567', '555 / 123 / 4567'],
    ['5551234567', '５５５１２３４５６７'],
    ['5551234567', '٥٥٥١٢٣٤٥٦٧'],
    ['4111111111111111', '4111\u200b1111\u200b1111\u200b1111'],
    ['4111111111111111', '4111 1111\n1111 1111'],
    ['4111111111111111', '4lll ll11 IIII 1111'],
    ['4111-1111', '41111111'],
    ['Ann-Marie Réal', 'ANN MARIE REAL'],
    ['Ann', 'АNN'],
    ['secret!', 'S_E_C_R_E_T'],
    ['42', '42'],
    ['7', '7'],
    [42, '42'],
    [49.5, '49.5'],
  ])('hides %j where it is written as "%s"', (value, written) => {
    expect(withhold(`It is ${written}, you know`, [value])).toBe('It is [withheld], you know')
  })

  it.each([
    ['42', 'room 142, 425, A42 and x42y'],
    ['4111', 'the code 4112'],
    ['', 'nothing'],
    [' ', 'a b'],
    ['a', 'a b'],
    ['- -', 'a - - b'],
    [null, 'null'],
    [true, 'true'],
  ])('leaves what is not %j as it is: "%s"', (value, text) => {
    expect(withhold(text, [value])).toBe(text)
  })

  it('hides values that overlap or touch as one, and each time', () => {
    expect(withhold('abc-def abc, bcd.', ['abc', 'c-d', 'bcd'])).toBe(
      '[withheld]ef [withheld], [withheld].',
    )
  })

  it('leaves nothing of a value, whatever stands between its characters', () => {
    const value = fc.stringMatching(/^[A-Z2-9]{3,12}$/).filter((text) => !/[OIL]/.test(text))
    const gap = fc.string({
      unit: fc.constantFrom(' ', '-', '.', '\u200b', '(', '\u2212'),
      maxLength: 3,
    })
    fc.assert(
      fc.property(value, fc.array(gap, { minLength: 12, maxLength: 12 }), (text, gaps) => {
        const written = [...text].map((character, at) => `${character}${gaps[at]}`).join('')

        const shown = withhold(`so ${written} so`, [text])

        expect(shown).toMatch(/^so \[withheld\].* so$/su)
        expect(shown).not.toMatch(/[A-Z2-9]/)
      }),
    )
  })
})
