import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  listType,
  numberType,
  objectType,
  type ScopeTypes,
  stepType,
  stringType,
  type Type,
  typeOfSchema,
} from '../../src/domain/expression.ts'
import type { Json } from '../../src/domain/json.ts'
import {
  checkTemplate,
  compileTemplate,
  parseTemplate,
  type Template,
  TemplateUnresolved,
} from '../../src/domain/template.ts'
import { scopeWith } from './expression-scope.ts'

function parsed(value: Json): Template {
  const result = parseTemplate(value)
  if ('template' in result) return result.template
  throw new Error(result.problems.map(({ message }) => message).join('; '))
}

const resolve = (value: Json, input: Json) => parsed(value).resolve(scopeWith({ input }))

describe('resolving a template', () => {
  it.each<[Json, Json, Json]>([
    ['{{input.a}}', { a: 5 }, 5],
    ['{{ input.a }}', { a: 'x' }, 'x'],
    ['{{input}}', { a: [1, { b: null }] }, { a: [1, { b: null }] }],
    ['{{input.a}}', { a: null }, null],
    ['{{input.a[1].b}}', { a: [0, { b: true }] }, true],
    ['{{input.a-b}}', { 'a-b': 1 }, 1],
    ['a {{input.a}} b {{input.b}}', { a: 1.5, b: false }, 'a 1.5 b false'],
    [' {{input.a}}', { a: 5 }, ' 5'],
    ['{{input.a}}{{input.a}}', { a: 'x' }, 'xx'],
    ['x{{input.a}}', { a: 1e-7 }, 'x0.0000001'],
    ['x{{input.a}}', { a: ['p', 2, true] }, 'xp, 2, true'],
    ['x{{input.a}}', { a: '' }, 'x'],
    ['{{input.b or "none"}}', {}, 'none'],
    ['{{input.b or ""}}', {}, ''],
    ['{{input.b or "none"}}', { b: null }, 'none'],
    ['{{input.b or "none"}}', { b: 0 }, 0],
    ['x{{input.b or "{{y}}"}}', { b: {} }, 'x{{y}}'],
    ['}} alone { {', {}, '}} alone { {'],
    ['{{now}}', {}, '2026-11-27T15:30:00.000Z'],
    ['at {{now}}', {}, 'at 2026-11-27T15:30:00.000Z'],
    [{ b: ['{{input.a}}', 5, null, true], a: {} }, { a: 1 }, { b: [1, 5, null, true], a: {} }],
    [{ '{{input.a}}': 'x' }, {}, { '{{input.a}}': 'x' }],
  ])('%j over %j gives %j', (template, input, expected) => {
    expect(resolve(template, input)).toEqual(expected)
  })

  it.each<[Json, Json, string]>([
    ['{{input.b}}', {}, '{{input.b}} cannot be filled in: nothing stands there'],
    ['{{input.a.b}}', { a: 'text' }, 'nothing stands there'],
    ['{{input.a[1]}}', { a: [0] }, 'nothing stands there'],
    ['{{input.constructor}}', {}, 'nothing stands there'],
    ['{{item}}', {}, 'nothing stands there'],
    ['x {{input.a}}', { a: null }, 'it is null'],
    ['x {{input.a}}', { a: {} }, 'it is an object'],
    ['x {{input.a}}', { a: [] }, 'it is an empty list'],
    ['x {{input.a}}', { a: [1, null] }, 'it is a list'],
    ['x {{input.a}}', { a: [[1]] }, 'it is a list'],
  ])('%j over %j is unresolved: %s', (template, input, message) => {
    expect(() => resolve(template, input)).toThrow(TemplateUnresolved)
    expect(() => resolve(template, input)).toThrow(message)
  })

  it('names the path that leads to nothing, and shows no value', () => {
    const failure = expect.objectContaining({ path: 'input.a' })

    expect(() => resolve('x {{input.a}}', { a: { secret: 'hunter2' } })).toThrow(failure)
    expect(() => resolve('x {{input.a}}', { a: { secret: 'hunter2' } })).not.toThrow('hunter2')
  })

  it('never reads again what was filled in', () => {
    const texts = fc
      .array(fc.constantFrom('{{', '}}', 'input.secret', 'input.a', ' or "x"', '"', 'a', '{', '}'))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(texts, (a) => {
        const input = { a, secret: 'hunter2' }

        expect(resolve('{{input.a}}', input)).toBe(a)
        expect(resolve('<{{input.a}}|{{input.a}}>', input)).toBe(`<${a}|${a}>`)
        expect(resolve(['{{input.a or "f"}}', { k: 'x{{input.a}}' }], input)).toEqual([
          a,
          { k: `x${a}` },
        ])
      }),
    )
  })

  it('refuses a result above 1 MiB, however it comes about', () => {
    const input = { a: 'a'.repeat(600_000) }

    expect(() => resolve('{{input.a}} {{input.a}}', input)).toThrow('1,048,576 characters')
    expect(() => resolve(['{{input.a}}', '{{input.a}}'], input)).toThrow('1,048,576 characters')
    expect(() =>
      resolve(
        Array.from({ length: 1_000 }, () => 'x{{input.a}}'),
        input,
      ),
    ).toThrow(TemplateUnresolved)
  })
})

