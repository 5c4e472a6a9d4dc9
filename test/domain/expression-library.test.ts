import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  add,
  decimalText,
  divide,
  multiply,
  remainder,
  round,
  subtract,
  sum,
} from '../../src/domain/expression/decimal.ts'
import {
  addWorkdays,
  type Calendar,
  defaultCalendar,
  findInstant,
  instantText,
  workdaysBetween,
} from '../../src/domain/expression/time.ts'
import { evaluate } from './expression-scope.ts'

const cents = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 })
const money = (amount: number) => Number(`${amount}e-2`)
const instants = fc.integer({
  min: Date.parse('1950-01-01T00:00:00Z'),
  max: Date.parse('2150-01-01T00:00:00Z'),
})

describe('decimal arithmetic', () => {
  it('adds, subtracts and multiplies money as integers of cents would', () => {
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        expect(add(money(a), money(b))).toBe(money(a + b))
        expect(subtract(money(a), money(b))).toBe(money(a - b))
        expect(multiply(money(a), 100)).toBe(a)
        if (b !== 0) expect(remainder(money(a), money(b))).toBe(money(a % b))
      }),
    )
  })

  it('divides to the nearest number, exactly where there is an exact one', () => {
    fc.assert(
      fc.property(cents, fc.integer({ min: 1, max: 9_999 }), (a, b) => {
        expect(divide(multiply(money(a), b), b)).toBe(money(a))
        expect(divide(money(a), money(b))).toBe(a / b)
      }),
    )
  })

  it('sums to the same number in any order', () => {
    const numbers = fc.double({ noNaN: true, min: -1e12, max: 1e12 })
    fc.assert(
      fc.property(fc.array(numbers, { maxLength: 20 }), (items) => {
        expect(sum(items.toReversed())).toBe(sum(items))
      }),
    )
    expect(sum([0.1, 0.2, 0.3])).toBe(0.6)
    expect(sum([1e15, 0.1, -1e15])).toBe(0.1)
  })

  it('never gives what is no number', () => {
    const any = fc.double({ noNaN: true, min: -9e15, max: 9e15 })
    fc.assert(
      fc.property(any, any, (a, b) => {
        for (const operation of [
          add,
          subtract,
          multiply,
          ...(b === 0 ? [] : [divide, remainder]),
        ]) {
          expect(operation(a, b)).not.toBeNaN()
        }
      }),
    )
  })

  it.each([
    [2.675, 2, 2.68],
    [1.005, 2, 1.01],
    [-2.5, 0, -3],
    [2.5, 0, 3],
    [1e-7, 3, 0],
    [123.456, 0, 123],
    [5e-324, 15, 0],
    [0.1 + 0.2, 15, 0.3],
  ])('rounds %d to %d places as %d', (value, places, expected) => {
    expect(round(value, places)).toBeCloseTo(expected, 20)
    expect(decimalText(round(value, places))).toBe(decimalText(expected))
  })

  it('writes numbers without an exponent, so that they read back as they were', () => {
    expect(decimalText(1e-7)).toBe('0.0000001')
    expect(decimalText(-1.5e-9)).toBe('-0.0000000015')
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -9e15, max: 9e15 }), (value) => {
        expect(decimalText(value)).not.toContain('e')
        expect(Number(decimalText(value)) === value).toBe(true)
      }),
    )
  })
})

