import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { type Thresholds, unmeasured } from '../../src/search/embedder.ts'
import { type Candidate, candidatesToFetch, rankCandidates } from '../../src/search/rank.ts'

const thresholds: Thresholds = { minSimilarity: 0.4, margin: 0.1, calibrated: true }

function candidate(
  procedureKey: string,
  similarity: number,
  more: Partial<Pick<Candidate, 'literal' | 'trackRecord'>> = {},
): Candidate {
  return {
    procedureKey,
    versionId: newId('version', 0),
    versionNumber: 1,
    similarity,
    literal: false,
    trackRecord: { runs: 0, successes: 0 },
    ...more,
  }
}

function keys(ranking: { readonly candidates: readonly Candidate[] }): readonly string[] {
  return ranking.candidates.map(({ procedureKey }) => procedureKey)
}

describe('rankCandidates', () => {
  it('selects the best when it reaches the threshold and leads by the margin', () => {
    const ranking = rankCandidates([candidate('A', 0.82), candidate('B', 0.72)], thresholds)

    expect(ranking).toMatchObject({ decision: 'selected', selected: { procedureKey: 'A' } })
  })

  it('selects at exactly the threshold, and alone without any lead', () => {
    const ranking = rankCandidates([candidate('A', 0.4)], thresholds)

    expect(ranking).toMatchObject({ decision: 'selected', lead: null })
  })

  it('is ambiguous when the lead is smaller than the margin', () => {
    const ranking = rankCandidates([candidate('A', 0.82), candidate('B', 0.73)], thresholds)

    expect(ranking.decision).toBe('ambiguous')
    expect(ranking).not.toHaveProperty('selected')
  })

  it('counts a second procedure below the threshold, and beyond topK, for the margin', () => {
    const ranking = rankCandidates([candidate('A', 0.41), candidate('B', 0.39)], thresholds, {
      topK: 1,
    })

    expect(ranking.decision).toBe('ambiguous')
    expect(keys(ranking)).toEqual(['A'])
    expect(candidatesToFetch(1)).toBe(2)
  })

  it('finds no match below the threshold, and shows what was nearest', () => {
    const ranking = rankCandidates([candidate('A', 0.39), candidate('B', 0.1)], thresholds)

    expect(ranking.decision).toBe('no_match')
    expect(ranking.candidates[0]).toMatchObject({ procedureKey: 'A', qualified: false })
  })

  it('finds no match among no candidates', () => {
    expect(rankCandidates([], unmeasured)).toMatchObject({ decision: 'no_match', candidates: [] })
  })

  it('lets a request raise the threshold, never lower it', () => {
    const found = [candidate('A', 0.6)]

    expect(rankCandidates(found, thresholds, { minSimilarity: 0.7 }).decision).toBe('no_match')
    expect(rankCandidates([candidate('A', 0.3)], thresholds, { minSimilarity: 0.1 }).decision).toBe(
      'no_match',
    )
  })

  it('orders those within the margin by success rate × min(runs / 10, 1), all others by similarity', () => {
    const ranking = rankCandidates(
      [
        candidate('BEST', 0.8, { trackRecord: { runs: 10, successes: 2 } }),
        candidate('FEW_RUNS', 0.79, { trackRecord: { runs: 1, successes: 1 } }),
        candidate('PROVEN', 0.75, { trackRecord: { runs: 40, successes: 36 } }),
        candidate('FAR', 0.5, { trackRecord: { runs: 100, successes: 100 } }),
        candidate('NEAR_FAR', 0.6),
      ],
      thresholds,
      { topK: 5 },
    )

    expect(keys(ranking)).toEqual(['PROVEN', 'BEST', 'FEW_RUNS', 'NEAR_FAR', 'FAR'])
    expect(ranking.candidates.map((entry) => entry.trackScore)).toEqual([0.9, 0.2, 0.1, 0, 1])
  })

  it('lists a literal match first among the dissimilar, and never selects it', () => {
    const ranking = rankCandidates(
      [candidate('A', 0.3), candidate('B', 0.2), candidate('LITERAL', 0.05, { literal: true })],
      thresholds,
      { topK: 1 },
    )

    expect(ranking.decision).toBe('ambiguous')
    expect(ranking.candidates).toMatchObject([
      { procedureKey: 'LITERAL', literal: true, qualified: false },
    ])
  })

  it('selects by similarity although another procedure matches literally', () => {
    const ranking = rankCandidates(
      [candidate('A', 0.8), candidate('LITERAL', 0.05, { literal: true })],
      thresholds,
    )

    expect(ranking).toMatchObject({ decision: 'selected', selected: { procedureKey: 'A' } })
    expect(keys(ranking)).toEqual(['A', 'LITERAL'])
  })

  it('selects nothing by a model that was never measured', () => {
    const ranking = rankCandidates([candidate('A', 0.99)], unmeasured)

    expect(ranking.decision).toBe('ambiguous')
    expect(ranking.candidates[0]?.qualified).toBe(false)
  })

  it('is ambiguous between equals even with no margin', () => {
    const even = { ...thresholds, margin: 0 }

    expect(rankCandidates([candidate('A', 0.8), candidate('B', 0.8)], even).decision).toBe(
      'ambiguous',
    )
  })
})

