import { describe, expect, it } from 'vitest'
import {
  compileExpression,
  ExpressionFailed,
  isGuarded,
  parseExpression,
} from '../../src/domain/expression.ts'
import { evaluate, parsed, problemsOf, scopeWith } from './expression-scope.ts'

/** Input with something of every kind, and a read that always fails. */
const input = {
  yes: true,
  text: 'abc',
  number: 3,
  none: null,
  list: [1, 2, 3],
  object: { a: 1 },
  mixed: [null, 'a', 1],
}
const value = (source: string) => evaluate(source, { input })

describe('evaluating an expression', () => {
  it.each([
    ['0.1 + 0.2', 0.3],
    ['0.3 - 0.1', 0.2],
    ['1.1 * 1.1', 1.21],
    ['4.35 * 100', 435],
    ['0.3 / 0.1', 3],
    ['1 / 3', 1 / 3],
    ['0.3 % 0.1', 0],
    ['-7 % 3', -1],
    ['5.5 % -2', 1.5],
    ['9007199254740990 + 1', 9007199254740991],
    ['0xff + 1', 256],
    ['1e3 + 1', 1001],
    ['-0', 0],
    ['0 * -1', 0],
    ['-(-0.5)', 0.5],
    ['1 + 2 * 3 - 4 / 2', 5],
    ["'a' + 'b'", 'ab'],
    ['[1] + [2]', [1, 2]],
    ["{'a': 1 + 1}", { a: 2 }],
    ["'b' > 'a' && 'B' < 'a'", true],
    ['true ? 1 : 2', 1],
    ['!input.yes', false],
    ['null', null],
    ['input.none', null],
    ["null in input.mixed && 'a' in input.mixed", true],
    ["'a' in input.object && !('b' in input.object)", true],
    ['input.list[0] == input.number - 2', true],
    ["input['text']", 'abc'],
    ['[[1, {"a": null}]] == [[1, {"a": null}]]', true],
    ['[1, 2] == [2, 1]', false],
    ['{"a": 1} != {"a": 1, "b": 2}', true],
    ['[1] == ["1"]', false],
    ['[].all(x, false)', true],
    ['[].exists(x, true)', false],
    ['input.list.exists_one(x, x > 2)', true],
    ['input.list.exists_one(x, x > 1)', false],
    ['input.list.map(x, x > 1, x * 2)', [4, 6]],
    ['input.list.map(x, input.list.filter(y, y < x))', [[], [1], [1, 2]]],
    ['input.list.map(x, x).map(x, x + 1)', [2, 3, 4]],
    ['{"b": 1, "a": 2}.map(key, key)', ['a', 'b']],
    ['[3, 1, 2].sortBy(x, -x)', [3, 2, 1]],
    ['has(input.object.a) && !has(input.object.b) && !has(input.none)', true],
    ['input.list.all(x, has(input.list[x - 1]))', true],
    ['[{"a": 1}, {}].map(x, has(x.a))', [true, false]],
    ["r'\\d'", '\\d'],
    ['1 // a comment', 1],
  ])('%s is %j', (source, expected) => {
    expect(value(source)).toEqual(expected)
  })

  it.each([
    ['input.absent', 'input.absent is absent'],
    ['input.text.length', 'input.text is a text, which has no fields'],
    ['input.list.size', 'input.list is a list, which has no fields'],
    ['input.list[-1 + 0]', 'is absent: the list has 3 items'],
    ['input.list[input.number / 2]', 'is absent'],
    ["input.list['0']", 'a list was indexed by a text'],
    ['input.object[0]', 'an object was indexed by a number'],
    ['input.number[0]', 'a number was indexed by a number'],
    ['steps.none.status', 'no step of this key'],
    ['item', 'only inside a forEach'],
    ['index', 'only inside a forEach'],
    ['output', 'only in expect and until'],
    ['input.none == 1', 'input.none is null'],
    ['1 != input.none', 'input.none is null'],
    ['input.none == input.none', 'input.none is null'],
    ['input.none != input.mixed[0]', 'input.none is null'],
    ['input.none in [1]', 'input.none is null'],
    ['input.none < 1', 'input.none is null'],
    ['1 < null', 'cannot take null'],
    ['input.none + 1', 'input.none is null'],
    ['input.none && true', '&& expects a boolean; input.none is null'],
    ['true && 1', '&& expects a boolean'],
    ['false || "yes"', '|| expects a boolean'],
    ['!0', '! expects a boolean'],
    ['1 ? 2 : 3', '?: expects a boolean'],
    ['-"1"', '- expects a number'],
    ['1 == "1"', 'found a number and a text'],
    ['1 in ["1"]', 'a number is compared with a text'],
    ['1 in input.object', 'in expects'],
    ['1 in 2', 'in expects'],
    ['true < false', '< expects'],
    ['now - now', '- expects two numbers'],
    ['1 + "1"', '+ expects two numbers, two texts or two lists'],
    ['1 % 0', 'division by zero'],
    ['1 / (0.5 - 0.5)', 'division by zero'],
    ['9007199254740991 + 1', 'beyond 2^53'],
    ['-9007199254740991 - 1', 'beyond 2^53'],
    ['sum([9007199254740991, 1])', 'beyond 2^53'],
    ['input.list.all(x, x)', 'all() expects a boolean; x is a number'],
    ['input.text.all(x, true)', 'all() expects a list or an object'],
    ['input.list.filter(x, x == "a")', 'two values of one kind'],
    ['input.mixed.sort()', 'sort() expects a list'],
    ['[1, "a"].sort()', 'found a number and a text'],
    ['has(input.object[input.absent])', 'input.absent is absent'],
    ['has(input.list[input.none.x])', 'input.none is null'],
  ])('%s fails: %s', (source, message) => {
    expect(() => value(source)).toThrow(ExpressionFailed)
    expect(() => value(source)).toThrow(message)
  })

  it.each([
    ['false && input.absent', false],
    ['true || input.absent', true],
    ['true ? 1 : input.absent', 1],
    ['input.list.exists(x, x == 1 || input.absent)', true],
    ['!input.list.all(x, x != 1 && input.absent)', true],
  ])('stops when decided: %s', (source, expected) => {
    expect(value(source)).toBe(expected)
  })

  it.each([
    'input.absent && false',
    'input.absent || true',
    'input.absent ? 1 : 1',
    'input.list.exists(x, input.absent || true)',
    'input.list.all(x, x == 1 || input.absent)',
    '[input.absent].exists(x, true)',
    'input.list.map(x, input.absent).all(x, true)',
    'input.list.exists_one(x, x == 1 || input.absent)',
    'has(input.object[input.absent].b) || true',
  ])('hides no error that it meets: %s', (source) => {
    expect(() => value(source)).toThrow(ExpressionFailed)
  })

  it('names source, line and column, and shows no value of the run', () => {
    const source = 'true &&\n  input.secret == 5'

    const failure = captured(() => evaluate(source, { input: { secret: 'hunter2' } }))

    expect(failure).toMatchObject({ line: 2, column: 3, source })
    expect(failure.message).toContain(
      '== expects two values of one kind; found a text and a number',
    )
    expect(failure.message).not.toContain('hunter2')
  })

  it('says why the output of a step is not there', () => {
    const steps = { refund: { status: 'skipped', attempts: 0 } }

    const failure = captured(() => evaluate('steps.refund.output.state', { steps }))

    expect(failure.reason).toBe('steps.refund.output is absent: the step is skipped')
  })

  it('reads an explicit null of an item, and the place of it', () => {
    expect(evaluate('item == null && index == 2', { item: null, index: 2 })).toBe(true)
  })

  it('gives keys in ascending order', () => {
    expect(JSON.stringify(evaluate("{'b': 1, 'a': input}", { input: { d: 1, c: 2 } }))).toBe(
      '{"a":{"c":2,"d":1},"b":1}',
    )
  })

  it('gives timestamps as RFC 3339 text, wherever they stand', () => {
    expect(evaluate("[{'at': now}]")).toEqual([{ at: '2026-11-27T15:30:00.000Z' }])
  })

  it('takes the output of the first completed step, and fails when there is none', () => {
    const steps = {
      a: { status: 'failed', attempts: 1, error: { code: 'x' } },
      b: { status: 'completed', attempts: 1, output: null },
      c: { status: 'completed', attempts: 1, output: 'c' },
    }

    expect(evaluate('firstOf(steps.a, steps.b, steps.c)', { steps })).toBe(null)
    expect(() => evaluate('firstOf(steps.a)', { steps })).toThrow(
      'none of these steps completed: a',
    )
    expect(() => evaluate('firstOf(steps.c, steps.z)', { steps })).not.toThrow()
    expect(() => evaluate('firstOf(steps.a, steps.z)', { steps })).toThrow('no step of this key')
  })
})

