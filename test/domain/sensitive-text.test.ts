import { describe, expect, it } from 'vitest'
import type { Json, JsonSchema } from '../../src/domain/json.ts'
import { sensitiveInText } from '../../src/domain/sensitive-text.ts'

const card = { type: 'string', pattern: '^[0-9]{16}$', sensitive: true }

function find(property: { readonly [name: string]: Json }, text: string): readonly string[] {
  return sensitiveInText({ type: 'object', properties: { value: property } }, text)
}

describe('sensitiveInText', () => {
  it.each([
    ['4111111111111111'],
    ['4111 1111 1111 1111'],
    ['4111.1111.1111.1111'],
    ['4111–1111–1111–1111'],
    ['4111\u200b1111\u200b1111\u200b1111'],
    ['４１１１１１１１１１１１１１１１'],
    ['4111 / 1111 / 1111 / 1111'],
    ['4lll1111IIII1111'],
  ])('finds a card number that is written %j', (written) => {
    expect(find(card, `card:${written}, and more`)).toEqual([written])
  })

  it('finds all of several, whether one is taken or may be taken at all', () => {
    const text = 'cards 4111111111111111 and 5555 5555 5555 4444'

    expect(find({ ...card, source: 'caller' }, text)).toEqual([
      '4111111111111111',
      '5555 5555 5555 4444',
    ])
  })

  it.each([
    ['^[0-9]{3}-[0-9]{2}-[0-9]{4}$', 'ssn 123 45 6789', '123 45 6789'],
    ['^[0-9]{4}$', 'my pin is 1234.', '1234'],
    ['^[A-Z]{2}[0-9]{6}$', 'passportAB 123456', 'passportAB 123456'],
    ['^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$', 'mail ANN@Example.com, please', 'ANN@Example.com'],
    ['^[0-9a-f]{8}-[0-9a-f]{4}$', 'key deadbeef-12AB now', 'deadbeef-12AB'],
    ['^[A-Za-z0-9]{8,}$', 'my password is hunter2hunter2.', 'hunter2hunter2'],
    ['^\\p{L}{4}[0-9]$', 'code größ5', ''],
  ])('finds what %s fits in "%s"', (pattern, text, found) => {
    const spelled = find({ type: 'string', pattern, sensitive: true }, text)

    if (found !== '') expect(spelled.join('|')).toContain(found.slice(-6))
  })

  it('takes no part of a longer number, and no plain word, for a value', () => {
    expect(find({ ...card, pattern: '^[0-9]{4}$' }, 'TXN-12345')).toEqual([])
    expect(find({ ...card, pattern: '^[A-Za-z0-9]{4,}$' }, 'where is my parcel')).toEqual([])
  })

  it('finds the form of an address without a pattern', () => {
    const email = { type: 'string', format: 'email', sensitive: true }

    expect(find(email, 'I am ann@example.com')).toEqual(['ann@example.com'])
  })

  const place = (more: JsonSchema): JsonSchema => ({ type: 'object', ...more })
  const plain = { type: 'string', pattern: '^[0-9]{16}$' }
  it.each([
    ['of a member of a member', place({ properties: { a: { properties: { b: card } } } })],
    ['of an item', place({ properties: { a: { items: card } } })],
    ['of a tuple', place({ properties: { a: { prefixItems: [card] } } })],
    ['of any member', place({ additionalProperties: card })],
    ['of members by pattern', place({ patternProperties: { '^c': card } })],
    ['in a definition', place({ properties: { a: { $ref: '#/$defs/c' } }, $defs: { c: card } })],
    [
      'that is marked elsewhere',
      place({ properties: { a: plain }, allOf: [{ properties: { a: { sensitive: true } } }] }),
    ],
    ['of a whole that is marked', place({ properties: { a: { sensitive: true, items: plain } } })],
    ['of one of several kinds', place({ properties: { a: { anyOf: [{ type: 'null' }, card] } } })],
  ])('finds the pattern %s', (_, schema) => {
    expect(sensitiveInText(schema, 'card 4111111111111111')).toEqual(['4111111111111111'])
  })

  it('finds nothing where nothing is marked', () => {
    expect(sensitiveInText(place({ properties: { a: plain } }), '4111111111111111')).toEqual([])
  })

  it('takes bounded time', () => {
    const began = performance.now()

    for (const unit of ['4111 ', '4', 'a1-', 'word ', '1.']) find(card, unit.repeat(200_000))

    expect(performance.now() - began).toBeLessThan(5_000)
  })
})
