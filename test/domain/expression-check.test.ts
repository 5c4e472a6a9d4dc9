import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  anyType,
  booleanType,
  checkExpression,
  fits,
  listType,
  numberType,
  type ScopeTypes,
  stepType,
  stringType,
  type Type,
  typeOfSchema,
  typeOfValue,
  typeWords,
} from '../../src/domain/expression.ts'
import { parsed } from './expression-scope.ts'

const transaction = typeOfSchema({
  type: 'object',
  additionalProperties: false,
  required: ['state', 'amountValue', 'tags', 'charges', 'eta'],
  properties: {
    state: { enum: ['captured', 'captured_twice', 'unknown'] },
    amountValue: { type: 'number' },
    eta: { type: ['number', 'null'] },
    reference: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    tags: { type: 'array', items: { type: 'string' } },
    charges: {
      type: 'array',
      items: {
        type: 'object',
        required: ['amount'],
        additionalProperties: false,
        properties: { amount: { type: 'number' }, at: { type: ['string', 'null'] } },
      },
    },
    raw: { type: 'object' },
  },
})

const probeSchema = {
  type: 'object',
  required: ['serial'],
  additionalProperties: false,
  properties: { serial: { type: 'string' }, hours: { type: 'number' } },
}

const types: ScopeTypes = {
  input: typeOfSchema({
    type: 'object',
    required: ['transactionId'],
    additionalProperties: false,
    properties: { transactionId: { type: 'string' }, note: { type: 'string' } },
  }),
  policy: typeOfValue({ refundLimit: 500, mode: 'strict' }),
  steps: { check: stepType(transaction), loop: stepType(listType(stringType), stringType) },
}

function findings(source: string, expected?: Type, chosen = types): readonly string[] {
  return checkExpression(parsed(source), chosen, expected).findings.map(
    ({ rule, message }) => `${rule}: ${message}`,
  )
}

const typeOf = (source: string) => typeWords(checkExpression(parsed(source), types).type)

