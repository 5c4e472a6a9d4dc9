import { describe, expect, test } from 'vitest'
import { attachPositions, readDocument } from '../../src/documents/read-document.ts'
import { isServiceError } from '../../src/domain/errors.ts'

function read(text: string) {
  return readDocument(text, { name: 'a.yaml' })
}

/** Problems of a text, as `line:column path: message`. */
function problemsOf(text: string): readonly string[] {
  try {
    read(text)
    return []
  } catch (error) {
    if (!isServiceError(error, 'DOCUMENT_INVALID')) throw error
    return error.details.problems.map(
      ({ path, message, line, column }) => `${line}:${column} ${path}: ${message}`,
    )
  }
}

describe('what is read', () => {
  test('a document of YAML 1.2, with comments, in which yes is a word and a date a text', () => {
    const { value } = read(
      '---\n# A comment.\na: yes\nb: 2026-11-29\nc: [1, 2.50, true, ~, -0]\nd: |\n  two\n  lines\ne: 0xFF\n',
    )

    expect(value).toEqual({
      a: 'yes',
      b: '2026-11-29',
      c: [1, 2.5, true, null, 0],
      d: 'two\nlines\n',
      e: 255,
    })
  })

  test('JSON, which is YAML as well', () => {
    const text = '{\n\t"a": [1, "\\u00e9\\ud83d\\ude00", null]\n}'

    expect(read(text).value).toEqual({ a: [1, 'é😀', null] })
  })

  test('a text behind a byte order mark', () => {
    expect(read('\uFEFFa: 1').value).toEqual({ a: 1 })
  })

  test('__proto__ as a key like any other', () => {
    const value = read('__proto__: { polluted: true }').value

    expect(Object.keys(value ?? {})).toEqual(['__proto__'])
    expect(Reflect.get(Object.prototype, 'polluted')).toBeUndefined()
  })

  test.each([
    '0.1',
    '1e5',
    '-1.50',
    '9007199254740991',
    '0.30000000000000004',
    '5e-324',
    '1.7e3',
    '+5',
  ])('the number %s', (text) => {
    expect(read(`a: ${text}`).value).toEqual({ a: Number(text) })
  })
})

describe('what is refused', () => {
  test.each([
    ['a duplicate key', 'a: 1\nb: 2\na: 3', '3:1 a: is given twice, in line 1 as well; remove one'],
    [
      'a duplicate key of JSON',
      '{"a": 1, "a": 2}',
      '1:10 a: is given twice, in line 1 as well; remove one',
    ],
    ['an anchor', 'a: &x 1', '1:7 a: found the anchor &x; remove it, and write values out'],
    [
      'a tag',
      'a: !!str 1',
      '1:10 a: found a tag (tag:yaml.org,2002:str); remove it, and put a text in quotes',
    ],
    [
      'a local tag',
      '- !foo {a: 1}',
      '1:8 [0]: found a tag (!foo); remove it, and put a text in quotes',
    ],
    ['a merge key', '<<: {a: 1}', '1:1 : found the merge key <<; write the fields out'],
    [
      'a key that is a number',
      'a:\n  1: x',
      '2:3 a: found the key 1, expected a text; put it in quotes',
    ],
    [
      'a key that is a list',
      '? [a]\n: b',
      '1:3 : found a key that is a list, an object or nothing, expected a text; put it in quotes',
    ],
    [
      'a second document',
      'a: 1\n---\nb: 2',
      '2:1 : a second document begins here; put it into a file of its own',
    ],
    [
      'a directive',
      '%YAML 1.1\n---\na: yes',
      '1:1 : has a directive (%), which is not read; remove it',
    ],
    [
      'a large integer',
      'a: 9007199254740993',
      '1:4 a: 9007199254740993 is beyond 2^53 − 1, where a double loses digits; put it in quotes',
    ],
    [
      'many digits',
      'a: 0.12345678901234567',
      '1:4 a: 0.12345678901234567 has more digits than a double holds, which would keep 0.12345678901234566; put it in quotes',
    ],
    [
      'a number that vanishes',
      'a: 1e-400',
      '1:4 a: 1e-400 has more digits than a double holds, which would keep 0; put it in quotes',
    ],
    ['an infinity', 'a: .inf', '1:4 a: .inf is not a number that can be kept; put it in quotes'],
    [
      'a number too large',
      'a: 1e400',
      '1:4 a: 1e400 is not a number that can be kept; put it in quotes',
    ],
    ['no number', 'a: .nan', '1:4 a: .nan is not a number that can be kept; put it in quotes'],
    [
      'a leading zero',
      'a: 0123',
      '1:4 a: 0123 begins with a zero, which a number would lose; put it in quotes, or remove the zero',
    ],
    [
      'a long number',
      `a: 0.${'1'.repeat(200)}`,
      '1:4 a: a number of 202 characters has more digits than a double holds; put it in quotes',
    ],
    [
      'NUL',
      'a: b\nc: "d\u0000"',
      '2:6 : contains a NUL character, which cannot be stored; remove it',
    ],
    [
      'NUL by an escape',
      'a: "\\0"',
      '1:4 a: contains a NUL character, which cannot be stored; remove it',
    ],
    [
      'half a surrogate pair',
      '"\\ud83d": 1',
      '1:1 : contains a lone surrogate, which is not valid Unicode; remove it',
    ],
    ['nothing', '', '1:1 : the document is empty'],
    ['only a comment', '# nothing\n', '1:1 : the document is empty'],
    ['a tab', 'a:\n\tb: 1', '2:1 : Tabs are not allowed as indentation'],
  ])('%s', (_name, text, expected) => {
    expect(problemsOf(text)).toEqual([expected])
  })

  test('an alias, with its anchor', () => {
    expect(problemsOf('a: &x 1\nb: *x')).toEqual([
      '1:7 a: found the anchor &x; remove it, and write values out',
      '2:4 b: found the alias *x; write the value out',
    ])
  })

  test('more than 1 MiB, before it is parsed', () => {
    const text = `a: ${'é'.repeat(2 ** 19)}`

    expect(problemsOf(text)[0]).toContain(
      'the text has 1048579 bytes, the limit is 1048576; split it',
    )
  })

  test('all at once, in the order of the text', () => {
    const problems = problemsOf('a: 1\na: 2\nb: &x 1\nc: *x\n1: x\nd: .inf\n')

    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      '2:1',
      '3:7',
      '4:4',
      '5:1',
      '6:4',
    ])
  })

  test.each([
    ['flow lists inside each other', '['.repeat(2 ** 19)],
    ['block lists inside each other', '- '.repeat(2 ** 18)],
    ['objects inside each other', `${'{a: '.repeat(5_000)}1${'}'.repeat(5_000)}`],
    ['closing brackets', '}'.repeat(2 ** 20)],
    ['many keys', Array.from({ length: 100_000 }, (_, index) => `k${index}: 1`).join('\n')],
    ['many aliases', '- *a\n'.repeat(2 ** 17)],
    ['directives', '%a\n'.repeat(2 ** 18)],
    ['tags', '! '.repeat(2 ** 18)],
  ])(
    '%s, in bounded time',
    (_name, text) => {
      const started = performance.now()

      expect(problemsOf(text).length).toBeGreaterThan(0)
      expect(performance.now() - started).toBeLessThan(5_000)
    },
    10_000,
  )
})

