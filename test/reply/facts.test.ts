import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import { claimsOf, saysClaim, touchesClaim } from '../../src/reply/claims.ts'
import { labelOf } from '../../src/reply/fact-label.ts'
import { numberFacts, type RecordedValue, sensitiveValues } from '../../src/reply/facts.ts'
import { withhold } from '../../src/reply/withhold.ts'

function output(
  subject: string,
  value: JsonObject,
  more: Partial<RecordedValue> = {},
): RecordedValue {
  const properties = Object.fromEntries(Object.keys(value).map((name) => [name, {}]))
  const standard = { schema: { properties }, states: [], calledWith: { id: 1 } }
  return { stepKey: subject, subject, value, ...standard, ...more }
}

function labels(recorded: readonly RecordedValue[], withheld: readonly Json[] = []) {
  return numberFacts(recorded, withheld).map(({ text, label }) => [
    text,
    label === null ? null : [...label.words, ...label.unit].join(' '),
  ])
}

describe('labelOf', () => {
  it.each([
    ['check_refund', ['etaBusinessDays'], true, ['refund', 'eta'], ['business', 'days']],
    ['check_refund', ['status'], false, ['refund', 'state'], []],
    ['', ['transactionId'], false, ['transaction', 'id'], []],
    ['getOrder', ['items', 0, 'weight_percent'], true, ['order', 'items', 'weight'], ['percent']],
    ['check_refund', ['dueDays'], false, ['refund', 'due', 'days'], []],
  ] as const)('names %s %j', (subject, path, isNumber, words, unit) => {
    expect(labelOf(subject, path, isNumber, new Set())).toEqual({ words, unit })
  })

  it('has no word that states something by itself', () => {
    const states = new Set(['refunded', 'refund'])

    expect(labelOf('check_refund', ['refundedTwice'], false, states)).toBeUndefined()
    expect(labelOf('check', ['theTwoThings'], false, states)).toEqual({
      words: ['things'],
      unit: [],
    })
    expect(labelOf('prüfen', ['日付'], false, states)).toEqual({ words: ['pr', 'fen'], unit: [] })
  })
})

describe('numberFacts', () => {
  it('numbers texts and numbers of one line, and leaves out the rest', () => {
    const found = labels([
      output('check_order', {
        name: 'Blue kettle',
        count: 2,
        paid: true,
        none: null,
        long: 'x'.repeat(101),
        lines: 'a\nb',
        link: 'see https://x.example',
        site: 'www.x.example',
        markup: '<b>x</b>',
        mark: '[[f1]]',
        bold: '**x**',
        hidden: 'a\u200bb',
        padded: ' x',
        empty: '',
      }),
    ])

    expect(found).toEqual([
      ['Blue kettle', 'order name'],
      ['2', 'order count'],
    ])
  })

  it('leaves out what is sensitive, and every text that holds it', () => {
    const secret = output(
      'show_card',
      { number: '4111-1111', note: 'card 41111111 ends', holder: 'Ann' },
      { schema: { properties: { number: { sensitive: true }, note: {}, holder: {} } } },
    )

    expect(sensitiveValues([secret])).toEqual(['4111-1111'])
    expect(labels([secret], sensitiveValues([secret]))).toEqual([['Ann', 'card holder']])
  })

  it('lets the later of two equal calls be named, and the first of equal values', () => {
    const early = output('check_refund', { state: 'none', eta: '5' })
    const late = output('issue_refund', { state: 'submitted', eta: '5' })

    expect(labels([early, late])).toEqual([
      ['none', null],
      ['5', 'refund eta'],
      ['submitted', 'refund state'],
      ['5', null],
    ])
  })

  it('lets neither of two values with one label be named that look at different things', () => {
    const one = output('check_refund', { state: 'none' })
    const two = output('check_refund', { state: 'submitted' }, { calledWith: { id: 2 } })
    const computed = output('refund', { state: 'open' }, { calledWith: null })

    expect(labels([one, two])).toEqual([
      ['none', null],
      ['submitted', null],
    ])
    expect(labels([one, computed]).map(([, label]) => label)).toEqual([null, null])
  })

  it('lets nothing be named by names that are data, and no prose of the input', () => {
    const data = output('show', { 'refund issued': 'x' }, { schema: {} })
    const input = output('', { wish: 'five hundred dollars', order: 'A-1' }, { stepKey: null })

    expect(labels([data, input])).toEqual([
      ['x', null],
      ['five hundred dollars', null],
      ['A-1', 'order'],
    ])
  })

  it('leaves out a sensitive value that is too short to be looked for', () => {
    const schema = { properties: { age: { sensitive: true }, name: {} } }

    expect(labels([output('show', { age: 42, name: 'Ann' }, { schema })], [42])).toEqual([
      ['Ann', 'name'],
    ])
  })

  it('asks for the whole label where a shorter one would name two values', () => {
    const required = (value: JsonObject) =>
      numberFacts([output('find_order', value)], []).map(({ label }) => label?.required)

    expect(required({ id: 'A-1', name: 'Kettle' })).toEqual([['order'], ['order', 'name']])
    expect(required({ id: 'A-1', number: 'B-2' })).toEqual([
      ['order', 'id'],
      ['order', 'number'],
    ])
  })

  it('writes the path as a template does', () => {
    const [fact] = numberFacts([output('check', { items: [{ a: 'x' }] })], [])

    expect(fact).toMatchObject({
      mark: 'f1',
      path: 'steps.check.output.items[0].a',
      stepKey: 'check',
    })
  })
})

