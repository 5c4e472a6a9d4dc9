import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readDocument } from '../../src/documents/read-document.ts'
import { writeDocument } from '../../src/documents/write-document.ts'
import { canonicalJson, canonicalValue, findValueProblems } from '../../src/domain/canonical.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { fullDocument } from '../support/definitions.ts'

function readBack(text: string) {
  return readDocument(text, { name: 'a.yaml' }).value
}

test('writes block style, in the order of the keys, without anchors', () => {
  const shared = { queue: 'payments' }

  const text = writeDocument({
    key: 'A',
    a: shared,
    b: shared,
    text: 'two\nlines\n',
    list: [1, 'yes'],
  })

  expect(text).toBe(
    'key: A\na:\n  queue: payments\nb:\n  queue: payments\ntext: |\n  two\n  lines\nlist:\n  - 1\n  - yes\n',
  )
})

test('keeps long texts in one line', () => {
  const text = 'word '.repeat(100).trim()

  expect(writeDocument({ text })).toBe(`text: ${text}\n`)
})

test('reads back the same definition', () => {
  const definition = requireDefinition(fullDocument())

  const again = requireDefinition(readBack(writeDocument(fullDocument())))

  expect(again).toEqual(definition)
})

// Texts made of what means something in YAML, which random texts hardly ever hit.
const marks = fc.constantFrom(
  ...[
    '\n',
    ' ',
    '\t',
    '\r',
    '#',
    ': ',
    '- ',
    '"',
    "'",
    '|',
    '>',
    '{',
    '}',
    '[',
    ']',
    ',',
    '&',
    '*',
  ],
  ...['!', '%', '@', '`', 'a', '\u2028', '\u0085', '\uFEFF', '\u0001', '\u007f', '<<', '?', '---'],
  ...['...', '~', 'null', 'true', '1', '0x1', '.inf', '😀', '__proto__'],
)
const markText = fc.array(marks, { maxLength: 12 }).map((parts) => parts.join(''))
const anyValue = fc
  .oneof(
    fc.jsonValue(),
    fc.jsonValue({ noUnicodeString: false }),
    fc.dictionary(
      markText,
      fc.oneof(markText, fc.array(markText), fc.dictionary(markText, markText)),
    ),
  )
  .filter((value) => findValueProblems(value).length === 0)

test('what was written is read back as the same value', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(canonicalJson(readBack(writeDocument(canonicalValue(value))))).toBe(
        canonicalJson(value),
      )
    }),
    { numRuns: 2_000 },
  )
}, 60_000)

test('JSON is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(canonicalJson(readBack(JSON.stringify(value)))).toBe(canonicalJson(value))
    }),
    { numRuns: 1_000 },
  )
}, 60_000)