describe('places', () => {
  const document = read('a: 1\nsteps:\n  - key: x\n    with: { b.c: [5] }\n  - key: y\n')

  test.each([
    ['a', 1, 1],
    ['steps', 2, 1],
    ['steps[0]', 3, 5],
    ['steps[0].key', 3, 5],
    ['steps[0].with["b.c"]', 4, 13],
    ['steps[0].with["b.c"][0]', 4, 19],
    ['steps[1].key', 5, 5],
  ])('%s stands in line %d, column %d', (path, line, column) => {
    expect(document.position(path)).toEqual({ line, column })
  })

  test.each([
    ['steps[1].with.amount', 'steps[1]'],
    ['steps[0].with["x.y"]', 'steps[0].with'],
    ['steps[0].with["b.c"][7].d', 'steps[0].with["b.c"]'],
    ['name', ''],
  ])('%s, which is not there, stands where %j does', (path, nearest) => {
    expect(document.position(path)).toEqual(document.position(nearest))
  })

  test('problems get theirs, those within a text the place in it', () => {
    const when = readDocument("steps:\n  - when: >-\n      a &&\n      'b'\n", { name: 'x' })

    const problems = attachPositions(
      [
        { path: 'steps[0].tool', message: 'is missing' },
        { path: 'steps[0].when', message: 'is no boolean', line: 1, column: 6 },
      ],
      when,
    )

    expect(problems).toEqual([
      { path: 'steps[0].tool', message: 'is missing', line: 2, column: 5 },
      { path: 'steps[0].when', message: 'is no boolean', line: 4, column: 7 },
    ])
  })
})

describe('the place within a text', () => {
  test.each([
    ['bare', 'a: input.x && b'],
    ['bare, over lines', 'a: input.x &&\n  b   ||\n\n  c'],
    ['in single quotes', "a: 'x == ''y'' && ''z'''"],
    ['in single quotes, over lines', "a: 'x ==\n  ''y''\n  && z'"],
    ['in double quotes', 'a: "x == \\"y\\" \\u0041 \\x42\\U0001F600 \\t && z"'],
    ['in double quotes, over lines', 'a: "x ==\n  y \\\n  && z"'],
    ['folded', 'a: >-\n    x ==\n    y\n\n    && z\n'],
    ['folded, with an indented line', 'a: >\n  x ==\n    y\n  && z\n'],
    ['literal', 'a: |\n    x ==\n      y\n\n    && z\n'],
    ['JSON', '{"a": "x == \\"y\\" && z"}'],
    ['with ends of lines of two characters', 'a: >-\r\n  x ==\r\n  y && z\r\n'],
  ])('is found where it is written: %s', (_name, text) => {
    const document = readDocument(text, { name: 'x' })
    const value = String(Object(document.value).a)
    const lines = text.split('\n')

    for (let at = 0; at < value.length; at += 1) {
      const character = value[at] ?? ''
      if (!/[a-z=&|]/.test(character)) continue
      const before = value.slice(0, at).split('\n')
      const inner = { line: before.length, column: (before.at(-1) ?? '').length + 1 }
      const { line, column } = document.position('a', inner)

      expect(lines[line - 1]?.[column - 1], `${at} of ${value}`).toBe(character)
    }
  })

  test('is the end of the text for what lies behind it', () => {
    const document = readDocument('a: x &&\nb: c', { name: 'x' })

    expect(document.position('a', { line: 1, column: 5 })).toEqual({ line: 1, column: 8 })
    expect(document.position('a', { line: 7, column: 1 })).toEqual({ line: 1, column: 8 })
  })
})
