import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import { findRepeatedName } from '../../src/domain/repeated-name.ts'

it.each([
  ['{"a":1,"a":2}', 'a'],
  ['{"a":1,"b":{"c":1},"a":2}', 'a'],
  ['{"a":{"b":[{"c":1,"c":2}]}}', 'c'],
  ['[{"a":1},{"b":1 , "b" :2}]', 'b'],
  ['{"issue":"x","\\u0069ssue":"y"}', 'issue'],
  ['{"":1,"":2}', ''],
  ['{"a\\"":1,"a\\"":2}', 'a"'],
])('finds the name that stands twice in %s', (text, name) => {
  expect(findRepeatedName(text)).toBe(name)
})

it.each([
  '{"a":{"a":{"a":"a"}}}',
  '[{"a":1},{"a":2}]',
  '{"a":["a","a"],"b":"a"}',
  '{"a":"\\",\\"a\\":1"}',
  '{"a":"{","b":"}"}',
  '"a"',
  '{}',
])('finds none in %s', (text) => {
  expect(findRepeatedName(text)).toBeUndefined()
})

test('no text that a writer makes of a value has one, and each has one with a member put in twice', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
      fc.nat(),
      (value, at) => {
        const names = Object.keys(value)
        const name = names[at % names.length] ?? ''
        const text = JSON.stringify(value)

        expect(findRepeatedName(text)).toBeUndefined()
        expect(findRepeatedName(`${text.slice(0, -1)},${JSON.stringify(name)}:0}`)).toBe(name)
      },
    ),
  )
})
