import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillInput, missingInputMessage } from '../../src/domain/fill-input.ts'
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

  it('counts only values that fit all of the property’s schema', () => {
    const filled = fillInput({
      schema: {
        ...schemaOf({ transactionId: { ...transactionId, $ref: '#/$defs/short' } }),
        $defs: { short: { type: 'string', maxLength: 9 } },
      },
      text: 'TXN-DUP-002 and TXN-D-003',
    })

    expect(filled.input).toEqual({ transactionId: 'TXN-D-003' })
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
    fc.assert(
      fc.property(values, values, fc.string(), (input, context, text) => {
        const filled = fillInput({ schema, input, context, text: `${text} TXN-B-002` })

        expect(Object.keys(filled.sources).sort()).toEqual(Object.keys(filled.input).sort())
        expect(filled.input).toMatchObject(input)
        expect(filled.missing).toEqual([])
      }),
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
