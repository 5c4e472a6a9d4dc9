import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashOf } from '../../src/domain/canonical.ts'
import { cosine, cutText } from '../../src/search/embedder.ts'
import { ngramEmbedder, ngramVector } from '../../src/search/ngram-embedder.ts'

function similarity(a: string, b: string): number {
  return cosine(ngramVector(a), ngramVector(b))
}

describe('ngramVector', () => {
  it('has unit length for any text, the empty one included', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const vector = ngramVector(text)

        expect(vector).toHaveLength(512)
        expect(cosine(vector, vector)).toBeCloseTo(1, 5)
      }),
      { examples: [[''], [' \n\t'], ['?!…'], ['\u200b\u200d'], ['\ud800'], ['a'.repeat(9000)]] },
    )
  })

  it('never moves: stored vectors stay comparable', () => {
    const text = 'I was charged twice for order 1234567, can you refund me? Schön! 払い戻し 💳'

    // Rounded, so that the figure does not hang on the last bit of a square root.
    const rounded = [...ngramVector(text)].map((value) => Math.round(value * 1e5))

    expect(hashOf(rounded)).toBe('a0a4e3b9b077f93434d141e861669180126cda9c54ed4f8dc29f510572c2c58e')
  })

  it('finds a message nearer to its own playbook than to others, misspelt and inflected', () => {
    const message = 'i got chargd two times and want the second charge refundet'
    const duplicate = 'Duplicate charge. Use for: charged twice; billed two times; second charge.'
    const parcel = 'Late parcel. Use for: where is my parcel; delivery is late; not arrived yet.'

    expect(similarity(message, duplicate)).toBeGreaterThan(similarity(message, parcel) + 0.2)
  })

  it.each([
    ['case', 'Refund My Order', 'refund my order'],
    ['compatibility forms', 'ｒｅｆｕｎｄ ﬁnally', 'refund finally'],
    ['invisible characters', 're\u200bfund\u00ad my\ufeff order', 'refund my order'],
    ['accents', 'réclamation café', 'reclamation cafe'],
    ['apostrophes', "I can't pay", 'I cant pay'],
    ['which order number it is', 'cancel order 732201349959', 'cancel order 113542617735902'],
  ])('folds %s', (_, a, b) => {
    expect(similarity(a, b)).toBeCloseTo(1, 5)
  })

  it.each([
    ['Japanese', '返金してください', '返金の手続きについて', '荷物が届きません'],
    ['Russian', 'верните деньги за заказ', 'возврат денег за заказ', 'где моя посылка'],
    ['Arabic', 'أريد استرداد المبلغ', 'طلب استرداد المبلغ', 'أين الطرد'],
    ['Thai', 'ขอคืนเงิน', 'การคืนเงิน', 'พัสดุอยู่ที่ไหน'],
    ['emoji', '💳💥', '💳', '📦'],
  ])('compares texts in %s', (_, message, near, far) => {
    expect(similarity(message, near)).toBeGreaterThan(similarity(message, far) + 0.1)
  })
})

describe('ngramEmbedder', () => {
  it('gives one vector per text, in order, of the text cut at its limit', async () => {
    const long = 'refund '.repeat(2000)

    const vectors = await ngramEmbedder.embed([long, 'parcel'])

    expect(vectors).toEqual([
      ngramVector(long.slice(0, ngramEmbedder.maxCharacters)),
      ngramVector('parcel'),
    ])
  })
})

describe('cutText', () => {
  it('never splits a character', () => {
    expect(cutText('ab💳', 3)).toBe('ab')
    expect(cutText('ab💳', 4)).toBe('ab💳')
  })
})
