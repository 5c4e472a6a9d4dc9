import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { library } from '../../src/domain/expression/library.ts'
import {
  checkExpression,
  ExpressionFailed,
  fits,
  listType,
  numberType,
  objectType,
  parseExpression,
  type ScopeTypes,
  stepType,
  stringType,
  typeOfValue,
  typeWords,
} from '../../src/domain/expression.ts'
import type { Json } from '../../src/domain/json.ts'
import { parsed, scopeWith } from './expression-scope.ts'

const scope = scopeWith({
  input: { yes: true, n: 3, text: 'abc', list: [3, 1, 2], none: null, object: { b: 1, a: 'x' } },
  steps: {
    a: { status: 'completed', attempts: 1, output: { state: 'ok', amounts: [0.1, 0.2] } },
    b: { status: 'pending', attempts: 0 },
  },
  policy: { limit: 500 },
  item: { id: 'i' },
  index: 0,
})

/** Sources that parse, of many shapes; few of them make sense, so that errors are as common as values. */
const sources = fc.letrec<{ source: string; leaf: string }>((tie) => ({
  leaf: fc.constantFrom(
    'true',
    'false',
    'null',
    '0',
    '0.1',
    '-7',
    "'abc'",
    '[]',
    'input',
    'input.yes',
    'input.n',
    'input.text',
    'input.list',
    'input.none',
    'input.absent',
    'input.object',
    'input.constructor',
    'steps.a.output',
    'steps.a.output.amounts',
    'steps.b.output.state',
    'steps.a.status',
    'item.id',
    'index',
    'now',
    'policy.limit',
  ),
  source: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('leaf'),
    fc
      .tuple(
        tie('source'),
        fc.constantFrom(...'== != < <= > >= in + - * / % && ||'.split(' ')),
        tie('source'),
      )
      .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
    fc
      .tuple(tie('source'), tie('source'), tie('source'))
      .map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc.tuple(fc.constantFrom('!', '-'), tie('source')).map(([sign, a]) => `${sign}(${a})`),
    fc.tuple(tie('source'), tie('source')).map(([a, b]) => `(${a})[${b}]`),
    fc.tuple(tie('source'), tie('source')).map(([a, b]) => `[${a}, ${b}]`),
    fc.tuple(tie('source'), tie('source')).map(([a, b]) => `{'k': ${a}, 'b': ${b}}`),
    fc
      .tuple(tie('leaf'), fc.constantFrom('all', 'exists', 'filter', 'map', 'sortBy'), tie('leaf'))
      .map(([a, macro, b]) => `(${a}).${macro}(x, x == ${b})`),
    fc
      .tuple(fc.constantFrom(...library.keys()), tie('source'), tie('source'))
      .map(([name, a, b]) => `${name}(${a}, ${b})`),
    fc
      .tuple(fc.constantFrom(...library.keys()), tie('source'))
      .map(([name, a]) => `(${a}).${name}()`),
  ),
})).source

/** The value of a source, or the words of its failure; anything else that is thrown ends the test. */
function outcome(
  source: string,
  chosen = scope,
): { value: Json } | { failure: string } | undefined {
  const result = parseExpression(source)
  if ('problems' in result) return undefined
  try {
    return { value: result.expression.evaluate(chosen) }
  } catch (error) {
    if (error instanceof ExpressionFailed) return { failure: error.reason }
    throw error
  }
}

function shuffleKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(shuffleKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, member]) => [key, shuffleKeys(member)] as const)
  return Object.fromEntries(entries.toReversed())
}

type Wrap = (part: string, rest: string) => string

