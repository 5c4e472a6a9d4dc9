import { expect, it } from 'vitest'
import { differenceOf } from '../../conformance/same.ts'

it.each([
  [
    { a: 1, b: [1, 2] },
    { b: [1, 2], a: 1 },
  ],
  [0.1 + 0.2, 0.3],
  [
    { ids: { t: 'X1' }, x: { X1: { count: 1 } } },
    { ids: { t: '$generated' }, x: { $generated: { count: 1 } } },
  ],
])('finds %j and %j the same', (actual, expected) => {
  expect(differenceOf(actual, expected)).toBeUndefined()
})

it.each([
  [{ a: { b: 1 } }, { a: { b: 2 } }, '/a/b is 1, expected 2'],
  [[1, 2], [2, 1], '/0 is 1, expected 2'],
  [{ a: 1, c: 2 }, { a: 1 }, '/c is not expected'],
  [{ a: 1 }, { a: 1, c: 2 }, '/c is nothing, expected 2'],
  [1, '1', 'the value is 1, expected "1"'],
])('says where %j differs from %j', (actual, expected, difference) => {
  expect(differenceOf(actual, expected)).toBe(difference)
})
