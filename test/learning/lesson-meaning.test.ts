import { describe, expect, it } from 'vitest'
import { lessonThresholds, mayMeanTheSame } from '../../src/learning/lesson-meaning.ts'
import { cosine, type Embedder } from '../../src/search/embedder.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { createSentenceEmbedder } from '../../src/search/sentence-embedder.ts'
import { createSentenceModel, isSentenceModelInstalled } from '../../src/search/sentence-model.ts'
import { heldOutPairs, type LessonPair, tuningPairs } from './lesson-pairs.ts'

/** How many pairs meet that should, and which meet that should not. */
async function measure(embedder: Embedder, pairs: readonly LessonPair[]) {
  const threshold = lessonThresholds.get(embedder.model) ?? Number.POSITIVE_INFINITY
  const vectors = await embedder.embed(pairs.flatMap(({ a, b }) => [a, b]))
  const none = new Float32Array(embedder.dimensions)
  const met = pairs.filter(({ a, b }, at) => {
    const similarity = cosine(vectors[2 * at] ?? none, vectors[2 * at + 1] ?? none)
    return similarity >= threshold && mayMeanTheSame(a, b)
  })
  return {
    right: met.filter(({ difference }) => difference === 'none').length,
    of: pairs.filter(({ difference }) => difference === 'none').length,
    wrong: met.filter(({ difference }) => difference !== 'none'),
  }
}

// The figures of docs/lessons.md.
describe('merging by meaning', () => {
  it('of words alone joins no pair that differs', async () => {
    expect(await measure(ngramEmbedder, tuningPairs)).toEqual({ right: 26, of: 30, wrong: [] })
    expect(await measure(ngramEmbedder, heldOutPairs)).toEqual({ right: 22, of: 28, wrong: [] })
  })

  it.skipIf(!isSentenceModelInstalled())('of the sentence model joins none', async () => {
    await using model = createSentenceModel()
    const embedder = createSentenceEmbedder(model)

    expect(await measure(embedder, tuningPairs)).toEqual({ right: 26, of: 30, wrong: [] })
    expect(await measure(embedder, heldOutPairs)).toEqual({ right: 21, of: 28, wrong: [] })
  })
})

describe('two lines never say the same', () => {
  it.each([
    ['Avoid: refunds above 100', 'Avoid: refunds below 100'],
    ['Avoid: refunds above 100', 'Avoid: refunds above 1,000'],
    ['Worked well: refunded ١٠٠ dollars', 'Worked well: refunded ٢٠٠ dollars'],
    ["Avoid: don't refund", 'Avoid: refund'],
    ['Avoid: don’t refund', 'Avoid: refund'],
    ['Vermeiden: Erstattung prüfen', 'Vermeiden: Erstattung nicht prüfen'],
    ['Avoid: issue_refund twice', 'Avoid: issue_credit twice'],
    ['Worked well: refunds first, then checks', 'Worked well: checks first, then refunds'],
    ['避免退款', '不要避免退款'],
    ['избегать возвратов', 'избегать возвратов денег'],
    ['Avoid: the', 'Avoid: a'],
    ['', ''],
  ])('%s / %s', (a, b) => {
    expect(mayMeanTheSame(a, b)).toBe(false)
    expect(mayMeanTheSame(b, a)).toBe(false)
  })
})

it('asks both ways alike', () => {
  for (const { a, b } of [...tuningPairs, ...heldOutPairs]) {
    expect(mayMeanTheSame(a, b)).toBe(mayMeanTheSame(b, a))
  }
})
