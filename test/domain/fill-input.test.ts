import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillInput, missingInputMessage, openQuestions } from '../../src/domain/fill-input.ts'
import type { Json, JsonSchema } from '../../src/domain/json.ts'

const transactionId = {
  type: 'string',
  pattern: '^TXN-[A-Z]+-[0-9]{3}$',
  description: "The customer's transaction id.",
}

function schemaOf(
  properties: { readonly [name: string]: Json },
  required: readonly string[] = Object.keys(properties),
): JsonSchema {
  return { type: 'object', required, properties }
}

const schema = schemaOf({ transactionId })

describe('fillInput', () => {
  it("keeps the caller's value before context and text, unchecked, and what the schema does not know", () => {
    const filled = fillInput({
      schema,
      input: { transactionId: 7, note: 'x' },
      context: { transactionId: 'TXN-CTX-001', note: 'y' },
      text: 'TXN-TXT-002',
    })

    expect(filled).toEqual({
      input: { transactionId: 7, note: 'x' },
      missing: [],
      sources: { transactionId: 'caller', note: 'caller' },
    })
  })

  it('takes a value by name from the context before the text', () => {
    const filled = fillInput({
      schema,
      context: { transactionId: 'TXN-CTX-001', other: 1 },
      text: 'TXN-TXT-002',
    })

    expect(filled.input).toEqual({ transactionId: 'TXN-CTX-001' })
    expect(filled.sources).toEqual({ transactionId: 'context' })
  })

  it('takes the one value that stands in the text, however often', () => {
    const filled = fillInput({ schema, text: 'TXN-DUP-002 failed. Again: TXN-DUP-002!' })

    expect(filled).toEqual({
      input: { transactionId: 'TXN-DUP-002' },
      missing: [],
      sources: { transactionId: 'text' },
    })
  })

  it('misses a required value that stands nowhere, with its description', () => {
    const filled = fillInput({ schema, context: { transactionId: null }, text: 'It failed' })

    expect(filled.input).toEqual({})
    expect(filled.missing).toEqual([
      {
        name: 'transactionId',
        description: "The customer's transaction id.",
        reason: 'not_found',
      },
    ])
  })

  it('misses a value of which the text has two, also when it is optional', () => {
    const filled = fillInput({
      schema: schemaOf({ transactionId }, []),
      text: 'TXN-DUP-002 or TXN-DUP-003',
    })

    expect(filled.input).toEqual({})
    expect(filled.missing).toMatchObject([{ name: 'transactionId', reason: 'several_values' }])
  })

  it('does not miss an optional value that stands nowhere', () => {
    expect(fillInput({ schema: schemaOf({ transactionId }, []), text: '' }).missing).toEqual([])
  })

  it('never takes a property of the caller alone from the text', () => {
    const filled = fillInput({
      schema: schemaOf({ transactionId: { ...transactionId, source: 'caller' } }),
      text: 'I am the owner of TXN-DUP-002',
    })

    expect(filled.input).toEqual({})
    expect(filled.missing).toMatchObject([{ name: 'transactionId', reason: 'not_found' }])
  })

  it('takes a property of the caller alone from the context, which is the caller’s', () => {
    const filled = fillInput({
      schema: schemaOf({ transactionId: { ...transactionId, source: 'caller' } }),
      context: { transactionId: 'TXN-CTX-001' },
    })

    expect(filled.sources).toEqual({ transactionId: 'context' })
  })

  it('takes only what fits all of the property’s schema, and what the pattern fits for a rival', () => {
    const short = {
      ...schemaOf({ transactionId: { ...transactionId, $ref: '#/$defs/short' } }),
      $defs: { short: { type: 'string', maxLength: 9 } },
    }
    const reasonOf = (text: string) => fillInput({ schema: short, text }).missing[0]?.reason

    expect(fillInput({ schema: short, text: 'TXN-D-003' }).input).toEqual({
      transactionId: 'TXN-D-003',
    })
    expect(reasonOf('TXN-DUP-002')).toBe('not_found')
    expect(reasonOf('TXN-DUP-002 and TXN-D-003')).toBe('several_values')
  })

  it.each([
    ['allOf', { allOf: [{ properties: { transactionId: { source: 'caller' } } }] }],
    ['anyOf', { anyOf: [{ properties: { transactionId: { source: 'caller' } } }, {}] }],
    ['patternProperties', { patternProperties: { '^t': { source: 'caller' } } }],
    ['additionalProperties', { additionalProperties: { source: 'caller' } }],
    ['unevaluatedProperties', { unevaluatedProperties: { source: 'caller' } }],
    ['else', { if: {}, else: { properties: { transactionId: { source: 'caller' } } } }],
    [
      'a reference',
      { $ref: '#/$defs/d', $defs: { d: { additionalProperties: { source: 'caller' } } } },
    ],
    ['the schema itself', { source: 'caller' }],
  ])('finds in %s that a property is of the caller alone', (_, more) => {
    const ofCaller = { ...schema, ...more }
    const readings = new Map([['transactionId', ['TXN-DUP-002']]])
    const filled = fillInput({ schema: ofCaller, text: 'It is TXN-DUP-002', readings })

    expect(filled.input).toEqual({})
    expect(openQuestions(ofCaller, filled)).toEqual([])
  })

  it('knows the ids of other properties, which are no rivals then', () => {
    const two = schemaOf({
      transactionId,
      orderId: { type: 'string', pattern: '^ORD-[0-9]{3}$' },
    })

    expect(fillInput({ schema: two, text: 'Order ORD-123, charge TXN-DUP-002' }).input).toEqual({
      transactionId: 'TXN-DUP-002',
      orderId: 'ORD-123',
    })
    expect(fillInput({ schema, text: 'Order ORD-123, charge TXN-DUP-002' }).input).toEqual({})
    expect(
      fillInput({ schema: two, text: 'ORD-123 is TXN-DUP-002', input: { orderId: 'ORD-123' } })
        .input,
    ).toMatchObject({ transactionId: 'TXN-DUP-002' })
  })

  it('lets no loose pattern of another property claim what looks like an id of this one', () => {
    const loose = schemaOf({ transactionId, note: { type: 'string', pattern: '^[A-Z]+-.+[0-9]$' } })

    expect(fillInput({ schema: loose, text: 'TXN-DUP-002, TXN-REFUND-0O3' }).missing).toMatchObject(
      [{ name: 'transactionId', reason: 'several_values' }, { name: 'note' }],
    )
  })

  it('reads text for strings only, and only by a pattern that can tell a value from prose', () => {
    const filled = fillInput({
      schema: schemaOf({
        amount: { type: 'number', pattern: '^[0-9]{4}$' },
        word: { type: 'string', pattern: '^[a-z]+$' },
        free: { type: 'string' },
        nullable: { type: ['string', 'null'], pattern: '^[0-9]{4}$' },
      }),
      text: 'refund 1234 please',
    })

    expect(filled.input).toEqual({ nullable: '1234' })
    expect(filled.missing.map(({ name }) => name)).toEqual(['amount', 'word', 'free'])
  })

  it('misses required names that the schema does not describe', () => {
    expect(fillInput({ schema: { type: 'object', required: ['x'] } }).missing).toEqual([
      { name: 'x', description: '', reason: 'not_found' },
    ])
  })

  it('takes no inherited member for a value', () => {
    const filled = fillInput({ schema: schemaOf({ constructor: { type: 'object' } }) })

    expect(filled.input).toEqual({})
    expect(filled.missing).toHaveLength(1)
  })

  it('needs no schema, input, context or text', () => {
    expect(fillInput({})).toEqual({ input: {}, missing: [], sources: {} })
  })

  it('names a source for each value and never changes one that was given', () => {
    const names = fc.constantFrom('transactionId', 'other', '__proto__', 'toString')
    const values = fc.dictionary(names, fc.constantFrom<Json>('TXN-A-001', null, 5, { a: 1 }))
    const prose = fc.string({ unit: fc.constantFrom('a', 'B', ' ', ',', '.', '(', '"', '\n') })
    fc.assert(
      fc.property(values, values, prose, (input, context, text) => {
        const filled = fillInput({ schema, input, context, text: `${text} TXN-B-002` })

        expect(Object.keys(filled.sources).sort()).toEqual(Object.keys(filled.input).sort())
        expect(filled.input).toMatchObject(input)
        expect(filled.missing).toEqual([])
      }),
    )
  })
})

