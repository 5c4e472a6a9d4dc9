import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readDocument } from '../../src/documents/read-document.ts'
import { writeDocument } from '../../src/documents/write-document.ts'
import {
  defaultCategory,
  defaultMaxItems,
  defaultQuorum,
  defaultRetryBackoff,
  defaultRetryDelay,
  defaultTimeLimit,
  defaultToolTimeoutMs,
} from '../../src/domain/defaults.ts'
import { definitionShape } from '../../src/domain/definition-shape.ts'
import { formatMs } from '../../src/domain/duration.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { stepKinds } from '../../src/domain/step.ts'
import { stepShapes } from '../../src/domain/step-fields.ts'

const page = readFileSync(new URL('../../docs/language.md', import.meta.url), 'utf8')

/** The lines of the page's tables that tell of a field. */
function rowsOf(field: string): readonly string[] {
  return page.split('\n').filter((line) => line.startsWith('|') && line.includes(`\`${field}\``))
}

test('the example of the page is a definition, and is written as it is read', () => {
  const example = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? ''

  const definition = requireDefinition(readDocument(example, { name: 'docs/language.md' }).value)
  const again = readDocument(writeDocument(definition), { name: 'again' }).value

  expect(definition.steps).toHaveLength(4)
  expect(requireDefinition(again)).toEqual(definition)
})

test.each(Object.keys(definitionShape.in.shape))('the page has the field %s', (field) => {
  expect(rowsOf(field).length).toBeGreaterThan(0)
})

test.each(stepKinds)('the page has every field of a step of kind %s', (kind) => {
  const inText = ['key', 'action']
  const fields = Object.keys(stepShapes[kind].shape).filter((field) => !inText.includes(field))

  expect(fields.filter((field) => rowsOf(field).length === 0)).toEqual([])
})

test.each([
  ['category', defaultCategory],
  ['timeLimit', defaultTimeLimit],
  ['timeout', formatMs(defaultToolTimeoutMs)],
  ['maxItems', String(defaultMaxItems)],
  ['delay', defaultRetryDelay],
  ['backoff', String(defaultRetryBackoff)],
])('the page gives the default of %s, which is %s', (field, standard) => {
  expect(rowsOf(field).join('\n')).toContain(`\`${standard}\``)
})

test('the page gives the default of quorum', () => {
  expect(rowsOf('quorum').join('\n')).toContain(`\`quorum\` (default ${defaultQuorum})`)
})
