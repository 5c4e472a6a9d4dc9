import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rules } from '../../src/checks/rules.ts'
import { listDocumentFiles } from '../../src/cli/document-files.ts'
import { runCli, temporaryFolder } from './run-cli.ts'

const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const playbooks = join(folder, 'playbooks')
const seed = readFileSync(
  new URL('../../seeds/procedures/refund-delay.yaml', import.meta.url),
  'utf8',
)

function write(name: string, text: string): string {
  const file = join(playbooks, name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, text)
  return file
}

const good = write('good.yaml', seed)
const bad = write(
  'deep/bad.yaml',
  seed.replace('refund.output.etaBusinessDays != null', 'refund.output.eta != null'),
)
const warned = write('deep/warned.yml', seed.replace('  - refund is late\n', '  - refund\n'))
write('other.json', '{"name": "no playbook"}')

const check = (words: readonly string[], input = '') =>
  runCli(['check', ...words], { dataDir, input })

test('a sound playbook draws nothing, and no database is opened', async () => {
  const { exitCode, stdout } = await check([good])

  expect(stdout).toBe('✓ The checks found nothing in 1 file.\n')
  expect(exitCode).toBe(0)
  expect(existsSync(dataDir)).toBe(false)
})

test('a finding is a line with the place in the file', async () => {
  const { exitCode, stdout } = await check([bad])

  const line = seed.split('\n').findIndex((text) => text.includes('etaBusinessDays != null')) + 1
  expect(stdout).toMatch(
    new RegExp(`^${bad}:${line}:41 error unknown-reference steps\\[4\\]\\.require\\[1\\]\\.when: `),
  )
  expect(stdout).toMatch(/\n1 error, 0 warnings in 1 file\.\n$/)
  expect(exitCode).toBe(1)
})

test('a call of a procedure that is not among the files is told as unchecked', async () => {
  const called = write('../called.yaml', seed.replace(/^key: .*$/m, 'key: CALLED'))
  const calling = write(
    '../calling.yaml',
    'key: CALLING\nname: Call\ndescription: Calls another\ninternal: true\nsteps:\n' +
      '  - key: down\n    action: Call\n    call: CALLED\n',
  )

  const alone = await check([calling])
  const both = await check([calling, called])

  expect(alone.stdout).toContain(
    `${calling}:8:5 warning call-unchecked steps[0].call: CALLED is not among what was given`,
  )
  expect(alone.exitCode).toBe(0)
  expect(both.stdout).not.toContain('call-unchecked')
})

test('warnings count only when they are to', async () => {
  expect((await check([warned])).exitCode).toBe(0)
  expect((await check([warned, '--strict'])).exitCode).toBe(1)
})

test.each([
  ['a folder', [playbooks], ['deep/bad.yaml', 'deep/warned.yml', 'good.yaml', 'other.json']],
  ['a pattern', [join(playbooks, '**/*.yaml')], ['deep/bad.yaml', 'good.yaml']],
  [
    'a pattern of one folder',
    [join(playbooks, 'd?ep/*.y*ml')],
    ['deep/bad.yaml', 'deep/warned.yml'],
  ],
  ['the same file twice', [good, join(playbooks, 'good*')], ['good.yaml']],
  ['standard input', ['-'], ['-']],
])('takes %s', (_name, words, files) => {
  const found = listDocumentFiles(words)

  expect(found.map(({ file }) => file.replace(`${playbooks}/`, ''))).toEqual(files)
})

test('says which files of a folder are no playbooks', async () => {
  const { stderr } = await check([playbooks])

  expect(stderr).toContain('other.json')
})

test('takes standard input, and tells what cannot be read as findings', async () => {
  const broken = await check(['-', '--json'], 'key: [')
  const misspelt = await check(['-', '--json'], seed.replace('preconditions:', 'precondition:'))

  expect(JSON.parse(broken.stdout)).toMatchObject({
    ok: false,
    files: [{ file: '-', key: null, findings: [{ rule: 'document-invalid' }] }],
  })
  expect(JSON.parse(misspelt.stdout).files[0]).toMatchObject({
    key: 'REFUND_DELAY_PLAYBOOK',
    findings: [{ rule: 'definition-invalid', path: 'precondition', column: 1 }],
  })
  expect(misspelt.exitCode).toBe(1)
})

test('calls are checked against the other files', async () => {
  const caller = write(
    'calls/caller.yaml',
    seed.replace(
      /steps:\n[\s\S]*?completionConditions/,
      'steps:\n  - { key: other, action: Call, call: OTHER, with: { id: 1 } }\ncompletionConditions',
    ),
  )
  const called = write('../calls/called.yaml', seed.replace('REFUND_DELAY_PLAYBOOK', 'OTHER'))

  const alone = await check([caller, '--json'])
  const together = await check([caller, called, '--json'])

  const rulesOf = (stdout: string) =>
    JSON.parse(stdout).files[0].findings.map(({ rule }: { rule: string }) => rule)
  expect(rulesOf(alone.stdout)).not.toContain('missing-field')
  expect(rulesOf(together.stdout)).toEqual(
    expect.arrayContaining(['missing-field', 'unknown-field']),
  )
})

test('answers in SARIF', async () => {
  const { stdout, exitCode } = await check([bad, '--sarif'])

  const log = JSON.parse(stdout)
  const [run] = log.runs
  expect(log.version).toBe('2.1.0')
  expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(Object.keys(rules))
  expect(run.tool.driver.rules[8].help.markdown).toContain('```yaml')
  expect(run.results).toEqual([
    {
      ruleId: 'unknown-reference',
      ruleIndex: run.tool.driver.rules.findIndex(
        ({ id }: { id: string }) => id === 'unknown-reference',
      ),
      level: 'error',
      message: { text: expect.stringContaining('there are: etaBusinessDays, state') },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: `file://${bad}` },
            region: { startLine: expect.any(Number), startColumn: 41 },
          },
          logicalLocations: [{ fullyQualifiedName: 'steps[4].require[1].when' }],
        },
      ],
    },
  ])
  expect(exitCode).toBe(1)
})

test('refuses what is not there', async () => {
  const { exitCode, stderr } = await check([join(folder, 'none.yaml')])

  expect(stderr).toMatch(/none\.yaml/)
  expect(exitCode).toBe(2)
  expect(() => listDocumentFiles([join(playbooks, 'none*.yaml')])).toThrow(/no YAML or JSON file/)
})
