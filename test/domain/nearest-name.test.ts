import { expect, test } from 'vitest'
import { didYouMean, nearestName } from '../../src/domain/nearest-name.ts'

const known = ['timeout', 'retry', 'expect', 'onError', 'with', 'when']

test.each([
  ['timeot', 'timeout'],
  ['tiemout', 'timeout'],
  ['onerror', 'onError'],
  ['on_error', 'onError'],
  ['rtery', 'retry'],
  ['WITH', 'with'],
  ['wehn', 'when'],
])('%s may have meant %s', (name, meant) => {
  expect(nearestName(name, known)).toBe(meant)
  expect(didYouMean(name, known)).toBe(` Did you mean '${meant}'?`)
})

test.each(['x', '', 'colour', 'w', 'a'.repeat(100_000)])('%.20s is near to nothing', (name) => {
  expect(nearestName(name, known)).toBeUndefined()
  expect(didYouMean(name, known)).toBe('')
})
