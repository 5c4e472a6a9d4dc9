import { describe, expect, it } from 'vitest'
import { type CalibrationSample, calibrate, measure } from '../../src/search/calibrate.ts'

function sample(isBestRight: boolean, similarity: number, lead: number): CalibrationSample {
  return { hasAnswer: isBestRight, isBestRight, similarity, lead }
}

const samples = [
  sample(true, 0.9, 0.5),
  sample(true, 0.7, 0.2),
  sample(true, 0.6, 0.05),
  sample(false, 0.6, 0.05),
  sample(false, 0.3, 0.25),
]

describe('calibrate', () => {
  it('takes the middle of the similarities with the best F1, and the smallest margin that is precise enough', () => {
    expect(calibrate([samples])).toEqual({ minSimilarity: 0.45, margin: 0.06, calibrated: true })
  })

  it('accepts a smaller margin for a lower precision, though never none', () => {
    expect(calibrate([samples], 0.7).margin).toBe(0.03)
  })

  it('weighs every group the same, however many samples it has', () => {
    const many = Array.from({ length: 1000 }, () => sample(true, 0.9, 0.5))

    expect(calibrate([samples, many], 0.9).margin).toBe(0.06)
    expect(calibrate([[...samples, ...many]], 0.9).margin).toBe(0.03)
  })

  it('leaves a model unmeasured that no margin makes precise, or that nothing was measured on', () => {
    expect(calibrate([[sample(false, 0.9, 0.9)]]).calibrated).toBe(false)
    expect(calibrate([]).calibrated).toBe(false)
  })
})

describe('measure', () => {
  it('counts ambiguous as an answer in F1, and selected alone in precision and share', () => {
    const quality = measure(samples, { minSimilarity: 0.5, margin: 0.1 })

    expect(quality.f1).toBeCloseTo(6 / 7)
    expect(quality.precision).toBe(1)
    expect(quality.selected).toBe(2 / 5)
  })
})
