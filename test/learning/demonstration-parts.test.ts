import { describe, expect, it } from 'vitest'
import { runOf } from '../../src/learning/demonstration.ts'
import { originOf, type Source, templateOf } from '../../src/learning/demonstration-arguments.ts'
import { factsOf } from '../../src/learning/demonstration-facts.ts'
import { rulesOfFailures, separatingTest } from '../../src/learning/demonstration-guards.ts'
import { parameterSchema, patternOf } from '../../src/learning/demonstration-parameters.ts'
import { patternsOf } from '../../src/learning/demonstration-patterns.ts'
import { type Column, expressionOf, type FactTest, textOf } from '../../src/learning/fact-test.ts'
import { contractOf } from '../support/walk.ts'

const schema = {
  type: 'object',
  properties: {
    state: { type: 'string', enum: ['open', 'shut'] },
    pin: { type: 'string', sensitive: true },
    amount: { type: 'number' },
    code: { type: 'string' },
    refund: { type: 'object', properties: { state: { type: 'string' } } },
  },
}

describe('a summary', () => {
  it.each([
    ['state: open, amount: 12.5', { state: 'open', amount: 12.5 }],
    ['state = open; code=007', { state: 'open', code: '007' }],
    ['code: one, two, amount: 3', { code: 'one, two', amount: 3 }],
    ['{"state":"open","refund":{"state":"none"}}', { state: 'open', 'refund.state': 'none' }],
    ['It is still open.', { state: 'open' }],
    ['It was open and is shut', {}],
    ['pin: 4711', {}],
    ['{"pin":"4711"}', {}],
    ['unknown: 7', {}],
    ['state: null, amount: many', {}],
    ['{"state":', {}],
    ['', {}],
  ])('%s tells %j', (summary, facts) => {
    expect(Object.fromEntries(factsOf(summary, schema))).toEqual(facts)
  })

  it('of a tool without a schema tells what it names', () => {
    expect(Object.fromEntries(factsOf('ok: true, n: -4, who: Ann', undefined))).toEqual({
      ok: true,
      n: -4,
      who: 'Ann',
    })
  })
})

it('takes the same action twice in a row for one, with what the last one answered', () => {
  const action = (outputSummary: string) => ({ tool: 'look', input: { id: 'x' }, outputSummary })
  const demonstration = {
    id: null,
    situation: '',
    actions: [action('n: 1'), action('n: 2'), { ...action('n: 3'), input: {} }, action('n: 4')],
    outcome: '',
    outcomeType: 'success' as const,
    score: 0,
  }

  const { actions } = runOf(demonstration, true, new Map([['look', contractOf('look')]]))

  expect(actions.map(({ facts }) => facts.get('n'))).toEqual([2, 3, 4])
})

describe('a value', () => {
  const id: Source = { reference: 'input.id', isParameter: true, values: ['TXN-1', 'TXN-2'] }
  const amount: Source = {
    reference: 'steps.look.output.amount',
    isParameter: false,
    values: ['40.00', '50.00'],
  }
  const nowhere = ['', '']
  const given = (values: readonly string[], parts = {}) => ({
    values,
    isSensitive: false,
    recurs: false,
    ...parts,
  })
  const originIn = (
    values: readonly string[],
    situations: readonly string[] = nowhere,
    parts: object = {},
  ) => originOf(given(values, parts), [id, amount], situations)

  it.each([
    [['TXN-1', 'TXN-2'], '{{input.id}}'],
    [['40.00', '50.00'], '{{steps.look.output.amount}}'],
    [['USD', 'USD'], 'USD'],
    [
      ['Paid 40.00 for TXN-1.', 'Paid 50.00 for TXN-2.'],
      'Paid {{steps.look.output.amount}} for {{input.id}}.',
    ],
  ])('%j stands as %s', (values, template) => {
    const origin = originIn(values)

    expect(origin && templateOf(origin)).toBe(template)
  })

  it('that nothing explains is a parameter of its own', () => {
    expect(originIn(['Hello', 'Goodbye'])).toBeUndefined()
    expect(originIn(['Paid TXN-1', 'Sent TXN-2'])).toBeUndefined()
  })

  it('is no part of a longer one', () => {
    expect(originIn(['for TXN-12', 'for TXN-22'])).toBeUndefined()
  })

  it('that every situation says is a parameter, though it is always the same', () => {
    expect(originIn(['GOLD', 'GOLD'], ['I have GOLD', 'my GOLD card'])).toBeUndefined()
    expect(originIn(['GOLD', 'GOLD'], ['I have GOLD', 'my card'])).toMatchObject({ value: 'GOLD' })
  })

  it('of one run that recurs in it is a parameter, and a small number is none', () => {
    const one = (value: string | number) =>
      originOf({ values: [value], isSensitive: false, recurs: true }, [], [''])

    expect(one('GOLD')).toBeUndefined()
    expect(one(3)).toEqual({ kind: 'literal', value: 3 })
  })
})

