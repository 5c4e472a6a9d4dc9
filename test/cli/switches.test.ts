import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const key = 'FAILED_PAYMENT_PLAYBOOK'

async function session(...lines: string[]): Promise<string> {
  const { stdout, stderr } = await runCli(['chat'], { dataDir, input: lines.join('\n') })
  return stdout + stderr
}

test('procedures and tools are stopped, listed as stopped, and allowed again', async () => {
  const text = await session(
    '/procedures seed',
    `/procedures stop ${key} --reason "refunds twice"`,
    `/executions start ${key}`,
    `/procedures allow ${key}`,
    '/tools stop issue_refund --reason "The bank says no."',
    '/tools list',
    '/executions start DUPLICATE_CHARGE_PLAYBOOK',
    '/tools allow issue_refund',
    '/tools stop issue_refnd --reason x',
  )

  expect(text).toContain(`${key} cannot be started from now on. 0 runs held.`)
  expect(text).toContain('No write is in flight.')
  expect(text).toMatch(
    new RegExp(`${key} cannot be started\\. It was stopped by \\S+ at \\S+: refunds twice\\.`),
  )
  expect(text).toContain(`${key} may run again. No run was held for it.`)
  expect(text).toMatch(/^issue_refund +write +[0-9a-f]{12} .*by .*: The bank says no\.$/m)
  expect(text).toMatch(
    /DUPLICATE_CHARGE_PLAYBOOK cannot be started: it uses the tool issue_refund, which was stopped by/,
  )
  expect(text).toContain('issue_refund may run again.')
  expect(text).toContain('There is no tool issue_refnd here')
})

test('a version is scheduled, looked at, taken back, and rolled back to', async () => {
  const values = jsonValues(
    (
      await runCli(['chat', '--json'], {
        dataDir,
        input: [
          `/procedures new-version ${key}`,
          `/procedures activate ${key} 2 --at 2999-01-01`,
          `/procedures schedules ${key} --open`,
          `/procedures activate ${key} 2 --at yesterday`,
          `/procedures activate ${key} 2`,
          `/procedures rollback ${key} 1`,
          `/procedures review-by ${key} 3 2020-01-01`,
          '/procedures list --review-due',
          `/procedures show ${key} --as-of 2999-01-01T00:00:00+01:00`,
        ].join('\n'),
      })
    ).stdout,
  ).map((value) => Object(value))

  const [, scheduled, schedules, activated, back, reviewBy, due, shown] = values
  expect(scheduled).toMatchObject({ at: '2999-01-01T00:00:00.000Z', seenActive: 1, status: 'open' })
  expect(schedules.items).toEqual([scheduled])
  expect(activated).toMatchObject({ versionNumber: 2, status: 'active' })
  expect(back).toMatchObject({ versionNumber: 3, status: 'active' })
  expect(reviewBy).toMatchObject({ versionNumber: 3, reviewBy: '2020-01-01T00:00:00.000Z' })
  expect(due.items).toMatchObject([{ procedureKey: key, activeVersionNumber: 3 }])
  expect(shown.version).toMatchObject({ versionNumber: 3 })

  const id = scheduled.scheduleId
  const text = await session(`/procedures unschedule ${id}`, `/procedures schedules ${key}`)
  expect(text).toContain(`Version 2 of ${key} does not go live at 2999-01-01 00:00:00Z.`)
  expect(text).toMatch(new RegExp(`^${id} +2999-01-01 00:00:00Z +${key} v2 .* cancelled`, 'm'))
})

test('what a routing test finds is told with the id that acknowledges it', async () => {
  const file = join(folder, 'taker.yaml')
  writeFileSync(
    file,
    [
      'key: TAKER',
      'name: Duplicate charges',
      'description: I was charged twice. There are two payments for one order on my card.',
      'issuePatterns: [I was charged twice, there are two payments for one order on my card]',
      'steps: [{ key: known, action: Know, compute: { known: "true" } }]',
    ].join('\n'),
  )
  await session(`/procedures create ${file}`)

  const refused = await runCli(['procedures', 'activate', 'TAKER', '1'], { dataDir })

  expect(refused.exitCode).toBe(4)
  const shown = await runCli(['procedures', 'review', 'TAKER', '1'], { dataDir })
  expect(shown.stdout).toMatch(
    /--acknowledge:\n {2}example-taken-away:[0-9a-f]{12} {2}'I was charged/,
  )
  const ids = refused.stderr.match(/example-taken-away:[0-9a-f]{12}/g) ?? []
  expect(ids.length).toBeGreaterThan(0)
  const words = [
    'procedures',
    'activate',
    'TAKER',
    '1',
    '--acknowledge',
    [...new Set(ids)].join(','),
  ]
  const activated = await runCli(words, { dataDir })
  expect(activated.exitCode).toBe(0)
  expect(activated.stdout).toContain('Version 1 of TAKER serves from now on.')
  expect(activated.stdout).toContain(`[${ids[0]}]`)
})
