import { expect, test } from 'vitest'
import { definitionSections } from '../../src/cli/definition-screen.ts'
import { Terminal } from '../../src/cli/terminal.ts'
import type { Json } from '../../src/domain/json.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { seedDefinitions } from '../support/app.ts'

const sink = { write: () => {} }
const terminal = new Terminal({ out: sink, err: sink, environment: {}, json: false })

/** What the head of the screen has. */
const inHead = ['key', 'name', 'description', 'category', 'issuePatterns', 'successCriteria']

/** Every text and number at any depth. */
function leaves(value: Json): readonly string[] {
  if (value === null || typeof value === 'boolean') return []
  if (typeof value !== 'object') return [String(value)]
  return Object.values(value).flatMap(leaves)
}

test.each([...seedDefinitions()])('a reviewer sees all that %s says', (_key, document) => {
  const definition = requireDefinition(document)

  const sections = definitionSections(terminal, definition)

  const screen = sections.flatMap(([, lines]) => lines).join('\n')
  const { type: _object, ...input } = Object(definition.input)
  const told = Object.entries({ ...definition, input }).filter(([name]) => !inHead.includes(name))
  for (const leaf of leaves(JSON.parse(JSON.stringify(Object.fromEntries(told)))))
    expect(screen).toContain(leaf)
})
