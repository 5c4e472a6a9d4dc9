import { expect, test } from 'vitest'
import type { JsonSchema } from '../../src/domain/json.ts'
import { schemaText } from '../../src/domain/schema-text.ts'

test.each<[JsonSchema, string]>([
  [{}, 'a value'],
  [{ type: 'string' }, 'a text'],
  [{ type: 'string', pattern: '^[0-9]{4}$' }, 'a text that matches ^[0-9]{4}$'],
  [{ type: 'string', format: 'date' }, 'a text in the format date'],
  [{ type: 'string', minLength: 2 }, 'a text of at least 2 characters'],
  [{ type: 'string', maxLength: 9 }, 'a text of at most 9 characters'],
  [{ type: 'string', minLength: 2, maxLength: 9 }, 'a text of 2 to 9 characters'],
  [{ type: 'integer', minimum: 1, maximum: 5 }, 'a whole number from 1 to 5'],
  [{ type: 'number', exclusiveMinimum: 0 }, 'a number above 0'],
  [{ type: 'boolean', description: 'Whether it arrived' }, 'true or false: Whether it arrived'],
  [{ enum: ['yes', 'no', 3] }, "one of 'yes', 'no' or 3"],
  [{ const: 'yes' }, "'yes'"],
  [{ type: ['string', 'null'] }, 'a text or null'],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'string' }] }, 'a text or a number'],
  [
    { type: 'array', items: { type: 'string' }, maxItems: 3 },
    'a list of at most 3 items, each a text',
  ],
  [{ type: 'array' }, 'a list'],
  [{ type: 'object' }, 'an object'],
  [
    {
      type: 'object',
      required: ['street'],
      properties: { street: { type: 'string' }, zip: { $ref: '#/$defs/zip' } },
      $defs: { zip: { type: 'string', description: 'five digits' } },
    },
    'an object with street (a text), zip (a text: five digits, may be left out)',
  ],
  [{ $ref: '#/$defs/none' }, 'a value'],
])('%j is %s', (schema, text) => {
  expect(schemaText(schema)).toBe(text)
})

test('a schema that goes round in a circle, or has very many members, is cut', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
  const many = Array.from({ length: 25 }, (_, index) => [`name${index}`, {}])

  expect(schemaText({ $ref: '#/$defs/node', $defs: { node } }).length).toBeLessThan(200)
  expect(schemaText({ type: 'object', properties: Object.fromEntries(many) })).toMatch(
    /, and 5 more$/,
  )
})
