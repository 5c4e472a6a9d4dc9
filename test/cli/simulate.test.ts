import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { runCli, temporaryFolder } from './run-cli.ts'

vi.setConfig({ testTimeout: 120_000 })

const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const seeds = new URL('../../seeds/', import.meta.url)
const playbook = new URL('procedures/duplicate-charge.yaml', seeds).pathname
const scenarios = new URL('scenarios/duplicate-charge.yaml', seeds).pathname
const text = readFileSync(scenarios, 'utf8')

function write(name: string, content: string): string {
  const file = join(folder, 'files', name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, content)
  return file
}

const simulate = (words: readonly string[], input = '') =>
  runCli(['simulate', ...words], { dataDir, input })

test('runs all scenarios in a folder, and opens no database', async () => {
  const { exitCode, stdout, stderr } = await simulate([seeds.pathname])

  expect(stderr).toBe('')
  expect(stdout).toContain(
    'DUPLICATE_CHARGE_PLAYBOOK\n  ✓ A first refund is issued  resolved, 8 steps\n',
  )
  expect(stdout).toMatch(
    /7 scenarios, all as expected\.\n {2}They reach 9 of 9 steps, 10 of 10 branches\.\n/,
  )
  expect(exitCode).toBe(0)
  expect(existsSync(dataDir)).toBe(false)
})

test('shows the first step that differs, and what is not reached', async () => {
  const wrong = write(
    'wrong.yaml',
    text
      .replace('- issue_refund\n', '- issue_the_refund\n')
      .replaceAll('issue_the_refund', 'tell_existing')
      .replace('state: processing', 'state: cancelled'),
  )

  const { exitCode, stdout } = await simulate([playbook, '--scenarios', wrong])

  expect(stdout).toContain('  ✗ A first refund is issued  resolved, 8 steps\n')
  expect(stdout).toContain('      step 7: expected tell_existing, found issue_refund\n')
  expect(stdout).toContain(
    "  ✗ A refund exists already\n      Nothing says what comes to 'issue_refund'. It needs the output of issue_refund, or fails.\n",
  )
  expect(stdout).toContain('  2 of 7 scenarios not as expected.\n')
  expect(stdout).toContain("    by_refund_state: 'A refund exists' is chosen\n")
  expect(exitCode).toBe(1)
})

test('tells results that could never be with their places in the file', async () => {
  const wrong = write('misfit.yaml', text.replace('state: processing', 'state: procesing'))

  const { exitCode, stdout } = await simulate([playbook, wrong])

  const line = text.split('\n').findIndex((one) => one.includes('state: processing')) + 1
  expect(stdout).toMatch(
    new RegExp(
      `      ${wrong}:${line}:\\d+ steps\\.check_refund\\.output\\.state: found 'procesing', expected one of`,
    ),
  )
  expect(exitCode).toBe(1)
})

test('tells what is wrong with files, all at once', async () => {
  const bad = write('bad.yaml', 'procedure: DUPLICATE_CHARGE_PLAYBOOK\nscenarios:\n  - nam: a\n')
  const stray = write('stray.yaml', text.replace('procedure: DUPLICATE', 'procedure: OTHER'))
  const broken = write('broken.yaml', 'scenarios: [')

  const { exitCode, stdout } = await simulate([playbook, bad, stray, broken, '--json'])

  const output = JSON.parse(stdout)
  expect(output.ok).toBe(false)
  expect(output.problems).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ file: bad, path: 'scenarios[0].nam', line: 3, column: 5 }),
      expect.objectContaining({ file: bad, path: 'scenarios[0].name' }),
      expect.objectContaining({ file: bad, path: 'scenarios[0].expect' }),
      expect.objectContaining({ file: stray, path: 'procedure', line: 1 }),
      expect.objectContaining({ file: broken, line: 1 }),
    ]),
  )
  expect(output.procedures).toEqual([])
  expect(exitCode).toBe(2)
})

test('runs nothing when a file has a mistake', async () => {
  const bad = write('nameless.yaml', 'procedure: DUPLICATE_CHARGE_PLAYBOOK\nscenarios:\n  - {}\n')

  const { exitCode, stdout } = await simulate([playbook, bad])

  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/nameless\.yaml:3:\d+ scenarios\[0\]\.name: /),
    expect.stringMatching(/nameless\.yaml:3:\d+ scenarios\[0\]\.expect: /),
  ])
  expect(exitCode).toBe(2)
})

test('answers everything with --json', async () => {
  const { stdout } = await simulate([playbook, scenarios, '--json'])

  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    problems: [],
    procedures: [
      {
        procedureKey: 'DUPLICATE_CHARGE_PLAYBOOK',
        file: playbook,
        coverage: { steps: { total: 9, reached: 9 } },
        scenarios: expect.arrayContaining([
          expect.objectContaining({
            name: 'A first refund is issued',
            file: scenarios,
            line: 3,
            ok: true,
          }),
        ]),
      },
    ],
  })
})

test('answers as docs/scenarios.md shows it', async () => {
  const page = readFileSync(new URL('../docs/scenarios.md', seeds), 'utf8')
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(page) ?? []
  const [shown = ''] = /(?<=\n\n)( {4}.*\n)+/.exec(page) ?? []

  const { stdout } = await simulate([playbook, '-'], example)

  expect(stdout).toBe(shown.replaceAll(/^ {4}/gm, ''))
})

test('says that there is nothing to run', async () => {
  const { exitCode, stderr } = await simulate([playbook])

  expect(stderr).toContain('There are no scenarios in what was given.')
  expect(exitCode).toBe(2)
})

test('stores, shows and runs the scenarios of a draft', async () => {
  const key = 'DUPLICATE_CHARGE_PLAYBOOK'
  const one = write('one.yaml', text.slice(0, text.indexOf('  - name: A refund exists already')))
  const foreign = new URL('scenarios/refund-delay.yaml', seeds).pathname
  const lines = [
    `/procedures create ${playbook} --scenarios ${scenarios}`,
    `/procedures simulate ${key}`,
    `/procedures scenarios ${key} 1 --yaml`,
    `/procedures scenarios ${key} 1 --set ${one} --revision 7`,
    `/procedures scenarios ${key} 1 --set ${one}`,
    `/procedures new-version ${key}`,
    `/procedures scenarios ${key} 2`,
    `/procedures simulate ${key} 2 --scenarios ${scenarios}`,
    `/procedures simulate ${key} --scenarios ${foreign}`,
  ]

  const { stdout, stderr } = await runCli(['chat'], {
    dataDir: join(folder, 'stored'),
    input: lines.join('\n'),
  })

  expect(stdout).toContain(`${key}  version 1\n  ✓ A first refund is issued`)
  expect(stdout).toContain(`procedure: ${key}\nscenarios:\n  - name: A first refund is issued\n`)
  expect(stdout).toContain(`Version 1 of ${key} has 1 scenario now, at revision 2.`)
  expect(stdout).toContain(`Version 2 of ${key}, draft, revision 1.\nSCENARIO`)
  expect(stdout).toMatch(/\nA first refund is issued +resolved/)
  expect(stdout).toContain(`${key}  version 2\n  ✓ A first refund is issued`)
  expect(stderr).toContain('is at revision 1 now, and you saw 7')
  expect(stderr).toContain(`are for REFUND_DELAY_PLAYBOOK, not for ${key}`)
})
