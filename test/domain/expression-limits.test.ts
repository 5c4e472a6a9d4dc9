import { describe, expect, it } from 'vitest'
import { evaluate, parsed, problemsOf } from './expression-scope.ts'

const listOf = (length: number) => Array.from({ length }, (_, index) => index)

describe('limits of an expression when it is read', () => {
  it('takes 500 parts and refuses 501', () => {
    const chain = (parts: number) => Array.from({ length: (parts + 1) / 2 }, () => '1').join(' + ')

    expect(problemsOf(chain(499))).toBe('')
    expect(problemsOf(chain(501))).toContain('more than 500 parts')
  })

  it('reports that there are too many parts, and nothing of what it did not look at', () => {
    const source = `${'1 + '.repeat(4_000)}foo`

    expect(problemsOf(source)).toBe('the expression has more than 500 parts; split it up')
  })

  it('takes 40 levels and refuses 41', () => {
    const nested = (levels: number) => `${'['.repeat(levels - 1)}1${']'.repeat(levels - 1)}`

    expect(problemsOf(nested(40))).toBe('')
    expect(problemsOf(nested(41))).toContain('deeper than 40 levels')
    expect(problemsOf(nested(3_000))).toContain('deeper than 40 levels')
  })

  it.each([
    ['a chain of links', `input${'.a'.repeat(3_000)}`],
    ['a run of !', `${'!'.repeat(16_000)}true`],
    ['a run of -', `${'-'.repeat(16_000)}1`],
    ['parentheses', `${'('.repeat(8_000)}1${')'.repeat(8_000)}`],
    ['conditions', `${'true ? '.repeat(1_000)}1${' : 1'.repeat(1_000)}`],
  ])('refuses %s without end', (_, source) => {
    expect(problemsOf(source)).toContain('deeper than 40 levels')
  })

  it('counts a chain of && as one level', () => {
    expect(problemsOf(Array.from({ length: 100 }, () => 'true').join(' && '))).toBe('')
  })

  it('refuses a source above 16,384 characters with both figures', () => {
    expect(problemsOf(`${' '.repeat(16_383)}1`)).toBe('')
    expect(problemsOf(`${' '.repeat(16_384)}1`)).toContain('16,385 characters; at most 16,384')
  })

  it('takes macros two deep and refuses three', () => {
    expect(problemsOf('[1].all(x, [2].all(y, x < y))')).toBe('')
    expect(problemsOf('[1].all(x, [2].all(y, [3].all(z, true)))')).toContain('at most 2 deep')
    expect(problemsOf('[1].all(x, true) && [1].map(x, x) == [1]')).toBe('')
  })

  it('bounds the patterns of matches()', () => {
    expect(problemsOf(`input.x.matches('${'a'.repeat(501)}')`)).toContain('at most 500')
    expect(problemsOf("input.x.matches('(a{100}){10}b{1000}(c{100}){10}')")).toContain(
      'at most 2,000',
    )
  })
})

describe('limits of an expression when it runs', () => {
  it('walks 1,000 items and refuses 1,001', () => {
    expect(evaluate('input.all(x, x >= 0)', { input: listOf(1_000) })).toBe(true)
    expect(() => evaluate('input.all(x, x >= 0)', { input: listOf(1_001) })).toThrow(
      'a list of 1,001 items; at most 1,000',
    )
    expect(() => evaluate('sum(input)', { input: listOf(1_001) })).toThrow('at most 1,000')
    expect(() => evaluate('input + [1]', { input: listOf(1_000) })).toThrow('at most 1,000')
    expect(() => evaluate('range(1001)')).toThrow('at most 1,000')
    expect(() => evaluate("input.split(',')", { input: ','.repeat(1_000) })).toThrow('1,001 items')
  })

  it('indexes, measures and searches longer lists', () => {
    const input = listOf(5_000)

    expect(evaluate('input[4999] == size(input) - 1 && 4000 in input', { input })).toBe(true)
  })

  it('builds texts of 65,536 characters and no longer ones', () => {
    const input = 'a'.repeat(40_000)

    expect(evaluate("size(input + 'b')", { input })).toBe(40_001)
    expect(() => evaluate('input + input', { input })).toThrow('a text of 80,000 characters')
    expect(() => evaluate("[input, input].join('')", { input })).toThrow('at most 65,536')
    expect(() => evaluate("input.replace('a', 'bbbb')", { input })).toThrow('at most 65,536')
    expect(() =>
      evaluate("(input + input.substring(0, 20000)).replace('a', 'ß').upper()", { input }),
    ).toThrow('at most 65,536')
  })

  it('stops after 1,000,000 units of work, the same for the same scope', () => {
    const source = 'input.all(x, input.all(y, x + y + x + y >= 0))'

    const failures = [1, 2].map(() => {
      try {
        return evaluate(source, { input: listOf(1_000) })
      } catch (error) {
        return String(error)
      }
    })

    expect(failures[0]).toContain('more than 1,000,000 units of work')
    expect(failures[1]).toBe(failures[0])
  })

  it.each([
    ["range(1000).all(i, range(1000).all(j, !input.contains('b' + ticket)))", 'search'],
    ['range(1000).all(i, range(1000).all(j, input != input + "a"))', 'comparison'],
    ["range(1000).all(i, range(1000).all(j, !input.matches('(a|b|ab)*c')))", 'pattern'],
    ['range(1000).all(i, range(1000).all(j, size(input) > 0))', 'measure'],
    ['range(1000).all(i, range(1000).all(j, size(policy) > 0))', 'keys'],
    ['range(1000).all(i, range(1000).all(j, policy == {}) || true)', 'objects'],
    ['range(1000).all(i, range(1000).all(j, input.lower() == input))', 'case'],
    ["range(1000).all(i, range(1000).all(j, size(input.split('z')) == 1))", 'split'],
    ['range(1000).all(i, range(1000).all(j, addWorkdays(now, 1000) > now))', 'calendar'],
  ])('ends in bounded time: %s', { timeout: 10_000 }, (source) => {
    const input = 'a'.repeat(60_000)
    const policy = Object.fromEntries(listOf(10_000).map((key) => [`k${key}`, key]))

    const execution = listOf(1_000)
    expect(() => evaluate(source, { input, ticket: 'a'.repeat(1_000), policy, execution })).toThrow(
      'units of work',
    )
  })

  it('refuses a result that small parts named many times make large', () => {
    const input = 'a'.repeat(60_000)

    expect(() => evaluate('range(1000).map(i, range(1000).map(j, input))', { input })).toThrow(
      /longer than 1,048,576 characters|units of work/,
    )
    expect(() => evaluate('range(100).map(i, input)', { input })).toThrow('1,048,576 characters')
  })

  it('refuses a result that is nested too deep', () => {
    const input = JSON.parse(`${'['.repeat(90)}1${']'.repeat(90)}`)

    expect(evaluate('[[input]]', { input })).toBeDefined()
    expect(() => evaluate('[[[[[[[[[[[input]]]]]]]]]]]', { input })).toThrow(
      'deeper than 100 levels',
    )
  })

  it('keeps no work from one evaluation to the next', () => {
    const expression = parsed('input.all(x, input.all(y, x + y >= 0 || true))')
    const scope = { input: listOf(300), ticket: {}, policy: {}, steps: {}, execution: {}, now: 0 }

    for (let round = 0; round < 5; round += 1) expect(expression.evaluate(scope)).toBe(true)
  })
})
