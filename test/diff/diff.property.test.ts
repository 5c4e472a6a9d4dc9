import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { Change } from '../../src/diff/change.ts'
import { diffDefinitions } from '../../src/diff/diff-versions.ts'
import { type Definition, definitionHash } from '../../src/domain/definition.ts'
import { isJsonObject, type Json, type JsonObject } from '../../src/domain/json.ts'
import { parseDefinition, requireDefinition } from '../../src/domain/parse-definition.ts'
import { pathText } from '../../src/domain/problem.ts'
import { validPlaybooks } from '../checks/corpus.ts'
import { type Document, stepsOf, withValue } from '../checks/definition-texts.ts'
import { anyDocument, dressed, fullDocument } from '../support/definitions.ts'
import { applyChanges } from './apply-changes.ts'

type Path = readonly (string | number)[]

/** A document with one thing changed, and the place around which that is to be told. */
interface Edit {
  readonly place: string
  readonly document: JsonObject
}

const all: readonly (readonly [name: string, document: JsonObject])[] = [
  ['everything', fullDocument()],
  ...validPlaybooks().map(
    ({ name, definition }) => [name, JSON.parse(JSON.stringify(definition))] as const,
  ),
]

describe.each(all)('of %s', (_name, document) => {
  const before = requireDefinition(document)

  it('each change of one place is told there, and the changes make the later definition', () => {
    let count = 0
    for (const { place, document: edited } of editsOf(document)) {
      const parsed = parseDefinition(edited)
      if ('problems' in parsed) continue
      const changes = diffDefinitions(before, parsed.definition)

      expectTold(before, parsed.definition, changes)
      if (changes.length === 0) continue
      count += 1
      expect(
        changes.some((change) => isAround(change, place)),
        place,
      ).toBe(true)
    }
    expect(count).toBeGreaterThan(20)
  })
})

test('of any two documents it is empty exactly when their hashes are equal', () => {
  fc.assert(
    fc.property(anyDocument, anyDocument, fc.boolean(), (one, other, isOne) => {
      const [before, after] = [requireDefinition(one), requireDefinition(isOne ? one : other)]

      expectTold(before, after, diffDefinitions(before, after))
    }),
    { numRuns: 300 },
  )
})

test('a document that is written otherwise does not differ', () => {
  fc.assert(
    fc.property(anyDocument, fc.infiniteStream(fc.boolean()), (document, choices) => {
      const other = dressed(document, () => choices.next().value === true)

      expect(diffDefinitions(requireDefinition(document), requireDefinition(other))).toEqual([])
    }),
  )
})

test('any order of steps and texts is told of completely', () => {
  const texts = fc.uniqueArray(
    fc.string({ minLength: 1, maxLength: 3 }).filter((text) => text.trim() !== ''),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  const keys = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), {
    minLength: 1,
  })
  const document = (patterns: readonly string[], steps: readonly string[]): Definition =>
    requireDefinition({
      key: 'SOME_PLAYBOOK',
      name: 'Some',
      description: 'Some.',
      issuePatterns: patterns,
      steps: steps.map((key) => ({ key, action: key, compute: { [`is_${key}`]: '1' } })),
    })
  fc.assert(
    fc.property(texts, texts, keys, keys, (oldTexts, newTexts, oldKeys, newKeys) => {
      const [before, after] = [document(oldTexts, oldKeys), document(newTexts, newKeys)]

      expectTold(before, after, diffDefinitions(before, after))
    }),
  )
})

/** Holds changes to be none exactly when nothing differs, and to be all that differs. */
function expectTold(before: Definition, after: Definition, changes: readonly Change[]): void {
  expect(changes.length === 0).toBe(definitionHash(before) === definitionHash(after))
  const made = requireDefinition(applyChanges(before, changes))
  expect(definitionHash(made), JSON.stringify(changes)).toBe(definitionHash(after))
}

function isAround({ beforePath, afterPath }: Change, place: string): boolean {
  return [beforePath, afterPath].some(
    (path) => path !== null && (place.startsWith(path) || path.startsWith(place)),
  )
}

/**
 * Every scalar changed, every member and item removed, every list turned around or with its first item at the end; every
 * step under another key, and at the end of all steps.
 */
function* editsOf(document: JsonObject): Generator<Edit> {
  for (const { path, value } of partsOf(document, [])) {
    const place = pathText(path)
    const edited = (to: Json | undefined): Edit => ({
      place,
      document: withValue(document as Document, path, to),
    })
    if (path.length > 0) yield edited(undefined)
    for (const other of othersOf(value)) yield edited(other)
    if (!Array.isArray(value) || value.length < 2) continue
    yield edited([...value].reverse())
    yield edited([...value.slice(1), value[0]])
  }
  for (const { path, step } of stepsOf(document as Document)) {
    const place = pathText(path)
    const text = JSON.stringify(document)
      .replaceAll(`"key":"${step.key}"`, `"key":"${step.key}_x"`)
      .replaceAll(new RegExp(`\\bsteps\\.${step.key}\\b`, 'g'), `steps.${step.key}_x`)
    yield { place, document: JSON.parse(text) }
    const without = withValue(document as Document, path, undefined)
    const top = Array.isArray(without.steps) ? without.steps : []
    yield { place, document: { ...without, steps: [...top, step] } }
  }
}

function* partsOf(
  value: Json,
  path: Path,
): Generator<{ readonly path: Path; readonly value: Json }> {
  yield { path, value }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* partsOf(item, [...path, index])
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) yield* partsOf(member, [...path, name])
  }
}

function othersOf(value: Json): readonly Json[] {
  if (typeof value === 'number') return [value + 1]
  if (typeof value === 'boolean') return [!value]
  if (typeof value !== 'string') return []
  const duration = /^\d+(s|m|h|d| workdays)$/.test(value) ? [value.replace(/^\d+/, '7')] : []
  const isWord = ['escalated', 'continue', 'resolved'].includes(value)
  return [`${value}x`, ...(isWord ? ['declined'] : []), ...duration]
}
