import { describe, expect, it } from 'vitest'
import { schemaProblems } from '../../src/domain/json-schema.ts'
import type { Problem } from '../../src/domain/problem.ts'
import { documentOf } from '../../src/tool-sources/openapi/api-document.ts'
import { convertSchema, type Side } from '../../src/tool-sources/openapi/convert-schema.ts'
import { propertyTree } from '../../src/tool-sources/property-tree.ts'

const components = {
  Money: {
    type: 'object',
    required: ['amount'],
    properties: { amount: { type: 'number' }, currency: { type: 'string' } },
  },
  Named: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
  Person: {
    type: 'object',
    required: ['id', 'manager'],
    properties: {
      id: { type: 'string' },
      manager: { $ref: '#/components/schemas/Person' },
      reports: { type: 'array', items: { $ref: '#/components/schemas/Person' } },
    },
  },
  Alias: { $ref: '#/components/schemas/Money' },
}

function convert(
  schema: unknown,
  { side = 'output', keep = [] }: { side?: Side; keep?: string[] } = {},
) {
  const document = documentOf({ components: { schemas: components }, schema })
  const problems: Problem[] = []
  const part = { node: schema, place: ['schema'], open: [] }
  const converted = convertSchema(document, part, side, propertyTree(keep), problems)
  // Whatever comes out without a problem is a schema that the registry takes.
  if (problems.length === 0) expect(schemaProblems(converted)).toEqual([])
  return { converted, problems: problems.map(({ path, message }) => `${path} ${message}`) }
}

const closed = { additionalProperties: false }
const money = {
  type: 'object',
  properties: { amount: { type: 'number' }, currency: { type: 'string' } },
  required: ['amount'],
  ...closed,
}

describe('a schema becomes what the registry takes', () => {
  it.each<[string, unknown, unknown]>([
    ['nothing said', {}, {}],
    ['a plain type', { type: 'string', minLength: 1 }, { type: 'string', minLength: 1 }],
    ['true and false', { type: 'array', items: true }, { type: 'array', items: {} }],
    [
      'a format that is checked',
      { type: 'string', format: 'date' },
      { type: 'string', format: 'date' },
    ],
    ['a format that is not', { type: 'integer', format: 'int64' }, { type: 'integer' }],
    [
      'examples, titles and extensions',
      { type: 'string', title: 'T', example: 'a', 'x-a': 1, xml: {} },
      { type: 'string' },
    ],
    ['a description', { type: 'string', description: 'D' }, { type: 'string', description: 'D' }],
    ['nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      'a nullable enum',
      { type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    ['types of 3.1', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
    ['an enum without a type', { enum: ['a', 'b'] }, { enum: ['a', 'b'] }],
    [
      'an exclusive bound of 3.0',
      { type: 'number', minimum: 0, exclusiveMinimum: true },
      { type: 'number', exclusiveMinimum: 0 },
    ],
    [
      'an exclusive bound of 3.1',
      { type: 'number', exclusiveMinimum: 0 },
      { type: 'number', exclusiveMinimum: 0 },
    ],
    ['a bound beyond a double', { type: 'integer', maximum: 2 ** 63 }, { type: 'integer' }],
    ['a type that is meant', { maxLength: 3 }, { type: 'string', maxLength: 3 }],
    ['a pattern', { type: 'string', pattern: '^a+$' }, { type: 'string', pattern: '^a+$' }],
    [
      'a pattern that takes more than linear time',
      { type: 'string', pattern: '(?=a)a' },
      { type: 'string' },
    ],
    ['an object', components.Money, money],
    [
      'an object without a type',
      { properties: { a: { type: 'string' } } },
      { type: 'object', properties: { a: { type: 'string' } }, ...closed },
    ],
    [
      'an object that says it is open',
      { ...components.Named, additionalProperties: true },
      { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    ],
    [
      'a map',
      { type: 'object', additionalProperties: { type: 'number' } },
      { type: 'object', additionalProperties: { type: 'number' } },
    ],
    ['any object', { type: 'object' }, { type: 'object' }],
    [
      'a required name that is no property',
      { type: 'object', required: ['a'], properties: {} },
      { type: 'object', required: ['a'], properties: { a: {} }, ...closed },
    ],
    ['a reference', { $ref: '#/components/schemas/Money' }, money],
    ['a reference to a reference', { $ref: '#/components/schemas/Alias' }, money],
    [
      'a reference that is described',
      { $ref: '#/components/schemas/Money', description: 'D' },
      { ...money, description: 'D' },
    ],
    [
      'a nullable reference',
      { $ref: '#/components/schemas/Money', nullable: true },
      { ...money, type: ['object', 'null'] },
    ],
    [
      'one part in allOf, nullable',
      { allOf: [{ $ref: '#/components/schemas/Money' }], nullable: true },
      { ...money, type: ['object', 'null'] },
    ],
    [
      'objects in allOf',
      { allOf: [{ $ref: '#/components/schemas/Money' }, { $ref: '#/components/schemas/Named' }] },
      {
        type: 'object',
        properties: { ...money.properties, name: { type: 'string' } },
        required: ['amount', 'name'],
        ...closed,
      },
    ],
    [
      'a property in two parts',
      {
        allOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: { maxLength: 3 } } }],
      },
      {
        type: 'object',
        properties: { a: { allOf: [{ type: 'string' }, { type: 'string', maxLength: 3 }] } },
        ...closed,
      },
    ],
    [
      'texts in allOf',
      { allOf: [{ type: 'string' }, { type: 'string', maxLength: 3 }] },
      { allOf: [{ type: 'string' }, { type: 'string', maxLength: 3 }] },
    ],
    [
      'one of several',
      { oneOf: [components.Named, { type: 'string' }] },
      {
        oneOf: [
          { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
          { type: 'string' },
        ],
      },
    ],
    [
      'something or null',
      { anyOf: [{ $ref: '#/components/schemas/Money' }, { type: 'null' }] },
      { ...money, type: ['object', 'null'] },
    ],
    [
      'one of several or null',
      { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] },
      {
        anyOf: [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'null' }],
      },
    ],
    [
      'a list',
      { type: 'array', items: components.Named, maxItems: 3 },
      {
        type: 'array',
        maxItems: 3,
        items: {
          type: 'object',
          properties: { name: { type: 'string' } },
          required: ['name'],
          ...closed,
        },
      },
    ],
    [
      'a member called __proto__',
      JSON.parse('{"type":"object","properties":{"constructor":{"type":"string"}}}'),
      {
        type: 'object',
        properties: { constructor: { type: 'string' } },
        ...closed,
      },
    ],
  ])('%s', (_what, schema, expected) => {
    const { converted, problems } = convert(schema)

    expect(problems).toEqual([])
    expect(converted).toEqual(expected)
  })
})