describe('checking an expression', () => {
  it.each([
    "steps.check.output.state == 'captured_twice' && steps.check.output.amountValue <= policy.refundLimit",
    "steps.check.output.state in ['captured', 'unknown']",
    'has(input.note) && input.note.size() > 3',
    'steps.check.output.eta != null && steps.check.output.eta > 3',
    '!has(input.note) || input.note.contains("x")',
    "has(input.note) ? input.note == 'a' : false",
    "has(steps.check.output.reference) && steps.check.output.reference == 'x'",
    'steps.check.output.eta == null || steps.check.output.eta + 1 < 5',
    'steps.check.output.charges.all(c, c.amount > 0)',
    "steps.check.output.charges.exists(c, has(c.at) && c.at.startsWith('2026'))",
    'sum(steps.check.output.charges.map(c, c.amount)) > 10',
    'now < addDays(execution.startedAt, 30)',
    "'vip' in steps.check.output.tags",
    "'captured' in [steps.check.output.state]",
    "steps.loop.items.all(i, i.status == 'completed' || !has(i.output))",
    'firstOf(steps.check).amountValue > 1',
    '[] == steps.check.output.tags',
    "has(ticket.language) && ticket.language != 'en'",
    "has(steps.check.error) && steps.check.error.code == 'tool_timeout'",
    "policy.mode == 'lenient'",
  ])('has nothing to say of %s', (source) => {
    expect(findings(source, booleanType)).toEqual([])
  })

  it.each([
    [
      'input.transactionID == "a"',
      "unknown-reference: input.transactionID does not exist; did you mean 'transactionId'?",
    ],
    [
      'steps.chek.output.state == "captured"',
      "unknown-reference: steps.chek does not exist; did you mean 'check'?",
    ],
    [
      'firstOf(steps.chek).x == 1',
      "unknown-reference: steps.chek does not exist; did you mean 'check'?",
    ],
    ['has(input.nte)', "unknown-reference: input.nte does not exist; did you mean 'note'?"],
    [
      'input.transactionId.length > 3',
      'unknown-reference: input.transactionId.length: input.transactionId is a text, which has no fields',
    ],
    ['item == 1', 'unknown-reference: item stands only inside a forEach'],
    ['index == 1', 'unknown-reference: index stands only inside a forEach'],
    ['output == 1', 'unknown-reference: output stands only in expect and until'],
    [
      'steps.check.output.charges.all(c, c.amont > 0)',
      "unknown-reference: c.amont does not exist; did you mean 'amount'?",
    ],
    [
      "steps.check.output.state == 'captured_twise'",
      "impossible-value: the value is never 'captured_twise'; did you mean 'captured_twice'?",
    ],
    [
      "'no' != steps.check.output.state",
      "impossible-value: the value is never 'no'; there are: captured, captured_twice, unknown",
    ],
    [
      "steps.check.output.state in ['captured', 'lost']",
      "impossible-value: the value is never 'lost'",
    ],
    ["steps.check.status == 'done'", "impossible-value: the value is never 'done'"],
    [
      'steps.check.output.amountValue == "29"',
      'expression-type: == expects two values of one kind; found a number and a text',
    ],
    [
      'steps.check.output.amountValue + "EUR" == "x"',
      'expression-type: + expects two numbers, two texts or two lists',
    ],
    ['input.transactionId > 5', 'expression-type: > expects'],
    [
      'now < execution.startedAt',
      'expression-type: < expects two numbers, two texts or two timestamps; found a timestamp and a text',
    ],
    ['1 in steps.check.output.tags', 'expression-type: in expects'],
    ['input.transactionId in 5', 'expression-type: in expects'],
    ['!input.transactionId', 'expression-type: ! expects a boolean; input.transactionId is a text'],
    ['true && 1', 'expression-type: && expects a boolean; the value is a number'],
    [
      'round(input.transactionId) == 1',
      'expression-type: round() expects a number; input.transactionId is a text',
    ],
    ['sum(steps.check.output.tags) > 1', 'expression-type: sum() expects a list (each a number)'],
    [
      'steps.check.output.amountValue.all(x, true)',
      'expression-type: all() expects a list or an object',
    ],
    [
      'steps.check.output.charges.all(c, c.amount)',
      'expression-type: all() expects a boolean; c.amount is a number',
    ],
    ['steps.check.output.tags["a"] == "b"', 'which has no fields'],
    [
      'steps.check.output.tags[input.transactionId] == "b"',
      'expression-type: a list is indexed by a whole number',
    ],
    ['steps.check.output.amountValue', 'expression-type: the expression expects a boolean'],
    ['input.note == "a"', 'unguarded-value: input.note may be absent; ask has(input.note) first'],
    ['has(input.note) || input.note == "a"', 'unguarded-value: input.note may be absent'],
    [
      'has(steps.check.output.reference) || steps.check.output.reference.size() > 1',
      'unguarded-value: steps.check.output.reference may be absent',
    ],
    [
      'steps.check.output.charges.all(c, has(c.at) || c.at == "x")',
      'unguarded-value: c.at may be absent',
    ],
    [
      'steps.check.output.charges.all(c, !has(c.amount) || c.at == "x")',
      'unguarded-value: c.at may be null, which == cannot take; ask has(c.at) first',
    ],
    [
      'has(steps.check.output.raw) && steps.check.output.raw.x == 1',
      'untyped: steps.check.output.raw.x can be anything',
    ],
  ])('finds in %s: %s', (source, expected) => {
    expect(findings(source, booleanType).join('\n')).toContain(expected)
  })

  const probes = stepType(listType(anyType), typeOfSchema(probeSchema), typeOfSchema(probeSchema))
  const blocks = stepType(
    listType(anyType),
    typeOfSchema({ anyOf: [probeSchema, { type: 'null' }] }),
  )
  const looped = { ...types, steps: { ...types.steps, probes, blocks } }
  const inLoops = (source: string) =>
    checkExpression(parsed(source), looped).findings.map(
      ({ rule, message }) => `${rule}: ${message}`,
    )

  it.each([
    'steps.probes.items.filter(i, has(i.output.hours)).map(i, i.output.hours)',
    'steps.probes.items.filter(i, has(i.output.hours)).map(other, other.output.hours)',
    "steps.probes.items.filter(i, i.status == 'completed').map(i, i.output.serial)",
    "steps.probes.items.map(i, i.status == 'completed', i.output.serial)",
    "steps.probes.items.all(i, i.status == 'completed' && i.output.serial == 'x')",
    "steps.probes.items.filter(i, i.status == 'completed').sortBy(i, i.output.serial).exists(i, i.output.serial == 'x')",
    "steps.probes.items.filter(i, i.status == 'completed').filter(i, has(i.output.hours)).map(i, i.output.hours + size(i.output.serial))",
    'steps.check.output.charges.filter(c, has(c.at)).map(c, size(c.at))',
  ])('takes what a filter has proven as certain: %s', (source) => {
    expect(inLoops(source)).toEqual([])
  })

  it.each([
    ['steps.probes.items.filter(i, !has(i.output.hours)).map(i, i.output.hours)', 'i.output'],
    ["steps.probes.items.filter(i, i.status != 'completed').map(i, i.output.serial)", 'i.output'],
    ["steps.probes.items.filter(i, i.status == 'failed').map(i, i.output.serial)", 'i.output'],
    ["steps.probes.items.filter(i, i.status == 'completed').map(i, i.output.hours)", 'hours'],
    ["steps.blocks.items.filter(i, i.status == 'completed').map(i, i.output.serial)", 'i.output'],
    [
      "steps.probes.items.exists(i, i.status == 'completed') && steps.probes.items.all(i, i.output.serial == 'x')",
      'i.output',
    ],
    [
      'steps.probes.items.map(i, i.item).filter(i, i.serial == "x").map(i, i.serial).map(i, i.no)',
      'i.no',
    ],
  ])('takes nothing else as certain: %s', (source, place) => {
    expect(inLoops(source).join()).toContain(place)
  })

  it('gives line and column of what it finds', () => {
    const { findings: found } = checkExpression(parsed('true &&\n  input.nte == "a"'), types)

    expect(found).toEqual([
      expect.objectContaining({ line: 2, column: 9, severity: 'error', path: '' }),
    ])
  })

  it('reports a value without a schema once, where it is read, and not inside has()', () => {
    const open: ScopeTypes = { ...types, input: anyType }

    expect(findings('input.a.b.c == 1', undefined, open)).toHaveLength(1)
    expect(findings('has(input.a.b)', undefined, open)).toEqual([])
  })

  it('knows item, index and output where they stand', () => {
    const inside: ScopeTypes = { ...types, item: transaction, output: transaction }

    expect(findings('item.state == output.state && index > 0', booleanType, inside)).toEqual([])
  })

  it.each([
    ['1 + 2', 'a number'],
    ['[1] + ["a"]', 'a list (each a number) or a list (each a text)'],
    ['true ? 1 : "a"', 'a number or a text'],
    ['steps.check.output.charges.map(c, c.amount)', 'a list (each a number)'],
    ['steps.check.output.tags.filter(t, true).sort()', 'a list (each a text)'],
    ['max(steps.check.output.tags)', 'a text'],
    ['addDays(now, 1)', 'a text'],
    ["{'a': now}", 'an object'],
  ])('infers %s as %s', (source, expected) => {
    expect(typeOf(source)).toBe(expected)
  })
})