describe('instants', () => {
  it.each([
    ['2026-11-29', '2026-11-29T00:00:00.000Z'],
    ['2026-11-29T10:00:00Z', '2026-11-29T10:00:00.000Z'],
    ['2026-11-29t10:00:00.123456z', '2026-11-29T10:00:00.123Z'],
    ['2026-11-29T10:00:00+02:00', '2026-11-29T08:00:00.000Z'],
    ['2026-11-29T10:00:00.5-00:30', '2026-11-29T10:30:00.500Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ])('reads %s', (text, expected) => {
    expect(instantText(findInstant(text) ?? 0)).toBe(expected)
  })

  it.each([
    '2026-02-29',
    '2026-13-01',
    '2026-11-29T24:00:00Z',
    '2026-11-29T10:60:00Z',
    '2026-11-29T10:00:60Z',
    '2026-11-29T10:00:00',
    '2026-11-29 10:00:00Z',
    '2026-11-29T10:00:00+24:00',
    '0000-01-01T00:00:00+01:00',
    '2026-11-29T10:00Z',
    '29.11.2026',
    '',
    'tomorrow',
  ])('takes %j for no instant', (text) => {
    expect(findInstant(text)).toBeUndefined()
  })

  it('reads back what it writes', () => {
    fc.assert(
      fc.property(instants, (at) => {
        expect(findInstant(instantText(at))).toBe(at)
      }),
    )
  })

  it.each([
    ["addDays('2024-02-28', 2)", '2024-03-01T00:00:00.000Z'],
    ["addHours('2026-11-29', -0.5)", '2026-11-28T23:30:00.000Z'],
    ["daysBetween('2026-11-29T23:59:00Z', '2026-11-30T00:01:00Z')", 1],
    ["daysBetween('2026-11-30', '2026-11-29')", -1],
    ["yearsBetween('2004-02-29', '2026-02-28')", 21],
    ["yearsBetween('2004-02-29', '2026-03-01')", 22],
    ["yearsBetween('2026-03-01', '2004-02-29')", -22],
    ["yearsBetween('2026-01-01', '2026-01-01')", 0],
    ["[year('2026-11-29'), month('2026-11-29'), day('2026-11-29')]", [2026, 11, 29]],
    ["[hour('2026-11-29T10:59:59Z'), weekday('2026-11-29')]", [10, 7]],
    ["min(timestamp('2026-11-29'), timestamp('2026-11-28'))", '2026-11-28T00:00:00.000Z'],
    ["timestamp('2026-11-29') == timestamp('2026-11-29T01:00:00+01:00')", true],
    ["string(date('2026-11-29T10:00:00Z'))", '2026-11-29T00:00:00.000Z'],
  ])('%s is %j', (source, expected) => {
    expect(evaluate(source)).toEqual(expected)
  })

  it.each([
    ["addDays('9999-12-31', 1)", 'outside the years 0000 to 9999'],
    ["addDays('2026-11-29', 0.5)", 'a whole number as argument 2'],
    ["addDays('2026-11-29', 9007199254740991)", 'outside the years'],
    ["addWorkdays('2026-11-29', 100000)", 'at most 3660 days'],
    ["workdaysBetween('1900-01-01', '2026-01-01')", 'at most 3660 days'],
    ["timestamp('soon')", 'found another text'],
    ['timestamp(5)', 'found a number'],
  ])('%s fails: %s', (source, message) => {
    expect(() => evaluate(source)).toThrow(message)
  })
})

describe('working days', () => {
  const calendar: Calendar = { weekdays: [1, 2, 3, 4, 5], holidays: ['2026-12-25', '2026-12-28'] }

  it('skips weekends and holidays, and keeps the time of day', () => {
    const scope = { calendar }

    expect(evaluate("addWorkdays('2026-12-24T09:30:00Z', 1)", scope)).toBe(
      '2026-12-29T09:30:00.000Z',
    )
    expect(evaluate("addWorkdays('2026-12-29T09:30:00Z', -1)", scope)).toBe(
      '2026-12-24T09:30:00.000Z',
    )
    expect(evaluate("workdaysBetween('2026-12-24', '2026-12-31')", scope)).toBe(3)
    expect(evaluate("workdaysBetween('2026-12-24', '2026-12-31')")).toBe(5)
  })

  it('leaves an instant as it is for 0 days, on a Sunday too', () => {
    expect(evaluate("addWorkdays('2026-11-29', 0)")).toBe('2026-11-29T00:00:00.000Z')
  })

  it('fails rather than search for ever in a calendar without working days', () => {
    expect(() => addWorkdays(0, 1, { weekdays: [], holidays: [] })).toThrow('at most 3660 days')
  })

  it('counts back what was added, for any calendar', () => {
    const calendars = fc.record({
      weekdays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      holidays: fc.array(
        instants.map((at) => instantText(at).slice(0, 10)),
        { maxLength: 20 },
      ),
    })
    fc.assert(
      fc.property(instants, fc.integer({ min: 0, max: 300 }), calendars, (at, days, chosen) => {
        expect(workdaysBetween(at, addWorkdays(at, days, chosen), chosen)).toBe(days)
      }),
    )
    expect(workdaysBetween(0, addWorkdays(0, 7, defaultCalendar), defaultCalendar)).toBe(7)
  })
})

describe('functions on texts and lists', () => {
  it.each([
    ["'ÄB'.lower() + 'ß'.upper()", 'äbSS'],
    ["'  a '.trim()", 'a'],
    ["''.split(',')", ['']],
    ["'a,b,'.split(',')", ['a', 'b', '']],
    ["[].join(',')", ''],
    ["'aaa'.replace('a', 'b')", 'bbb'],
    ["'a.c'.replace('.', '$&')", 'a$&c'],
    ["'😀é'.substring(1)", 'é'],
    ["'abc'.substring(1, 1)", ''],
    ["'abc'.startsWith('ab') && 'abc'.endsWith('bc') && 'abc'.contains('')", true],
    ["'ABC'.matches('(?i)abc')", true],
    ["'a\\nb'.matches('a.b')", false],
    ['sum([])', 0],
    ['min([3, 1, 2]) + max([3, 1, 2])', 4],
    ["max('a', 'c', 'b')", 'c'],
    ['[floor(-1.5), ceil(-1.5), abs(-1.5), ceil(-0.5)]', [-2, -1, 1.5, 0]],
    ['range(0)', []],
    ["[1, '1', 1, true].distinct()", [1, '1', true]],
    ["['b', 'B', 'a'].sort()", ['B', 'a', 'b']],
    ["[string(true), string(1.50), string('x')]", ['true', '1.5', 'x']],
    ["[number('-0.5'), number('0'), number('-0'), number('12.30')]", [-0.5, 0, 0, 12.3]],
    ["size({'a': 1}) + size([1, 2]) + size('')", 3],
  ])('%s is %j', (source, expected) => {
    expect(evaluate(source)).toEqual(expected)
  })

  it.each([
    ["'a'.split('')", 'at least one character'],
    ["'a'.replace('', 'b')", 'at least one character'],
    ["'abc'.substring(2, 1)", 'substring() expects'],
    ["'abc'.substring(0, 4)", 'substring() expects'],
    ["'abc'.substring(-1)", 'substring() expects'],
    ['min([])', 'min() of an empty list'],
    ['max([])', 'max() of an empty list'],
    ["max(1, 'a')", 'have an order'],
    ['round(1, 16)', '0 to 15'],
    ['round(1, 1.5)', 'a whole number'],
    ['range(-1)', 'not negative'],
    ["sum([1, '1'])", 'sum() expects a list of numbers as its argument; found another list'],
    ['join([1], 1)', 'join() expects a list of texts as argument 1'],
    ['size(1)', 'size() expects a text, a list or an object'],
    ['string(null)', 'found null'],
    ['[[1]].distinct()', 'distinct() expects'],
    ["[{'a': 1}].sortBy(x, x)", 'found an object'],
    ['lower(null)', 'lower() expects a text as its argument; found null'],
    ...['', ' 1', '+1', '01', '1.', '.5', '1e3', 'NaN', 'Infinity', '0x1', '1_000', '１'].map(
      (text): [string, string] => [`number('${text}')`, 'number() expects a text such as'],
    ),
    ["number('9007199254740993')", 'beyond 2^53'],
  ])('%s fails: %s', (source, message) => {
    expect(() => evaluate(source)).toThrow(message)
  })
})
