import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  defaultMinSimilarity,
  isDecided,
  rankExperiences,
} from '../../src/learning/experience-rank.ts'
import { heuristicScore } from '../../src/learning/experience-score.ts'

const found = (id: string, similarity: number, score: number) => ({ id, similarity, score })

describe('ranking', () => {
  it('ranks all above the least similarity, and then cuts', () => {
    const ranked = rankExperiences(
      [found('a', 0.99, 0.1), found('b', 0.95, 0.2), found('c', 0.8, 1), found('d', 0.7, 1)],
      { minSimilarity: 0.72, topK: 1 },
    )

    expect(ranked).toEqual([{ id: 'c', similarity: 0.8, score: 1, relevance: 0.8 }])
  })

  it('breaks ties by id', () => {
    const ranked = rankExperiences(
      [found('b', 0.8, 0.5), found('c', 0.5, 0.8), found('a', 0.8, 0.5)],
      {
        minSimilarity: 0,
        topK: 5,
      },
    )

    expect(ranked.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })

  it('takes .72 for text-embedding-3-small and what nobody has measured', () => {
    expect(defaultMinSimilarity('text-embedding-3-small')).toBe(0.72)
    expect(defaultMinSimilarity('text-embedding-3-small', 0.5)).toBe(0.72)
    expect(defaultMinSimilarity('another')).toBe(0.72)
  })

  it('takes what was measured on situations, and else what was measured for search', () => {
    expect(defaultMinSimilarity('ngram-512-v1', 0.32)).toBe(0.43)
    expect(defaultMinSimilarity('another', 0.44)).toBe(0.44)
  })

  it('is decided by the nearest exactly when all of them say the same', () => {
    const hundredths = fc.integer({ min: 0, max: 100 }).map((n) => n / 100)
    const experience = fc.record({ similarity: hundredths, score: hundredths })
    fc.assert(
      fc.property(
        fc.array(experience, { maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        hundredths,
        fc.integer({ min: 1, max: 5 }),
        (given, batch, minSimilarity, topK) => {
          const all = given
            .map((one, index) => ({ ...one, id: `exp_${String(99 - index)}` }))
            .sort((a, b) => b.similarity - a.similarity)
          const asked = { minSimilarity, topK }
          for (let size = batch; size < all.length; size += batch) {
            const nearest = all.slice(0, size)
            const ranked = rankExperiences(nearest, asked)
            if (isDecided(ranked, nearest.at(-1)?.similarity ?? 0, asked)) {
              expect(ranked).toEqual(rankExperiences(all, asked))
            }
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('waits for more while an equal could still come before by its id', () => {
    const ranked = rankExperiences([found('b', 0.8, 1)], { minSimilarity: 0, topK: 1 })

    expect(isDecided(ranked, 0.8, { minSimilarity: 0, topK: 1 })).toBe(false)
    expect(isDecided(ranked, 0.79, { minSimilarity: 0, topK: 1 })).toBe(true)
    expect(isDecided(ranked, 0.79, { minSimilarity: 0, topK: 1, slack: 0.02 })).toBe(false)
  })
})

describe('the rule for a score', () => {
  const action = (tool: string, input = 1) => ({ tool, input })

  it.each([
    ['success', [action('a'), action('b')], 0, 1],
    ['success', [action('a'), action('a', 2)], 0, 1],
    ['success', [action('a'), action('a')], 0, 0.9],
    ['success', [action('a'), action('a')], 2, 0.7],
    ['success', Array.from({ length: 1_000 }, () => action('a')), 0, 0.5],
    ['partial_success', [action('a')], 0, 0.5],
    ['partial_success', [action('a')], 90, 0.25],
    ['failure', [action('a')], 0, 0],
  ] as const)('a %s of %j with %i failed attempts is worth %d', (type, actions, failed, score) => {
    expect(heuristicScore(type, actions, failed)).toBe(score)
  })
})