describe('the type of a schema', () => {
  it.each([
    [{ type: ['string', 'null'] }, 'a text or null'],
    [{ type: 'integer' }, 'a number'],
    [{ const: 'a' }, 'a text'],
    [{ type: 'array', items: { type: 'boolean' } }, 'a list (each a boolean)'],
    [{ type: 'array' }, 'a list'],
    [{ type: 'array', prefixItems: [{ type: 'string' }] }, 'a list'],
    [{ anyOf: [{ type: 'string' }, {}] }, 'anything'],
    [{ allOf: [{ type: 'string' }] }, 'a text'],
    [{ type: 'object', anyOf: [{ required: ['a'] }] }, 'an object'],
    [{ $ref: '#/$defs/id', $defs: { id: { type: 'string' } } }, 'a text'],
    [{ $ref: '#/$defs/none' }, 'anything'],
    [{ $ref: 'https://example.com/x' }, 'anything'],
    [{ $ref: '#' }, 'anything'],
    [{ not: { type: 'null' } }, 'anything'],
  ])('%j is %s', (schema, expected) => {
    expect(typeWords(typeOfSchema(schema))).toBe(expected)
  })

  it('ends on schemas that refer to themselves or grow without bound', () => {
    const tree = {
      $defs: {
        node: {
          type: 'object',
          properties: { l: { $ref: '#/$defs/node' }, r: { $ref: '#/$defs/node' } },
        },
      },
      $ref: '#/$defs/node',
    }
    const beside = { type: 'object', properties: { tree, amount: { type: 'number' } } }
    const laughs = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [
        `d${n}`,
        {
          type: 'object',
          properties: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } },
        },
      ]),
    )

    expect(typeOfSchema(tree).kind).toBe('object')
    const type = typeOfSchema({ ...beside, $defs: tree.$defs })
    expect(type.kind === 'object' && type.fields.get('amount')?.type).toBe(numberType)
    expect(typeOfSchema({ $ref: '#/$defs/d0', $defs: laughs }).kind).toBe('object')
  })

  it('describes values that the schema of their own shape describes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        expect(fits(typeOfValue(JSON.parse(JSON.stringify(value))), anyType)).toBe('yes')
      }),
    )
  })
})

describe('whether a type fits where another is expected', () => {
  const person = typeOfSchema({
    type: 'object',
    required: ['name'],
    additionalProperties: false,
    properties: { name: { type: 'string' }, age: { type: 'number' } },
  })

  it.each([
    [typeOfValue({ name: 'a' }), 'yes'],
    [typeOfValue({ name: 'a', age: 5 }), 'yes'],
    [typeOfValue({ name: 5 }), 'no'],
    [typeOfValue({ age: 5 }), 'no'],
    [typeOfValue({ name: 'a', more: 1 }), 'no'],
    [typeOfValue('a'), 'no'],
    [anyType, 'yes'],
    [
      typeOfSchema({
        type: ['object', 'null'],
        required: ['name'],
        properties: { name: { type: 'string' } },
      }),
      'maybe',
    ],
  ])('answers for %j: %s', (actual, expected) => {
    expect(fits(actual, person)).toBe(expected)
  })

  it('compares the texts of two enums', () => {
    const of = (...values: string[]) => typeOfSchema({ enum: values })

    expect(fits(of('a'), of('a', 'b'))).toBe('yes')
    expect(fits(of('a', 'c'), of('a', 'b'))).toBe('maybe')
    expect(fits(of('c'), of('a', 'b'))).toBe('no')
    expect(fits(stringType, of('a'))).toBe('yes')
    expect(fits(numberType, of('a'))).toBe('no')
  })
})
