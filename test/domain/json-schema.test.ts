import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import { compileSchema, schemaProblems } from '../../src/domain/json-schema.ts'

function problemsOf(schema: JsonObject, value: Json): readonly string[] {
  return compileSchema(schema)
    .problems(value, ['with'])
    .map(({ path, message }) => `${path}: ${message}`)
}

describe('problems of a value', () => {
  test.each<[string, JsonObject, Json, string]>([
    ['the type', { type: 'string' }, 5, 'with: found 5, expected a text'],
    ['several types', { type: ['string', 'null'] }, 5, 'with: found 5, expected a text or null'],
    ['an integer', { type: 'integer' }, 1.5, 'with: found 1.5, expected a whole number'],
    [
      'an enumeration',
      { enum: ['a', 1, null] },
      'b',
      "with: found 'b', expected one of 'a', 1, null",
    ],
    ['a constant', { const: 'a' }, 'b', "with: found 'b', expected 'a'"],
    ['a minimum', { type: 'number', minimum: 3 }, 2, 'with: found 2, expected at least 3'],
    ['a maximum', { type: 'number', maximum: 3 }, 4, 'with: found 4, expected at most 3'],
    [
      'an open minimum',
      { type: 'number', exclusiveMinimum: 3 },
      3,
      'with: found 3, expected more than 3',
    ],
    [
      'an open maximum',
      { type: 'number', exclusiveMaximum: 3 },
      3,
      'with: found 3, expected less than 3',
    ],
    [
      'a step',
      { type: 'number', multipleOf: 0.01 },
      1.234,
      'with: found 1.234, expected a multiple of 0.01',
    ],
    [
      'a length',
      { type: 'string', minLength: 1 },
      '',
      "with: found '', expected at least 1 character",
    ],
    [
      'a bound',
      { type: 'string', maxLength: 2 },
      'abc',
      "with: found 'abc', expected at most 2 characters",
    ],
    [
      'a format',
      { type: 'string', format: 'date' },
      'soon',
      "with: found 'soon', expected a text in the format date",
    ],
    [
      'a pattern',
      { type: 'string', pattern: '^a$' },
      'b',
      "with: found 'b', expected a text that matches ^a$",
    ],
    [
      'a count',
      { type: 'array', minItems: 2 },
      [1],
      'with: found a list of 1, expected at least 2 items',
    ],
    [
      'a limit',
      { type: 'array', maxItems: 1 },
      [1, 2],
      'with: found a list of 2, expected at most 1 item',
    ],
    [
      'an item',
      { type: 'array', items: { type: 'null' } },
      [null, 'x'],
      "with[1]: found 'x', expected null",
    ],
    ['nothing', { type: 'array', items: false }, [1], 'with[0]: found 1, expected nothing here'],
    [
      'alternatives',
      { anyOf: [{ type: 'string' }, { type: 'object' }] },
      5,
      'with: found 5, expected a text or an object',
    ],
    [
      'two forms at once',
      { oneOf: [{ type: 'number' }, { type: 'integer' }] },
      5,
      'with: found 5, expected a value that fits exactly one of the forms, not two',
    ],
    [
      'a negation',
      { not: { type: 'string' } },
      'a',
      "with: found 'a', expected a value that must NOT be valid",
    ],
  ])('%s', (_name, schema, value, expected) => {
    expect(problemsOf(schema, value)).toEqual([expected])
  })

  const order: JsonObject = {
    type: 'object',
    required: ['transactionId'],
    properties: {
      transactionId: { type: 'string', description: "The customer's transaction id" },
      amounts: { type: 'array', items: { type: 'number' } },
    },
    additionalProperties: false,
  }

  test('all are reported at once, each with its path', () => {
    expect(problemsOf(order, { transactonId: 'x', amounts: [1, '2', 'three'] })).toEqual([
      "with.transactionId: is missing: expected a text (The customer's transaction id)",
      "with.transactonId: is not known here. Did you mean 'transactionId'?",
      "with.amounts[1]: found '2', expected a number",
      "with.amounts[2]: found 'three', expected a number",
    ])
  })

  test('a value that fits has none', () => {
    expect(problemsOf(order, { transactionId: 'x', amounts: [] })).toEqual([])
  })

  test('patterns of one schema are told apart from those of another', () => {
    expect(problemsOf({ type: 'string', pattern: '^a$' }, 'a')).toEqual([])
    expect(problemsOf({ type: 'string', pattern: '^b$' }, 'a')).toHaveLength(1)
    expect(problemsOf({ type: 'string', pattern: '^b$' }, 'b')).toEqual([])
  })

  test('decimal amounts are multiples of a cent', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), (cents) => {
        expect(problemsOf({ type: 'number', multipleOf: 0.01 }, cents / 100)).toEqual([])
      }),
    )
  })

  test('constructor is an ordinary name that is absent unless it is given', () => {
    const schema = { type: 'object', required: ['constructor'], properties: { constructor: {} } }

    expect(problemsOf(schema, {})).toEqual(['with.constructor: is missing: expected a value'])
    expect(problemsOf(schema, JSON.parse('{"constructor":1}'))).toEqual([])
  })

  test('what is found under a sensitive property is never shown', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        card: { type: 'string', pattern: '^[0-9]+$', sensitive: true },
        person: {
          type: 'object',
          sensitive: true,
          properties: { name: { type: 'string', maxLength: 3 }, age: { type: 'integer' } },
        },
        note: { type: 'string', sensitive: false },
      },
    }

    const problems = problemsOf(schema, {
      card: 'SECRET',
      person: { name: 'SECRET', age: 'SECRET' },
      note: 5,
    })

    expect(problems).toHaveLength(4)
    expect(problems.join()).not.toContain('SECRET')
    expect(problems).toContain('with.note: found 5, expected a text')
    expect(problemsOf(schema, { card: 77 }).join()).not.toContain('77')
  })

  test('equal items are found in a long list in little time', () => {
    const schema: JsonObject = { type: 'array', uniqueItems: true }
    const items = Array.from({ length: 50_000 }, (_, index) => ({ index }))
    const started = performance.now()

    expect(problemsOf(schema, items)).toEqual([])
    expect(
      problemsOf(schema, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toHaveLength(1)
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('a long list that fails in every item tells the first fifty', () => {
    const items = Array.from({ length: 20_000 }, () => 5)
    const schema: JsonObject = {
      type: 'array',
      items: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    }

    const problems = problemsOf(schema, items)

    expect(problems).toHaveLength(51)
    expect(problems.at(-1)).toBe('with: and there are more problems than these')
  })
})

describe('problems of a schema', () => {
  test.each<[string, unknown, readonly string[]]>([
    ['no object', true, ['input: found true, expected a JSON Schema, which is an object']],
    ['no JSON', { const: 5n }, ['input.const: a bigint is not a JSON value']],
    [
      'an unknown type',
      { type: 'strng' },
      [
        "input.type: found 'strng', expected one of array, boolean, integer, null, number, object or string. Did you mean 'string'?",
      ],
    ],
    [
      'an unknown keyword',
      { type: 'string', minLenght: 1 },
      ["input.minLenght: is not a keyword that is understood here. Did you mean 'minLength'?"],
    ],
    [
      'a keyword of the wrong form',
      { type: 'object', required: 'a' },
      ["input.required: found 'a', expected a list"],
    ],
    [
      'a slip in required',
      { type: 'object', required: ['amonut'], properties: { amount: {} } },
      ["input.required[0]: 'amonut' is not one of the properties. Did you mean 'amount'?"],
    ],
    [
      'lookahead',
      { type: 'string', pattern: '(?=a)' },
      [
        'input.pattern: the pattern cannot be read as a regular expression without lookaround: invalid or unsupported Perl syntax: `(?=`',
      ],
    ],
    [
      'a pattern of huge repeats',
      { type: 'string', pattern: '((a{100}){100}){100}' },
      [
        'input.pattern: the pattern cannot be read as a regular expression without lookaround: invalid repeat count: `{100}`',
      ],
    ],
    [
      'a pattern beyond the size',
      { type: 'string', pattern: '(a|b)*a(a|b){900}' },
      [
        'input.pattern: the pattern repeats too much; use smaller bounds in {n,m}, or minLength and maxLength',
      ],
    ],
    [
      'a remote reference',
      { $ref: 'https://example.com/schema' },
      [
        "input[\"$ref\"]: found 'https://example.com/schema', expected a reference of the form '#/$defs/NAME'",
      ],
    ],
    [
      'a reference to nothing',
      { $ref: '#/$defs/amont', $defs: { amount: {} } },
      ["input[\"$ref\"]: there is no 'amont' in the schema's $defs. Did you mean 'amount'?"],
    ],
    [
      'a reference to itself',
      { $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#/$defs/a' }, type: 'array' } } },
      [
        'input["$defs"].a.items["$ref"]: \'a\' refers to itself; write the levels out that are needed',
      ],
    ],
    [
      'another dialect',
      { $schema: 'http://json-schema.org/draft-07/schema#' },
      [
        'input["$schema"]: found \'http://json-schema.org/draft-07/schema#\', expected https://json-schema.org/draft/2020-12/schema, or nothing',
      ],
    ],
    [
      'an identifier',
      { $id: 'x', type: 'string' },
      ['input["$id"]: is not a keyword that is understood here.'],
    ],
    [
      'an unknown format',
      { type: 'object', properties: { a: { type: 'string', format: 'phone' } } },
      [
        'input.properties.a: is no usable JSON Schema: unknown format "phone" ignored in schema at path "#/properties/a"',
      ],
    ],
    [
      'a keyword for another type',
      { type: 'string', minimum: 3 },
      [
        'input: is no usable JSON Schema: strict mode: missing type "number" for keyword "minimum" at "#" (strictTypes)',
      ],
    ],
    [
      'a wrong annotation',
      { type: 'string', sensitive: 'yes' },
      ["input.sensitive: found 'yes', expected true or false"],
    ],
  ])('%s', (_name, schema, expected) => {
    const problems = schemaProblems(schema, ['input'])

    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual(expected)
  })

  test('several are reported at once', () => {
    const schema = {
      type: 'object',
      required: [5],
      properties: { a: { type: 'strng' }, b: { type: 'string', pattern: '[' }, c: { foo: 1 } },
    }

    expect(
      schemaProblems(schema)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['properties.a.type', 'properties.b.pattern', 'properties.c.foo', 'required[0]'])
  })

  test.each<JsonObject>([
    {},
    { type: 'object' },
    { type: 'object', properties: { a: { type: 'string', source: 'caller', sensitive: true } } },
    {
      type: 'object',
      properties: { a: {}, b: {} },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'string' },
    { type: 'array', prefixItems: [{ type: 'string' }], items: false },
    {
      $defs: { money: { type: 'number' } },
      type: 'object',
      properties: { a: { $ref: '#/$defs/money' }, b: { $ref: '#/$defs/money' } },
    },
    // As text, since an object with `then` is taken for a promise.
    JSON.parse('{"type":"object","if":{"required":["a"]},"then":{"minProperties":2}}'),
  ])('%j is a good schema', (schema) => {
    expect(schemaProblems(schema)).toEqual([])
  })

  test('references that multiply are refused by what they stand for', () => {
    const definitions: Record<string, JsonObject> = { d500: {} }
    for (let index = 0; index < 500; index += 1) {
      const next = { $ref: `#/$defs/d${index + 1}` }
      definitions[`d${index}`] = { anyOf: [next, next] }
    }

    const problems = schemaProblems({ $ref: '#/$defs/d0', $defs: definitions })

    expect(problems).toEqual([
      {
        path: '',
        message: 'stands for billions of schemas with all references followed, the limit is 2000',
      },
    ])
  })

  test('a schema beyond 64 KiB or 40 levels is refused with the figure', () => {
    let deep: JsonObject = { type: 'string' }
    for (let level = 0; level < 21; level += 1) deep = { type: 'array', items: { allOf: [deep] } }

    expect(schemaProblems({ description: 'x'.repeat(70_000) })[0]?.message).toBe(
      'the schema has 70018 bytes of JSON, the limit is 65536',
    )
    expect(schemaProblems(deep)[0]?.message).toContain('nested more than 40 levels deep')
  })

  test('whatever a schema is, it has problems or it compiles and validates', () => {
    const keyword = fc.constantFrom(
      ...['type', 'properties', 'items', 'required', 'pattern', 'enum', 'anyOf', 'not', '$ref'],
      ...['$defs', 'format', 'minimum', 'if', 'then', 'const', 'sensitive', 'dependentRequired'],
    )
    const word = fc.constantFrom('string', 'object', 'array', '#/$defs/a', 'date', '[', 'a')
    const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        word,
        fc.anything({ withBigInt: true, maxDepth: 1 }),
        fc.dictionary(keyword, tie('schema'), { maxKeys: 4 }),
        fc.dictionary(keyword, tie('schema'), { maxKeys: 4 }),
        fc.array(tie('schema'), { maxLength: 2 }),
      ),
    }))

    fc.assert(
      fc.property(schema, fc.jsonValue(), (candidate, value) => {
        if (schemaProblems(candidate).length > 0) return
        compileSchema(candidate as JsonObject).problems(value as Json)
      }),
      { numRuns: 1_000 },
    )
  }, 60_000)
})

test('a schema that is wrong does not compile', () => {
  expect(() => compileSchema({ type: 'strng' })).toThrow(
    expect.objectContaining({ code: 'SCHEMA_INVALID' }),
  )
})

test('equal schemas are compiled once', () => {
  const first = compileSchema({ type: 'object', required: ['a'], properties: { a: {} } })
  const second = compileSchema({ properties: { a: {} }, required: ['a'], type: 'object' })

  expect(second).toBe(first)
})

test.each([
  ...['date', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'json-pointer'],
  ...['time', 'uri', 'uri-reference', 'uuid'],
])(
  'the format %s takes bounded time on a megabyte of any kind',
  (format) => {
    const size = 2 ** 20
    const validator = compileSchema({ type: 'string', format })
    const started = performance.now()

    for (const part of ['a', 'a.', 'a-', ':', '/', '%41', '1:', '1.', 'a@', 'a:'])
      for (const start of ['', 'a@', 'http://', 'P', '2020-01-01T00:00:00.'])
        validator.problems(`${start}${part.repeat(size / part.length)} ^`)

    expect(performance.now() - started).toBeLessThan(10_000)
  },
  20_000,
)