describe('claimsOf', () => {
  const contract = { name: 'issue_refund', claims: ['a refund was issued'], states: [] }
  const claimOf = (...outputs: readonly Json[]) => {
    const [claim] = claimsOf([{ contract, outputs }])
    if (claim === undefined) throw new TypeError('there is one claim')
    return claim
  }
  const words = (text: string): readonly string[] => text.toLowerCase().split(' ')

  it('bears out what a completed call did, unless its output says no', () => {
    expect(claimOf().isSupported).toBe(false)
    expect(claimOf({ issued: true }).isSupported).toBe(true)
    expect(claimOf({ issued: false }).isSupported).toBe(false)
    expect(claimOf({ issued: true }, { refundIssued: false }).isSupported).toBe(false)
    expect(claimOf({ other: false }).isSupported).toBe(true)
    expect(claimOf(null).isSupported).toBe(true)
  })

  it.each(['A refund was issued', 'We have issued your refund', 'Your refund has been issued'])(
    'hears the claim in: %s',
    (text) => {
      expect(saysClaim(words(text), claimOf())).toBe(true)
    },
  )

  it.each([
    'A refund was not issued',
    'A refund will be issued',
    'We have issued it',
    'Your refund',
    'Two refunds were issued',
    'A refund was issued to another customer',
    'You have issued a refund',
  ])('does not hear it in: %s', (text) => {
    expect(saysClaim(words(text), claimOf())).toBe(false)
  })

  it('keeps the order of three words and more', () => {
    const [claim] = claimsOf([
      { contract: { ...contract, claims: ['the customer was charged by the shop'] }, outputs: [1] },
    ])
    if (claim === undefined) throw new TypeError('there is one claim')

    expect(saysClaim(words('you were charged by the shop'), claim)).toBe(true)
    expect(saysClaim(words('the shop was charged by you'), claim)).toBe(false)
    expect(touchesClaim(words('the shop says you were charged by us'), claim)).toBe(true)
  })
})

describe('withhold', () => {
  it('finds a value whatever its case, spaces and dashes', () => {
    const text = 'My card 4111 1111-1111 and PIN-x9, or pinX9.'

    expect(withhold(text, ['411111111111', 'pin x9'])).toBe(
      'My card [withheld] and [withheld], or [withheld].',
    )
  })

  it('leaves a text alone without values, and values alone that are too short to mean anything', () => {
    expect(withhold('a b c - -', ['a', '- -', '', 1, true, null])).toBe('a b c - -')
  })

  it('takes the longer of two values first, and no value for a pattern', () => {
    expect(withhold('abc.def abc', ['abc', 'abc.def', '.*.*'])).toBe('[withheld] [withheld]')
  })
})