describe('any expression', () => {
  it('gives JSON or fails with ExpressionFailed, and never anything else', () => {
    fc.assert(
      fc.property(sources, (source) => {
        const result = outcome(source)
        if (result === undefined || 'failure' in result) return
        expect(JSON.parse(JSON.stringify(result.value))).toEqual(result.value)
      }),
      { numRuns: 2_000 },
    )
  })

  it('gives the same twice, and on a scope that was stored with its keys in another order', () => {
    const { now, calendar: _, ...parts } = scope
    const stored = { ...parts, ...JSON.parse(JSON.stringify(shuffleKeys({ ...parts }))), now }
    fc.assert(
      fc.property(sources, (source) => {
        const first = outcome(source)

        expect(outcome(source)).toEqual(first)
        expect(JSON.stringify(outcome(source, stored))).toBe(JSON.stringify(first))
      }),
      { numRuns: 2_000 },
    )
  })

  it('fails when a part that comes first fails, whatever stands around it', () => {
    const wraps = fc.constantFrom<Wrap>(
      (part, rest) => `(${part}) && (${rest})`,
      (part, rest) => `(${part}) || (${rest})`,
      (part, rest) => `(${part}) ? (${rest}) : (${rest})`,
      (part, rest) => `(${part}) == (${rest})`,
      (part, rest) => `(${part}) in (${rest})`,
      (part, rest) => `(${part}) + (${rest})`,
      (part) => `!(${part})`,
      (part, rest) => `[(${part}), ${rest}].exists(x, true)`,
      (part) => `[1].exists(x, (${part}) || true)`,
      (part) => `[1, 2].all(x, (${part}) && false)`,
      (part) => `size([(${part})]) == 1`,
      (part) => `has(input.object[(${part})].b)`,
      (part) => `{'a': (${part})}.b == null`,
      (part, rest) => `(${part})[${rest}]`,
    )
    const failing = fc.constantFrom('input.absent', 'steps.b.output.state', '1 / 0 > 1', '!null')
    fc.assert(
      fc.property(
        failing,
        fc.array(wraps, { minLength: 1, maxLength: 3 }),
        sources,
        (part, around, rest) => {
          const source = around.reduce<string>((inner, wrap) => wrap(inner, rest), part)
          const result = outcome(source)
          if (result === undefined) return

          expect(result).toEqual({ failure: expect.any(String) })
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('gives what the type check says it gives', () => {
    const { input, policy, item = null } = scope
    const types: ScopeTypes = {
      input: typeOfValue(input),
      policy: typeOfValue(policy),
      steps: {
        a: stepType(objectType({ state: stringType, amounts: listType(numberType) })),
        b: stepType(objectType({ state: stringType })),
      },
      item: typeOfValue(item),
    }
    fc.assert(
      fc.property(sources, (source) => {
        const result = outcome(source)
        if (result === undefined || 'failure' in result) return
        const { type } = checkExpression(parsed(source), types)

        expect(fits(typeOfValue(result.value), type), `${source}: ${typeWords(type)}`).not.toBe(
          'no',
        )
      }),
      { numRuns: 2_000 },
    )
  })

  it('reads only paths that it said it reads', () => {
    fc.assert(
      fc.property(sources, (source) => {
        const result = parseExpression(source)
        if ('problems' in result) return
        const { expression } = result
        const promised = expression.reads.paths.map(({ path }) => path)
        const { input } = scope
        const seen: string[] = []
        const watched = { ...scope, input: watch(input, (key) => seen.push(key)) }
        outcome(source, watched)

        const known = promised.filter(([root]) => root === 'input')
        for (const key of seen) {
          expect(known.some((path) => path.length === 1 || path[1] === key)).toBe(true)
        }
      }),
    )
  })
})

describe('parsing any text', () => {
  it('gives an expression or problems with a place, and never throws', () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom(
          ...['input', '.', '[', ']', '(', ')', '{', '}', '&&', '||', '!', '?', ':', ',', "'", '"'],
          ...['\\', 'has', 'all', 'matches', '0x', '1e', 'u', "b'", "r'", '"""', '//', '\n', 'in'],
          ...[
            'null',
            '__proto__',
            'steps.a',
            'x',
            '+',
            '==',
            '<',
            '9'.repeat(20),
            '\u0000',
            '\ud800',
          ],
        ),
        fc.string({ unit: 'binary', maxLength: 4 }),
      ),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(pieces, (parts) => {
        const source = parts.join('')
        const result = parseExpression(source)
        if ('expression' in result) return

        expect(result.problems.length).toBeGreaterThan(0)
        for (const { message, line, column } of result.problems) {
          expect(message).not.toBe('')
          expect(line).toBeGreaterThan(0)
          expect(column).toBeGreaterThan(0)
        }
      }),
      { numRuns: 5_000 },
    )
  })

  it('takes any pattern for matches() or refuses it, and matches in bounded time', () => {
    const patterns = fc
      .array(
        fc.constantFrom(
          'a',
          '(',
          ')',
          '*',
          '+',
          '?',
          '|',
          '[',
          ']',
          '{2,}',
          '\\\\w',
          '^',
          '$',
          '.',
        ),
        {
          maxLength: 20,
        },
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(patterns, (pattern) => {
        const result = outcome(`input.matches('${pattern}')`, scopeWith({ input: 'a'.repeat(500) }))

        expect(result === undefined || 'value' in result).toBe(true)
      }),
      { numRuns: 1_000 },
    )
    expect(
      parsed("input.matches('(a*)*b')").evaluate(scopeWith({ input: 'a'.repeat(50_000) })),
    ).toBe(false)
  })
})

/** An object that tells which of its own keys were read. */
function watch(value: Json, tell: (key: string) => void): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return new Proxy(value, {
    get: (target, key, receiver) => {
      if (typeof key === 'string' && Object.hasOwn(target, key)) tell(key)
      return Reflect.get(target, key, receiver)
    },
  })
}
