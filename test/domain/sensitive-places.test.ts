import { describe, expect, it } from 'vitest'
import type { Json, JsonSchema } from '../../src/domain/json.ts'
import { marksSensitive, sensitivePlaces } from '../../src/domain/sensitive-places.ts'

const secret = { type: 'string', sensitive: true }
const schema: JsonSchema = {
  $defs: { card: { type: 'object', properties: { number: secret, bank: {} } } },
  type: 'object',
  properties: {
    plain: { type: 'string' },
    pin: secret,
    owner: { type: 'object', sensitive: true, properties: { name: {} } },
    cards: { type: 'array', items: { $ref: '#/$defs/card' } },
    either: { anyOf: [{ type: 'number' }, secret] },
  },
}

describe('sensitivePlaces', () => {
  it.each<[Json, readonly unknown[]]>([
    [{ plain: 'a', pin: 'b' }, [['pin']]],
    [{ owner: { name: 'Ann', other: 1 } }, [['owner']]],
    [
      { cards: [{ number: '1', bank: 'x' }, { bank: 'y' }, { number: '2' }] },
      [
        ['cards', 0, 'number'],
        ['cards', 2, 'number'],
      ],
    ],
    [{ either: 'x' }, [['either']]],
    [{ pin: null, owner: null }, []],
    ['no object', []],
  ])('of %j are the outermost', (value, places) => {
    expect(sensitivePlaces(value, schema)).toEqual(places)
  })
})

describe('marksSensitive', () => {
  it.each<[readonly (string | number)[], boolean]>([
    [[], true],
    [['plain'], false],
    [['pin'], true],
    [['owner', 'name'], true],
    [['cards'], true],
    [['cards', 0], true],
    [['cards', 7, 'number'], true],
    [['cards', 0, 'bank'], false],
    [['other'], false],
  ])('says of %j whether anything there, around it or in it is', (path, isSensitive) => {
    expect(marksSensitive(schema, path)).toBe(isSensitive)
  })
})