describe('a condition', () => {
  const column = (values: Column['values'], parts: Partial<Column> = {}): Column => ({
    reference: 'steps.look.output.x',
    label: 'the x of look',
    values,
    listed: [],
    isOptional: false,
    place: 0,
    ...parts,
  })

  it.each<[FactTest, string, string]>([
    [{ kind: 'in', values: ['a'] }, "has(X) && X == 'a'", 'The x of look is a'],
    [
      { kind: 'in', values: ['a', true] },
      "has(X) && X in ['a', true]",
      'The x of look is a or true',
    ],
    [{ kind: 'notIn', values: ["it's"] }, 'has(X) || X != "it\'s"', "The x of look is not it's"],
    [
      { kind: 'notIn', values: ['a', 'b'] },
      "has(X) || !(X in ['a', 'b'])",
      'The x of look is none of a, b',
    ],
    [{ kind: 'atMost', limit: 5 }, 'has(X) && X <= L', 'The x of look is at most 5'],
    [{ kind: 'below', limit: 5 }, 'has(X) && X < L', 'The x of look is below 5'],
  ])('asks first whether there is a value that may be absent: %j', (test, expression, text) => {
    const wanted = expression
      .replaceAll('X', 'steps.look.output.x')
      .replace('has(', test.kind === 'notIn' ? '!has(' : 'has(')

    expect(expressionOf(column([], { isOptional: true }), test, 'L')).toBe(wanted)
    expect(textOf(column([]), test)).toBe(text)
  })

  it('lets through what was seen, and no more', () => {
    expect(separatingTest([column([10, 20, 90])], [0, 1], [2])?.test).toEqual({
      kind: 'atMost',
      limit: 20,
    })
    expect(separatingTest([column([10, 20, 90])], [2], [0, 1])?.test).toEqual({
      kind: 'atLeast',
      limit: 90,
    })
    expect(separatingTest([column([10, 30, 20])], [0, 1], [2])).toBeUndefined()
  })

  it('is about what a schema lists before what only happens to differ', () => {
    const figures = column([1, 2, 9, 9, 9, 9])
    const listed = column(['a', 'a', 'b', 'b', 'b', 'b'], { listed: ['a', 'b', 'c'] })

    expect(separatingTest([figures, listed], [0, 1], [2, 3, 4, 5])).toMatchObject({
      column: listed,
      test: { kind: 'in', values: ['a'] },
    })
  })

  it('is made of words that come again, and of no names', () => {
    const names = column(['Ann', 'Bea', 'Carl', 'Dora'])
    const words = column(['gold', 'gold', 'gold', 'gold', 'gold', 'lead'])

    expect(rulesOfFailures([names], [0, 1], [2, 3])).toEqual([])
    expect(rulesOfFailures([words], [0, 1, 2, 3, 4], [5])).toMatchObject([
      { test: { kind: 'in', values: ['lead'] }, failures: [5] },
    ])
  })

  it('tells most failures first, and none of a value that is not known', () => {
    const listed = ['a', 'b', 'c']
    const first = column(['a', 'a', 'b', 'a', undefined], { listed })
    const second = column(['a', 'a', 'b', 'b', undefined], { listed })

    expect(rulesOfFailures([first, second], [0, 1], [2, 3, 4])).toMatchObject([
      { column: second, failures: [2, 3] },
    ])
  })
})

describe('a parameter', () => {
  it.each([
    [['TXN-DUP-101', 'TXN-DUP-102', 'TXN-REF-9'], '^TXN-[A-Z]{3}-[0-9]{1,3}$'],
    [['TXN-DUP-101', 'TXN-DUP-102', 'TXN-DUP-103'], '^TXN-DUP-[0-9]{3}$'],
    [['a.1/b', 'a.2/b', 'a.33/b'], String.raw`^a\.[0-9]{1,2}\/b$`],
    [['a@b#1', 'a@b#2', 'a@b#3'], '^a@b#[0-9]{1}$'],
    [['TXN-DUP-101', 'TXN-DUP-102'], undefined],
    [['TXN-1', 'TXN-2', 'order 3'], undefined],
    [['gold', 'lead', 'iron'], undefined],
    [['R1', 'R2', 'R3'], undefined],
    [[1001, 1002, 1003], undefined],
    [['１２３４', '５６７８', '９０１２'], undefined],
  ])('of values like %j has the pattern %s', (values, pattern) => {
    expect(patternOf(values)).toBe(pattern)
    if (pattern !== undefined) {
      for (const value of values) expect(value).toMatch(new RegExp(pattern, 'u'))
    }
  })

  it('has what the schema of the tool says, and a pattern only where that says none', () => {
    const ids = ['TXN-1', 'TXN-2', 'TXN-3']

    expect(parameterSchema({ type: 'string', pattern: '^TXN' }, ids).pattern).toBe('^TXN')
    expect(parameterSchema({ type: 'string', sensitive: true }, ids)).toEqual({
      type: 'string',
      sensitive: true,
    })
    expect(parameterSchema(undefined, ids)).toEqual({ type: 'string', pattern: '^TXN-[0-9]{1}$' })
    expect(parameterSchema(undefined, [1, 'a'])).toEqual({})
  })
})

describe('wordings', () => {
  it('are those that situations share, without values', () => {
    expect(
      patternsOf([
        'Hello, Ann Miller here: I was charged twice for TXN-1',
        'Why was I charged twice? write to bob@example.com',
        'charged twice for TXN-2',
      ]),
    ).toEqual(['charged twice'])
  })

  it('of one situation are its first words', () => {
    expect(patternsOf(['Please refund TXN-1 at once', 'Please refund TXN-1 at once'])).toEqual([
      'Please refund',
    ])
  })

  it('are found in other scripts', () => {
    expect(patternsOf(['我的退款在哪里 123', '请问退款在哪里'])).toEqual(['退款在哪里'])
  })
})
