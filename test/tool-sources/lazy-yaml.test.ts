import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { isJsonObject } from '../../src/domain/json.ts'
import { documentOf } from '../../src/tool-sources/openapi/api-document.ts'
import { lazyYaml } from '../../src/tool-sources/openapi/lazy-yaml.ts'

/** Every place of a value, from the top down. */
function placesOf(value: unknown, place: readonly string[] = []): readonly (readonly string[])[] {
  if (!isJsonObject(value)) return [place]
  const below = Object.entries(value).flatMap(([key, member]) => placesOf(member, [...place, key]))
  return [place, ...below]
}

function isReadable(text: string): boolean {
  try {
    return isJsonObject(parse(text))
  } catch {
    return false
  }
}

function expectSame(text: string, mayParseWhole = false): void {
  const value: unknown = parse(text)
  let wholes = 0
  const lazy = lazyYaml(text, () => {
    wholes += 1
    return documentOf(parse(text))
  })
  const whole = documentOf(value)
  for (const place of placesOf(value)) {
    // A number as a key moves to the front of an object.
    const keys = [...lazy.keys(place)].sort()
    expect(keys, `keys of ${place.join('/')} in\n${text}`).toEqual([...whole.keys(place)].sort())
    if (place.length > 0) {
      expect(lazy.at(place), `${place.join('/')} in\n${text}`).toEqual(whole.at(place))
    }
  }
  expect(lazy.at(['absent'])).toBeUndefined()
  if (!mayParseWhole) expect(wholes).toBe(0)
}

describe('a document that is read in parts says what it says when it is read whole', () => {
  it.each([
    ['plain', 'openapi: 3.0.3\npaths:\n  /a/{id}:\n    get:\n      operationId: a\n'],
    ['with a mark', '---\na:\n  b: 1\n'],
    ['quoted keys', `"a b":\n  'c d': 1\n  "200": x\n  /e: {f: 1}\n`],
    [
      'block texts',
      'a:\n  b: |\n    key: no key\n      # no comment\n    - no item\n  c: >-\n    x\n\n    y\n',
    ],
    ['lists in the column of their key', 'tags:\n- a: 1\n  b: 2\n- c\nd: 1\n'],
    ['lists of objects', 'p:\n  - name: a\n    in: query\n  - name: b\nq: 1\n'],
    ['comments', '# top\na: # of a\n  # of b\n  b: 1 # of 1\n# low\n  c: 2\n#end\n'],
    ['texts of several lines', 'a: first\n  second\n  - third\nb: "x\n  y"\nc: 1\n'],
    ['flow values of several lines', 'a: {b: 1,\n  c: [2,\n   3]}\nd: 1\n'],
    ['nothing as a value', 'a:\nb:\n  c:\n  d: ~\n'],
    ['keys with colons', 'a:b: 1\nurn:x:y:\n  z: 2\n'],
    ['keys like members of objects', 'constructor:\n  toString: 1\nhasOwnProperty: 2\n'],
    ['carriage returns', 'a:\r\n  b: 1\r\nc: 2\r\n'],
    ['numbers as keys', 'responses:\n  200:\n    x: 1\n  404: {y: 2}\n'],
  ])('%s', (_what, text) => {
    expectSame(text)
  })

  it.each([
    ['an alias', 'a: &x\n  b: 1\nc: *x\n'],
    ['an alias further down', 'a:\n  b: &x {c: 1}\nd:\n  e:\n    f: *x\n'],
    ['a flow document', '{a: {b: 1}, c: 2}'],
    ['a list', '- a\n- b\n'],
    ['keys that are marked', '? a\n: b\nc: 1\n'],
    ['keys of odd texts', '"a\\tb": 1\nc: 2\n'],
  ])('also where it has to be read whole: %s', (_what, text) => {
    expectSame(text, true)
  })

  it('whatever it is', () => {
    const key = fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.constantFrom('/a/{b}', '200', 'x-y', 'a: b', '- a', '# a', 'null', '$ref', "it's", '?'),
    )
    const leaf = fc.oneof(
      fc.string(),
      fc.constantFrom('line\nkey: value\n', '\n\n# a\n', 'a: b', '*a', '&a', '- a', '|', 'x #y'),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
      ),
    }))
    const options = fc.record({
      indentSeq: fc.boolean(),
      lineWidth: fc.constantFrom(0, 20, 80),
      collectionStyle: fc.constantFrom('any', 'block'),
    })
    fc.assert(
      fc.property(
        fc.dictionary(key, value, { minKeys: 1, noNullPrototype: true }),
        options,
        (root, style) => {
          const text = stringify(root, { ...style, aliasDuplicateObjects: false } as object)
          // A few texts it cannot read again itself.
          fc.pre(isReadable(text))
          expectSame(text, true)
        },
      ),
      { numRuns: 150 },
    )
  })
})

test('what is wrong with a text is told by the parser of the whole', () => {
  const open = () => lazyYaml('a: 1\na: 2\n', () => documentOf(parse('a: 1\na: 2\n')))

  expect(open).toThrow(/unique/)
})
