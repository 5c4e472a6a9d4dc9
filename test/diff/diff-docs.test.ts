import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { diffScreen } from '../../src/cli/diff-screen.ts'
import { Terminal } from '../../src/cli/terminal.ts'
import { diffDefinitions } from '../../src/diff/diff-versions.ts'
import { readDocument } from '../../src/documents/read-document.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'

const page = readFileSync(new URL('../../docs/diff.md', import.meta.url), 'utf8')

function blockOf(info: string): string {
  return new RegExp(`\`\`\`${info}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''
}

function definitionOf(info: string) {
  return requireDefinition(readDocument(blockOf(info), { name: info }).value)
}

test('docs/diff.md shows what is found between its two playbooks', () => {
  const sink = { isTTY: false, write: () => true }
  const terminal = new Terminal({ out: sink, err: sink, environment: {}, json: false })
  const changes = diffDefinitions(definitionOf('yaml before'), definitionOf('yaml after'))

  expect(blockOf('text')).toBe(`${diffScreen(terminal, changes)}\n`)
})
