import { describe, expect, it } from 'vitest'
import type { Json, JsonSchema } from '../../src/domain/json.ts'
import { scalarsOf } from '../../src/domain/scalars.ts'

function sensitiveIn(value: Json, schema: JsonSchema): readonly string[] {
  return scalarsOf(value, schema)
    .filter(({ isSensitive }) => isSensitive)
    .map(({ path }) => path.join('.'))
}

describe('scalarsOf', () => {
  it('gives every scalar with its path, in the order of the value', () => {
    const found = scalarsOf({ b: [1, { c: null }], a: true }, {})

    expect(found.map(({ path, value }) => [path, value])).toEqual([
      [['b', 0], 1],
      [['b', 1, 'c'], null],
      [['a'], true],
    ])
  })

  const secret = { type: 'string', sensitive: true }
  it.each<[string, JsonSchema]>([
    ['a property', { properties: { x: secret } }],
    ['what is around it', { sensitive: true }],
    ['a reference', { properties: { x: { $ref: '#/$defs/s' } }, $defs: { s: secret } }],
    ['one side of an anyOf', { anyOf: [{ properties: { x: secret } }, { type: 'object' }] }],
    ['an else', { if: { type: 'string' }, else: { properties: { x: secret } } }],
    ['a pattern of names', { patternProperties: { '^x': secret } }],
    ['other names', { additionalProperties: secret }],
  ])('takes a value for sensitive by %s', (_, schema) => {
    expect(sensitiveIn({ x: 'v' }, schema)).toEqual(['x'])
  })

  it.each<[string, JsonSchema]>([
    ['items', { items: secret }],
    ['prefixItems', { prefixItems: [secret] }],
  ])('takes an item for sensitive by %s', (_, schema) => {
    expect(sensitiveIn(['v'], schema)).toEqual(['0'])
  })

  it('leaves what is beside a sensitive value as it is, inherited names included', () => {
    expect(sensitiveIn({ y: 1, constructor: 2 }, { properties: { x: secret } })).toEqual([])
  })

  it('tells names of the schema from names that are data', () => {
    const schema = { properties: { known: { properties: { inner: {} } } } }

    const found = scalarsOf({ known: { inner: 1, other: 2 }, data: { inner: 3 } }, schema)

    expect(found.map(({ isDeclared }) => isDeclared)).toEqual([true, false, false])
  })
})