describe('what an expression reads', () => {
  it('lists paths as far as they are plain, and marks has() and firstOf()', () => {
    const { reads } = parsed(
      'has(steps.a.output) && input.cards[input.id].balance > 0 && firstOf(steps.b).x == steps["c"].status',
    )

    expect(reads.paths.map(({ path, use }) => [path.join('.'), use])).toEqual([
      ['steps.a.output', 'has'],
      ['input.cards', 'value'],
      ['input.id', 'value'],
      ['steps.b', 'firstOf'],
      ['steps.c.status', 'value'],
    ])
    expect([...reads.steps]).toEqual(['a', 'b', 'c'])
  })

  it('tells whether now, item, index and output are read, also inside macros', () => {
    const { reads } = parsed('[1].all(x, item[index] > x) || now > timestamp(output)')

    expect(reads).toMatchObject({ now: true, item: true, index: true, output: true })
    expect(parsed('input.now == 1').reads).toMatchObject({ now: false, item: false })
  })

  it.each([
    ["steps.a.status == 'completed' && steps.a.output.x", true],
    ["'completed' == steps.a.status && steps.a.output.x", true],
    ['has(steps.a.output.x) && steps.a.output.x', true],
    ['steps.a.output.x != null && steps.a.output.x', true],
    ['!has(steps.a.output.y) || steps.a.output.x', true],
    ['has(steps.a.output.y) ? steps.a.output.x : false', true],
    ['!(has(steps.a.output) && true) ? false : steps.a.output.x', true],
    ["steps.a.status != 'completed' ? false : steps.a.output.x", true],
    ['(has(steps.a.output.x) || has(steps.a.output.y)) && steps.a.output.x', false],
    ['has(steps.a.output.y) || steps.a.output.x', false],
    ["steps.a.status == 'failed' && steps.a.output.x", false],
    ["steps.a.status != 'completed' && steps.a.output.x", false],
    ["steps.a.status == 'completed' || steps.a.output.x", false],
    ['steps.a.output.x == null && steps.a.output.x', false],
    ['steps.a.output.x && has(steps.a.output)', false],
    ['has(steps.b.output) && steps.a.output.x', false],
  ])('knows whether an output is guarded: %s', (source, expected) => {
    const read = parsed(source).reads.paths.findLast(
      ({ path, use }) => use === 'value' && path.join('.') === 'steps.a.output.x',
    )

    expect(isGuarded(['steps', 'a', 'output'], read?.guards ?? [])).toBe(expected)
  })

  it('says what a condition proves for what comes after it', () => {
    const { proves } = parsed("has(input.id) && steps.a.status == 'completed' && input.n > 1")

    expect(proves).toEqual([
      ['input', 'id'],
      ['steps', 'a', 'output'],
    ])
  })
})

