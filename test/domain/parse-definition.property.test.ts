import fc from 'fast-check'
import { expect, test } from 'vitest'
import { definitionHash } from '../../src/domain/definition.ts'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import { parseDefinition, requireDefinition } from '../../src/domain/parse-definition.ts'
import { anyDocument, dressed, fullDocument } from '../support/definitions.ts'

test('a generated document is valid, and is its own normal form', () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      expect(requireDefinition(document)).toEqual(document)
    }),
  )
})

test('the hash ignores key order, sequence and explicit defaults', () => {
  fc.assert(
    fc.property(anyDocument, fc.infiniteStream(fc.boolean()), (document, choices) => {
      const pick = () => choices.next().value === true

      const other = requireDefinition(dressed(document, pick))

      expect(definitionHash(other)).toBe(definitionHash(requireDefinition(document)))
    }),
  )
})

test('reading a normal form gives the same normal form', () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const once = requireDefinition(dressed(document, () => true))
      const twice = requireDefinition(JSON.parse(JSON.stringify(once)))

      expect(JSON.stringify(twice)).toBe(JSON.stringify(once))
    }),
  )
})

test('two definitions that differ have different hashes', () => {
  const changed = { ...fullDocument(), name: 'Something else' }

  expect(definitionHash(requireDefinition(changed))).not.toBe(
    definitionHash(requireDefinition(fullDocument())),
  )
})

test('the hash of a definition stays what it is', () => {
  // A version in a database is bound to this value for ever: it changes only with a decision of its own.
  expect(definitionHash(requireDefinition(fullDocument()))).toBe(
    'f967cbaae154596ebbe5fc4e7dd1b9ec846d95fe600a94a01390b542fb489ae1',
  )
})

/** Places in a document, as lists of keys. */
function placesOf(value: Json, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [
    path,
    ...Object.entries(value).flatMap(([key, member]: [string, Json]) =>
      placesOf(member, [...path, key]),
    ),
  ]
}

function replaced(value: Json, path: readonly string[], replacement: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return replacement
  const copy: object = Array.isArray(value) ? [...value] : { ...(value as JsonObject) }
  Reflect.set(copy, key, replaced(Reflect.get(copy, key), rest, replacement))
  return copy
}

test('whatever stands anywhere in a document, reading it gives a definition or problems', () => {
  const places = placesOf(fullDocument())
  const anything = fc.oneof(
    fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
    fc.jsonValue(),
    fc.constantFrom('escalated', 'continue', '', '5s', 0, -1, [], {}, null, Number.NaN, '\ud800'),
  )

  fc.assert(
    fc.property(fc.constantFrom(...places), anything, (path, replacement) => {
      const parsed = parseDefinition(replaced(fullDocument(), path, replacement))

      if ('problems' in parsed) expect(parsed.problems.length).toBeGreaterThan(0)
      else expect(requireDefinition(parsed.definition)).toEqual(parsed.definition)
    }),
    { numRuns: 500 },
  )
}, 60_000)