describe('a side', () => {
  const schema = {
    type: 'object',
    required: ['id', 'password', 'name'],
    properties: {
      id: { type: 'string', readOnly: true },
      password: { type: 'string', writeOnly: true },
      name: { type: 'string' },
    },
  }

  it.each<[Side, string[]]>([
    ['input', ['password', 'name']],
    ['output', ['id', 'name']],
  ])('has only its own properties: %s', (side, names) => {
    const { converted } = convert(schema, { side })

    expect(Object.keys(Object(converted.properties))).toEqual(names)
    expect([...Object(converted).required].sort()).toEqual([...names].sort())
  })
})

describe('properties that are named', () => {
  it('are all that is read, at any depth', () => {
    const { converted, problems } = convert(
      { $ref: '#/components/schemas/Person' },
      { keep: ['id', 'reports.id'] },
    )

    expect(problems).toEqual([])
    expect(converted).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string' },
        reports: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'string' } },
            required: ['id'],
            ...closed,
          },
        },
      },
      required: ['id'],
      ...closed,
    })
  })

  it('have to be there', () => {
    expect(convert({ $ref: '#/components/schemas/Money' }, { keep: ['amont'] }).problems).toEqual([
      "#/components/schemas/Money has no property 'amont', which 'output' of the operation names. Did you mean 'amount'?",
    ])
  })

  it('cannot be those of one of several', () => {
    expect(
      convert({ oneOf: [components.Named, components.Money] }, { keep: ['name'] }).problems,
    ).toEqual(["#/schema has no properties of its own, so that 'output' cannot choose among them"])
  })

  it('do not hide a schema that is nothing but itself', () => {
    const schema = { allOf: [{ $ref: '#/schema' }, { $ref: '#/schema' }] }

    expect(convert(schema, { keep: ['a.b'] }).problems).toContainEqual(
      expect.stringContaining('#/schema contains itself'),
    )
  })

  it('may be below what may be null', () => {
    const { converted } = convert(
      { anyOf: [components.Money, { type: 'null' }] },
      { keep: ['amount'] },
    )

    expect(converted).toEqual({
      type: ['object', 'null'],
      properties: { amount: { type: 'number' } },
      required: ['amount'],
      ...closed,
    })
  })
})

describe('what cannot be said is a problem with its place', () => {
  it.each<[string, unknown, string]>([
    [
      'a circle',
      { $ref: '#/components/schemas/Person' },
      '#/components/schemas/Person/properties/manager #/components/schemas/Person contains itself',
    ],
    [
      'a reference to another document',
      { $ref: 'other.yaml#/a' },
      "#/schema the reference 'other.yaml#/a': only #/ of the same document is followed",
    ],
    [
      'a reference to nothing',
      { properties: { a: { $ref: '#/no' } } },
      "#/schema/properties/a the reference '#/no': is not there",
    ],
    [
      'a schema that is none',
      { properties: { a: 'string' } },
      "#/schema/properties/a found 'string', expected a schema",
    ],
    [
      'a keyword of nobody',
      { type: 'string', maxLenght: 3 },
      '#/schema/maxLenght is not a keyword that is understood here',
    ],
    [
      'a dynamic reference',
      { $dynamicRef: '#a' },
      '#/schema/$dynamicRef is not a keyword that is understood here',
    ],
  ])('%s', (_what, schema, expected) => {
    expect(convert(schema).problems).toContainEqual(expect.stringContaining(expected))
  })

  it('in a schema that multiplies, at once', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [
        `L${n}`,
        {
          type: 'object',
          properties: Object.fromEntries(
            ['a', 'b', 'c', 'd'].map((name) => [name, { $ref: `#/schema/$defs/L${n + 1}` }]),
          ),
        },
      ]),
    )
    const schema = { $ref: '#/schema/$defs/L0', $defs: { ...wide, L12: { type: 'string' } } }

    expect(convert(schema).problems).toEqual([
      expect.stringContaining(
        'stands for more than 2000 schemas; name the properties that are wanted',
      ),
    ])
  })
})