describe('parsing an expression', () => {
  it.each([
    ['', 'the expression is empty'],
    ['  \n', 'the expression is empty'],
    ['1 +', 'unexpected token: the end'],
    ['(1', "expected ')', got the end"],
    ['1 = 2', 'unexpected character'],
    ["'a", 'unterminated string'],
    ['foo', "'foo' is not known here"],
    ['inputt.x', "did you mean 'input'?"],
    ['sizes(input.x)', "did you mean 'size'?"],
    ['type(1)', "there is no function 'type'"],
    ['dyn(1)', "there is no function 'dyn'"],
    ["bytes('a')", "there is no function 'bytes'"],
    ["b'a'", 'bytes are not part of the language'],
    ['1u', 'unsigned numbers are not part of the language'],
    ['9007199254740992', 'beyond 2^53'],
    ['1e300', 'beyond 2^53'],
    ["'\\u0000'", 'NUL character'],
    ['input.?x', 'expected a name'],
    ['input[?0]', "unexpected token: '?'"],
    ['input[-1]', 'a whole number from 0'],
    ['input[true]', 'a whole number from 0'],
    ['steps', 'followed by the key of a step'],
    ['size(steps)', 'followed by the key of a step'],
    ['steps[input.x]', 'the key of a step is written out'],
    ['has(1 + 1)', 'has() takes one path'],
    ['has(input.x, input.y)', 'has() takes one path'],
    ['has([1][0])', 'has() takes one path'],
    ["firstOf('a')", 'firstOf() takes steps'],
    ['firstOf()', 'at least one step'],
    ['input.x.matches(input.y)', 'a pattern written out'],
    ["input.x.matches('(')", 'this is not a pattern'],
    ["input.x.matches('(a)\\\\1')", 'this is not a pattern'],
    ["input.x.matches('(?=a)')", 'this is not a pattern'],
    ['round(1, 2, 3)', 'round() takes 1 or 2 arguments; found 3'],
    ['max()', 'max() takes 1 or 2 or more arguments; found 0'],
    ['all(input.x, y, true)', 'write list.all(x, …)'],
    ['input.x.all(1, true)', 'a name for the items'],
    ['input.x.sortBy(a.b, true)', 'sortBy() is written list.sortBy(x, …)'],
    ['input.x.all(x)', 'all() is written list.all(x, …)'],
    ['input.x.all(input, true)', "'input' already has a meaning here"],
    ['input.x.all(y, input.z.all(y, true))', "'y' already has a meaning here"],
    ['{"a": 1, "a": 2}', "'a' is given twice"],
    ['{input.x: 1}', 'the key of a field is a text'],
    ['cel.bind(x, 1, x)', "'cel' is not known here"],
  ])('refuses %s: %s', (source, message) => {
    expect(problemsOf(source)).toContain(message)
  })

  it('gives all problems at once, with line and column', () => {
    const result = parseExpression('foo == 1 &&\n  bar(2) && steps')

    expect(result).toEqual({
      problems: [
        expect.objectContaining({ line: 1, column: 1, path: '' }),
        expect.objectContaining({ line: 2, column: 3 }),
        expect.objectContaining({ line: 2, column: 13 }),
      ],
    })
  })

  it('throws EXPRESSION_INVALID for a text that was never checked', () => {
    expect(() => compileExpression('1 +')).toThrow(
      expect.objectContaining({
        code: 'EXPRESSION_INVALID',
        message: expect.stringContaining('line 1, column 4'),
      }),
    )
  })

  it('reads names of host objects as the absent keys that they are', () => {
    const scope = scopeWith({ input: { a: 1 } })

    for (const key of ['constructor', '__proto__', 'prototype', 'toString', 'hasOwnProperty']) {
      expect(parsed(`has(input['${key}'])`).evaluate(scope)).toBe(false)
      expect(() => parsed(`input['${key}']`).evaluate(scope)).toThrow('is absent')
      expect(() => parsed(`steps['${key}']`).evaluate(scope)).toThrow('is absent')
      expect(parsed(`'${key}' in input`).evaluate(scope)).toBe(false)
      expect(parsed(`{'${key}': 5}['${key}']`).evaluate(scope)).toBe(5)
    }
  })
})

function captured(work: () => unknown): ExpressionFailed {
  try {
    work()
  } catch (error) {
    if (error instanceof ExpressionFailed) return error
    throw error
  }
  throw new Error('expected a failure')
}
