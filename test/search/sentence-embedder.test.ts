import { describe, expect, it } from 'vitest'
import { cosine } from '../../src/search/embedder.ts'
import { ngramVector } from '../../src/search/ngram-embedder.ts'
import { createSentenceEmbedder } from '../../src/search/sentence-embedder.ts'
import {
  createSentenceModel,
  isSentenceModelInstalled,
  type SentenceModel,
} from '../../src/search/sentence-model.ts'

/** Every sentence means the same; remembers what it was given. */
function sameMeaning(): SentenceModel & { readonly given: string[] } {
  const given: string[] = []
  return {
    given,
    async embed(texts) {
      given.push(...texts)
      return texts.map(() =>
        Float32Array.from({ length: 512 }, (_, place) => (place === 0 ? 2 : 0)),
      )
    },
    async [Symbol.asyncDispose]() {},
  }
}

function lengthOf(vector: Float32Array | undefined): number {
  return Math.hypot(...(vector ?? []))
}

describe('the sentence embedder', () => {
  it('makes the cosine of two texts the mean of the cosines of meaning and of words', async () => {
    const [a, b] = await createSentenceEmbedder(sameMeaning()).embed(['late parcel', 'late refund'])
    const words = cosine(ngramVector('late parcel'), ngramVector('late refund'))

    expect(cosine(a ?? ngramVector(''), b ?? ngramVector(''))).toBeCloseTo((1 + words) / 2)
  })

  it('compares texts of other scripts by their words alone', async () => {
    const model = sameMeaning()
    const [japanese, same, english] = await createSentenceEmbedder(model).embed([
      '返金してください',
      '返金してください',
      'refund',
    ])

    expect(model.given).toEqual(['refund'])
    expect(cosine(japanese ?? ngramVector(''), same ?? ngramVector(''))).toBeCloseTo(1)
    expect(cosine(japanese ?? ngramVector(''), english ?? ngramVector(''))).toBeLessThan(0.2)
  })

  it.each([
    ['empty', ''],
    ['white space', ' \n\t '],
    ['emoji only', '😡😡🔥'],
    ['invisible characters', '\u200b\u2060\ufeff'],
    ['digits', '12345'],
    ['half a character', '\ud83d'],
  ])('never gives the model a text that is %s, and has a vector for it', async (_, text) => {
    const model = sameMeaning()
    const [vector] = await createSentenceEmbedder(model).embed([text])

    expect(model.given).toEqual([])
    expect(lengthOf(vector)).toBeCloseTo(1)
  })

  it('gives the model lower case, of at most 1,000 characters', async () => {
    const model = sameMeaning()
    const [vector] = await createSentenceEmbedder(model).embed([
      `  REFUND ${'x'.repeat(1_000_000)}`,
    ])

    expect(model.given).toEqual([`refund ${'x'.repeat(993)}`])
    expect(lengthOf(vector)).toBeCloseTo(1)
  })
})

describe.skipIf(!isSentenceModelInstalled())('the model of the package', () => {
  it('knows that other words mean the same', async () => {
    await using model = createSentenceModel()
    const embedder = createSentenceEmbedder(model)
    const [asked, meant, other] = await embedder.embed([
      'When will my package arrive?',
      'Parcel delivery date',
      'Reset a forgotten password',
    ])
    const [a, b, c] = [asked, meant, other].map((vector) => vector ?? ngramVector(''))
    if (a === undefined || b === undefined || c === undefined) throw new TypeError('three texts')

    expect(cosine(a, b)).toBeGreaterThan(cosine(a, c) + 0.1)
  }, 40_000)
})
