import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { readDocument } from '../../src/documents/read-document.ts'
import { runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const folder = temporaryFolder()
const example = (name: string) =>
  readFileSync(new URL(`../domain/imports/${name}.json`, import.meta.url), 'utf8')

function file(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return path
}

const learned = file('learned.json', example('learned'))
const support = file('support.json', example('support'))
const imports = (dataDir: string, ...words: readonly string[]) =>
  runCli(['procedures', 'import', ...words], { dataDir: join(folder, dataDir) })

test('--dry-run prints definitions that the checks take, and opens no database', async () => {
  const dry = await imports('none', '--dry-run', learned)
  const checked = await runCli(['check', '-'], { input: dry.stdout })

  expect(dry.exitCode).toBe(0)
  expect(readDocument(dry.stdout, { name: 'dry run' }).value).toMatchObject({
    key: 'REFUND_STATUS',
  })
  const line = example('learned')
    .split('\n')
    .findIndex((text) => text.includes('execution_count'))
  expect(dry.stderr).toContain(
    `note execution_count: figures are of the runs that are made here; left out (line ${line + 1}, column 3)`,
  )
  expect(dry.stderr).toMatch(/The checks found .*\n/)
  expect(checked.stdout).toMatch(/ in 1 file\.\n$/)
  expect(existsSync(join(folder, 'none'))).toBe(false)
})

test('--dry-run --json answers definitions, notes and findings', async () => {
  const { stdout, stderr } = await imports('none', '--dry-run', '--json', learned, support)

  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toMatchObject([
    { file: learned, definition: { key: 'REFUND_STATUS' }, notes: expect.any(Array) },
    {
      definition: { key: 'FAILED_PAYMENT_PLAYBOOK' },
      findings: expect.arrayContaining([expect.objectContaining({ rule: 'prose-only' })]),
    },
  ])
})

test('makes drafts, says what was not carried over, and changes nothing the second time', async () => {
  const first = await imports('data', learned, support)
  expect(first).toMatchObject({ exitCode: 0, stderr: '' })
  expect(first.stdout).toContain('Version 1 of REFUND_STATUS is there, as a draft.')
  expect(first.stdout).toContain('note steps[2]: names no tool')
  expect(first.stdout).toContain('Version 1 of FAILED_PAYMENT_PLAYBOOK is there, as a draft.')

  const again = await imports('data', '--json', learned)
  expect(JSON.parse(again.stdout)).toMatchObject([
    { result: 'unchanged', versionNumber: 1, status: 'draft' },
  ])

  const changed = file('changed.json', example('learned').replace('Tells a', 'Tells each'))
  const next = await imports('data', '--json', changed)
  expect(JSON.parse(next.stdout)).toMatchObject([
    { result: 'created', procedureKey: 'REFUND_STATUS', versionNumber: 2, status: 'draft' },
  ])
})

test('tells the mistakes of all files at once, and saves none of them', async () => {
  const wrong = file(
    'wrong/a.json',
    example('learned').replace('"trigger_conditions"', '"triggers"'),
  )
  const worse = file('wrong/b.json', example('support').replace('"tool": null', '"tol": null'))
  const refused = await imports('data-of-none', wrong, worse, support)

  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toContain(`${wrong} triggers`)
  expect(refused.stderr).toContain(`${worse} steps[0]: has no kind`)
  expect(existsSync(join(folder, 'data-of-none'))).toBe(false)

  const twice = file('twice.json', example('support'))
  const same = await imports('data-of-none', support, twice)
  expect(same.stderr).toContain(`which is the key of ${support} as well`)
})

test('says of a file of scenarios which command takes it', async () => {
  const scenarios = file('scenarios.yaml', 'procedure: REFUND_STATUS\nscenarios: []\n')

  const refused = await imports('data-of-none', '--dry-run', scenarios)

  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toContain('is a file of scenarios and no procedure')
  expect(refused.stderr).toContain(`'stepwarden simulate PLAYBOOK ${scenarios}' runs them`)
})

test('a finding without its file says that its column is one of the expression', async () => {
  const steps = '\n  - key: a\n    action: A\n    compute: { b: steps.none.output }\n'
  const definition = `key: FOUND\nname: Found\ndescription: Found\ninternal: true\nsteps:${steps}`
  const found = file('found.yaml', definition)
  const { stdout } = await runCli(['chat'], {
    dataDir: join(folder, 'found'),
    input: [
      `/procedures import ${found}`,
      '/procedures show FOUND',
      '/procedures activate FOUND 1',
    ].join('\n'),
  })

  const place = /steps\[0\]\.compute\.b: .*\n?.*\(column 7 of the\s+expression\)/g
  expect(stdout.match(place)?.length).toBeGreaterThanOrEqual(2)
  expect(stdout).not.toContain('line 1, column')
})
