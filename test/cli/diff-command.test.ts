import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diffScreen } from '../../src/cli/diff-screen.ts'
import { Terminal } from '../../src/cli/terminal.ts'
import { textWidth } from '../../src/cli/text-width.ts'
import { diffDefinitions } from '../../src/diff/diff-versions.ts'
import { readDocument } from '../../src/documents/read-document.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { runCli, temporaryFolder } from './run-cli.ts'

const folder = temporaryFolder()
const example = readFileSync(
  new URL('../../seeds/procedures/refund-delay.yaml', import.meta.url),
  'utf8',
)
const edited = example
  .replace('maxAttempts: 3', 'maxAttempts: 5')
  .replace('  - where is my refund\n', '  - my refund is not there\n')
  .replace(
    'action: Look the transaction up',
    'action: Find the transaction with everything that the desk knows about it, and of its order',
  )
const [before, after] = [join(folder, 'before.yaml'), join(folder, 'after.yaml')]
writeFileSync(before, example)
writeFileSync(after, edited)
const diff = (...words: readonly string[]) => runCli(['diff', ...words], { dataDir: folder })

function definitionOf(text: string) {
  return requireDefinition(readDocument(text, { name: 'test' }).value)
}

function screenOf(isTTY: boolean, columns?: number, indent = 0): string {
  const sink = { isTTY, columns, write: () => true }
  const terminal = new Terminal({
    out: sink,
    err: sink,
    environment: { TERM: 'xterm' },
    json: false,
  })
  const changes = diffDefinitions(definitionOf(example), definitionOf(edited))
  return diffScreen(terminal, changes, indent)
}

test('two files are compared without a database, as text, Markdown and JSON', async () => {
  const [text, markdown, json, same] = await Promise.all([
    diff(before, after),
    diff(before, after, '--format', 'markdown'),
    diff(before, after, '--json'),
    diff(before, before, '--format', 'json'),
  ])

  expect(text).toMatchObject({ exitCode: 0, stderr: '' })
  expect(text.stdout).toContain('~ changed retry.maxAttempts: 3 → 5')
  expect(text.stdout).toContain('- removed issuePatterns[1]: where is my refund')
  expect(markdown.stdout).toContain('- changed `retry.maxAttempts`: `3` → `5`')
  expect(JSON.parse(json.stdout)).toMatchObject({ isSame: false, before: { file: before } })
  expect(JSON.parse(same.stdout)).toMatchObject({ isSame: true, changes: [] })
})

test('says what is wrong with a file, and how it is called', async () => {
  const bad = join(folder, 'bad.yaml')
  writeFileSync(bad, `${example}colour: red\n`)

  const [invalid, once, unknown] = await Promise.all([
    diff(before, bad),
    diff(before),
    diff(before, after, '--format', 'html'),
  ])

  expect(invalid).toMatchObject({ exitCode: 2, stdout: '' })
  expect(invalid.stderr).toMatch(/colour: .*\(line \d+, column 1\)/)
  expect(once.stderr).toContain('It takes a key and up to two versions of it')
  expect(unknown.stderr).toContain("There is no format 'html'")
})

test('has colours on a terminal alone, and fits its width', () => {
  const [piped, narrow] = [screenOf(false), screenOf(true, 50)]

  expect(piped).not.toContain('\u001b')
  expect(narrow).toContain('\u001b[32m+\u001b[39m')
  const lines = [...narrow.split('\n'), ...screenOf(true, 50, 6).split('\n')]
  for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(50)
})