const candidates = fc
  .uniqueArray(fc.stringMatching(/^[A-Z]{1,3}$/), { maxLength: 12 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc
          .record({
            similarity: fc.integer({ min: -10, max: 100 }).map((value) => value / 100),
            literal: fc.boolean(),
            runs: fc.nat(30),
            failed: fc.nat(30),
          })
          .map(({ similarity, literal, runs, failed }) =>
            candidate(name, similarity, {
              literal,
              trackRecord: { runs, successes: Math.max(runs - failed, 0) },
            }),
          ),
      ),
    ),
  )
const someThresholds = fc.record({
  minSimilarity: fc.integer({ min: 0, max: 100 }).map((value) => value / 100),
  margin: fc.integer({ min: 0, max: 30 }).map((value) => value / 100),
  calibrated: fc.boolean(),
})
const request = fc.record({
  topK: fc.integer({ min: 1, max: 20 }),
  minSimilarity: fc.integer({ min: 0, max: 100 }).map((value) => value / 100),
})

describe('rankCandidates, for any candidates', () => {
  it('selects only the best, of a measured model, at the threshold, ahead by the margin', () => {
    fc.assert(
      fc.property(candidates, someThresholds, request, (found, model, asked) => {
        const ranking = rankCandidates(found, model, asked)
        if (ranking.decision !== 'selected') return

        const { selected } = ranking
        expect(model.calibrated).toBe(true)
        expect(selected.similarity).toBeGreaterThanOrEqual(model.minSimilarity)
        expect(selected.similarity).toBeGreaterThanOrEqual(asked.minSimilarity)
        for (const other of found) {
          if (other.procedureKey === selected.procedureKey) continue
          const lead = selected.similarity - other.similarity
          expect(lead).toBeGreaterThan(0)
          expect(lead).toBeGreaterThanOrEqual(model.margin - 1e-9)
        }
        expect(ranking.candidates[0]).toEqual(selected)
      }),
    )
  })

  it('decides and orders the same whatever order they come in', () => {
    fc.assert(
      fc.property(candidates, someThresholds, request, (found, model, asked) => {
        expect(rankCandidates([...found].reverse(), model, asked)).toEqual(
          rankCandidates(found, model, asked),
        )
      }),
    )
  })

  it('decides the same for every topK, and answers the same list cut shorter', () => {
    fc.assert(
      fc.property(candidates, someThresholds, request, (found, model, asked) => {
        const cut = rankCandidates(found, model, asked)
        const whole = rankCandidates(found, model, { ...asked, topK: 20 })

        expect(cut.decision).toBe(whole.decision)
        expect(cut.candidates).toEqual(whole.candidates.slice(0, asked.topK))
      }),
    )
  })

  it('never finds no match while one is literal or near enough', () => {
    fc.assert(
      fc.property(candidates, someThresholds, request, (found, model, asked) => {
        const threshold = Math.max(model.minSimilarity, asked.minSimilarity)
        const isListed = found.some(({ literal, similarity }) => literal || similarity >= threshold)

        expect(rankCandidates(found, model, asked).decision === 'no_match').toBe(!isListed)
      }),
    )
  })
})