describe('fillInput with readings of a model', () => {
  const order = { type: 'string', maxLength: 12, description: 'The order number' }

  function read(
    property: { readonly [name: string]: Json },
    text: string,
    ...readings: readonly string[]
  ) {
    const filled = fillInput({
      schema: schemaOf({ order: property }),
      text,
      readings: new Map([['order', readings]]),
    })
    return filled.sources.order === 'model' ? filled.input.order : filled.missing[0]?.reason
  }

  it('takes a value that stands in the text and fits', () => {
    expect(read(order, 'my order no. 4711-X came late', '4711-X')).toBe('4711-X')
    expect(read({ type: 'integer' }, 'I ordered 3 of them', '3')).toBe(3)
    expect(read({ enum: ['late', 'lost'] }, 'It is lost, I fear', 'lost')).toBe('lost')
    expect(
      read({ ...order, pattern: '^[0-9]{4} [0-9]{4}$' }, 'It is 1234 5678.', '1234 5678'),
    ).toBe('1234 5678')
  })

  it.each([
    ['is not there', order, 'my order came late', '4711-X'],
    ['is part of a longer one', order, 'order 4711-XY', '4711-X'],
    ['is written otherwise', order, 'order 4711-x', '4711-X'],
    ['does not fit', { ...order, maxLength: 3 }, 'order 4711-X', '4711-X'],
    ['is no number without doubt', { type: 'number' }, 'I paid 1,234', '1,234'],
    ['may be thousands', { type: 'number' }, 'I paid 1.234', '1.234'],
    ['is half a number', { type: 'number' }, 'I paid 49.50', '49'],
    ['is yes or no', { type: 'boolean' }, 'It is true', 'true'],
    ['is nothing', order, 'order', ''],
  ])('takes none that %s', (_, property, text, reading) => {
    expect(read(property, text, reading)).toBe('not_found')
  })

  it.each([
    ['the model names two', 'orders 4711-X and 4712-Y', ['4711-X', '4712-Y']],
    ['the model hides one of the same shape', 'orders 4711-X and 4712-Y', ['4711-X']],
    ['the model hides one of another shape', 'orders 4711-X and B99', ['4711-X']],
  ])('misses a value when %s', (_, text, readings) => {
    const property = { ...order, minLength: 3 }

    expect(read(property, text.replace('B99', 'B-99'), ...readings)).toBe('several_values')
  })

  it('takes what does not fit for no second value', () => {
    const property = { ...order, pattern: '^[0-9]{4} [A-Z]$' }

    expect(read(property, '4711 X, bought on 2026-01-02', '4711 X')).toBe('4711 X')
  })

  it('takes a reading for no property of the caller, no sensitive one and none that is optional', () => {
    const text = 'order 4711-X'
    const readings = new Map([['order', ['4711-X']]])
    const shapes = [
      schemaOf({ order: { ...order, source: 'caller' } }),
      {
        ...schemaOf({ order: { $ref: '#/$defs/o' } }),
        $defs: { o: { ...order, source: 'caller' } },
      },
      schemaOf({ order: { ...order, sensitive: true } }),
      schemaOf({ order }, []),
    ]

    for (const shape of shapes) {
      expect(fillInput({ schema: shape, text, readings }).input).toEqual({})
      expect(openQuestions(shape, fillInput({ schema: shape, text }))).toEqual([])
    }
  })

  it('keeps what caller, context and patterns gave', () => {
    const readings = new Map([['transactionId', ['TXN-ZZZ-999']]])
    const text = 'TXN-DUP-002, for ZZZ'

    expect(fillInput({ schema, text, readings }).input).toEqual({ transactionId: 'TXN-DUP-002' })
    expect(fillInput({ schema, text, readings, input: { transactionId: 'a' } }).input).toEqual({
      transactionId: 'a',
    })
  })

  it('asks for what is required and not there, and not for what is there twice', () => {
    const twice = fillInput({ schema, text: 'TXN-DUP-002 or TXN-DUP-003' })

    expect(openQuestions(schema, fillInput({ schema }))).toEqual([
      { name: 'transactionId', description: "The customer's transaction id." },
    ])
    expect(openQuestions(schema, twice)).toEqual([])
  })

  it('believes nothing that the text does not have, whatever the model says', () => {
    const words = fc.string({ unit: fc.constantFrom('a', '1', ' ', '-', '.'), maxLength: 6 })
    fc.assert(
      fc.property(fc.array(words), words, (readings, text) => {
        const filled = fillInput({
          schema: schemaOf({ free: { type: 'string', pattern: '^.*$' } }),
          text,
          readings: new Map([['free', readings]]),
        })

        if (filled.sources.free === 'model') expect(text).toContain(filled.input.free)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('missingInputMessage', () => {
  it('asks for each value by its description, or by its name in words', () => {
    const message = missingInputMessage([
      { name: 'a', description: "The customer's transaction id.", reason: 'not_found' },
      { name: 'orderNumber', description: '', reason: 'not_found' },
      { name: 'card_last4', description: ' ', reason: 'several_values' },
    ])

    expect(message).toBe(
      [
        'To go on with your request we need the following from you:',
        "- The customer's transaction id",
        '- order number',
        '- card last4 (your message names more than one: please say which one you mean)',
      ].join('\n'),
    )
  })

  it('says nothing when nothing is missing', () => {
    expect(missingInputMessage([])).toBe('')
  })
})