describe('parsing a template', () => {
  it.each([
    ['{{input.a', "'{{' is never closed"],
    ['{{input.a or "}}', "'{{' is never closed"],
    ['{{}}', 'the path is empty'],
    ['{{  }}', 'the path is empty'],
    ['{{foo.a}}', "'foo' is not known here"],
    ['{{inptu.a}}', "did you mean 'input'?"],
    ['{{input.}}', 'a path is words and indexes'],
    ['{{input..a}}', 'a path is words and indexes'],
    ['{{input.0}}', 'a path is words and indexes'],
    ['{{input[x]}}', 'a path is words and indexes'],
    ['{{input[-1]}}', 'a path is words and indexes'],
    ['{{input.a + 1}}', 'nothing, or a fallback'],
    ['{{input.a | upper}}', 'nothing, or a fallback'],
    ["{{input.a or 'x'}}", 'nothing, or a fallback'],
    ['{{input.a or input.b}}', 'nothing, or a fallback'],
    ['{{input.a or "x" or "y"}}', 'nothing, or a fallback'],
    ['{{size(input.a)}}', "'size' is not known here"],
    ['{{{input.a}}}', 'is not known here'],
    ['{{steps}}', 'followed by the key of a step'],
    ['{{steps[0]}}', 'followed by the key of a step'],
  ])('refuses %s: %s', (source, message) => {
    const result = parseTemplate(source)

    expect(result).toEqual({
      problems: [expect.objectContaining({ message: expect.stringContaining(message) })],
    })
  })

  it('gives all problems with their place in the value and in the string', () => {
    const result = parseTemplate({ a: ['ok', 'one\n {{foo}} {{}}'], 'b c': '{{bar' })

    expect(result).toEqual({
      problems: [
        expect.objectContaining({ path: 'a[1]', line: 2, column: 4 }),
        expect.objectContaining({ path: 'a[1]', line: 2, column: 12 }),
        expect.objectContaining({ path: '["b c"]', line: 1, column: 1 }),
      ],
    })
  })

  it('throws TEMPLATE_INVALID for a value that was never checked', () => {
    expect(() => compileTemplate('{{}}')).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_INVALID' }),
    )
  })

  it('takes any text or gives problems, and never throws', () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom('{{', '}}', 'input', 'steps.', '.a', '[0]', '[', ' or ', '"', '\n', '{'),
        fc.string({ unit: 'binary', maxLength: 3 }),
      ),
      { maxLength: 15 },
    )
    fc.assert(
      fc.property(pieces, (parts) => {
        const result = parseTemplate(parts.join(''))

        if ('problems' in result) expect(result.problems.length).toBeGreaterThan(0)
        else expect(partsText(result.template)).toBe(parts.join(''))
      }),
      { numRuns: 3_000 },
    )
  })

  it('shows what stands in each string as it is, and what is filled in', () => {
    const template = parsed({ a: 'x {{steps.s.output.b or "c"}}', n: ['{{input.d}}'] })

    expect(template.strings).toEqual([
      {
        place: ['a'],
        source: 'x {{steps.s.output.b or "c"}}',
        parts: [
          'x ',
          { path: ['steps', 's', 'output', 'b'], text: 'steps.s.output.b', fallback: 'c', at: 4 },
        ],
      },
      {
        place: ['n', 0],
        source: '{{input.d}}',
        parts: [{ path: ['input', 'd'], text: 'input.d', at: 2 }],
        whole: { path: ['input', 'd'], text: 'input.d', at: 2 },
      },
    ])
    expect(template.reads.map(({ text }) => text)).toEqual(['steps.s.output.b', 'input.d'])
    expect([...template.steps]).toEqual(['s'])
  })
})

describe('checking a template', () => {
  const types: ScopeTypes = {
    input: typeOfSchema({
      type: 'object',
      required: ['id', 'count', 'list', 'maybe'],
      additionalProperties: false,
      properties: {
        id: { type: 'string' },
        count: { type: 'number' },
        list: { type: 'array', items: { type: 'object' } },
        maybe: { type: ['string', 'null'] },
        optional: { type: 'string' },
      },
    }),
    policy: objectType({}),
    steps: { s: stepType(objectType({ state: typeOfSchema({ enum: ['a', 'b'] }) })) },
  }
  const tool = typeOfSchema({
    type: 'object',
    required: ['id', 'count'],
    additionalProperties: false,
    properties: {
      id: { type: 'string' },
      count: { type: 'number' },
      mode: { enum: ['a', 'b'] },
      names: { type: 'array', items: { type: 'string' } },
      at: { type: 'string' },
    },
  })

  function findings(value: Json, expected?: Type): readonly string[] {
    return checkTemplate(parsed(value), types, expected).findings.map(
      ({ rule, path, message }) => `${rule} ${path}: ${message}`,
    )
  }

  it('has nothing to say of arguments that fit', () => {
    const value = {
      id: 'x {{input.id}} {{input.count}}',
      count: '{{input.count}}',
      mode: '{{steps.s.output.state}}',
      names: ['{{input.id}}', '{{input.optional or "none"}}', 'x'],
      at: '{{now}}',
    }

    expect(findings(value, tool)).toEqual([])
    expect(findings({ id: 'a', count: 1, mode: 'b' }, tool)).toEqual([])
  })

  it.each<[Json, string]>([
    [
      { id: '{{input.idd}}', count: 1 },
      "unknown-reference id: input.idd does not exist; did you mean 'id'?",
    ],
    [{ id: 'a' }, "missing-field : 'count' is missing; expected a number"],
    [
      { id: 'a', count: 1, cuont: 2 },
      "unknown-field cuont: 'cuont' is not expected here; did you mean 'count'?",
    ],
    [
      { id: 'a', count: '{{input.id}}' },
      'expression-type count: expected a number; this is a text',
    ],
    [{ id: 'a', count: '5' }, "expression-type count: expected a number; this is '5'"],
    [{ id: 5, count: 1 }, 'expression-type id: expected a text; this is a number'],
    [{ id: 'a', count: 1, mode: 'c' }, "expression-type mode: expected a text; this is 'c'"],
    [{ id: 'a', count: 1, names: [5] }, 'expression-type names[0]: expected a text'],
    [{ id: '{{input.maybe}}', count: 1 }, 'unguarded-value id: this may be null'],
    [{ id: '{{input.optional}}', count: 1 }, 'unguarded-value id: input.optional may be absent'],
    [
      { id: 'x {{input.maybe}}', count: 1 },
      'unguarded-value id: input.maybe may be null, which a text cannot take',
    ],
    [{ id: 'x {{input.list}}', count: 1 }, 'expression-type id: input.list is a list'],
    [{ id: 'x {{input}}', count: 1 }, 'expression-type id: input is an object'],
    ['{{input.id}}', 'expression-type : expected an object'],
    [{ id: { a: 1 }, count: 1 }, 'expression-type id: expected a text; this is an object'],
  ])('finds in %j: %s', (value, expected) => {
    expect(findings(value, tool).join('\n')).toContain(expected)
  })

  it('tells the type of what comes out', () => {
    const { type } = checkTemplate(parsed({ a: '{{input.count}}', b: ['{{now}}'] }), types)

    expect(type).toEqual(objectType({ a: numberType, b: listType(stringType) }))
  })
})

/** The source that the parts of a template stand for, from the references' own words. */
function partsText(template: Template): string {
  return template.strings
    .flatMap(({ source, parts }) => {
      let at = 0
      return parts.map((part) => {
        const start = at
        if (typeof part === 'string') {
          expect(source.startsWith(part, at)).toBe(true)
          at += part.length
        } else {
          expect(source.startsWith(part.text, part.at)).toBe(true)
          const quoted = part.fallback === undefined ? part.at : source.indexOf('"', part.at)
          const fallbackEnd =
            part.fallback === undefined ? quoted : quoted + part.fallback.length + 2
          at = source.indexOf('}}', fallbackEnd) + 2
        }
        return source.slice(start, at)
      })
    })
    .join('')
}
