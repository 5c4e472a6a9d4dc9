import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { copyRun } from '../support/copy-runs.ts'
import { openTestDatabase } from '../support/database.ts'
import { jsonValues, runCli, startCli, temporaryFolder } from './run-cli.ts'

vi.setConfig({ testTimeout: 240_000 })

const db = await openTestDatabase()
const folder = temporaryFolder()
const environment = {
  DATABASE_URL: 'url' in db.config ? db.config.url : '',
  STEPWARDEN_DATA_DIR: '',
}
const key = 'DUPLICATE_CHARGE_PLAYBOOK'
const runCount = 8_000
const run = (...words: string[]) => runCli(words, { environment })
const output = async (...words: string[]) => {
  const { stdout } = await run(...words, '--json')
  return Object(jsonValues(stdout)[0])
}

beforeAll(async () => {
  await run('procedures', 'seed')
  const input = ['--input', '{"transactionId": "TXN-DUP-002"}']
  const { execution } = await output('executions', 'start', key, ...input)
  expect(execution.outcome).toBe('resolved')
  await db.asApp('default', (client) =>
    copyRun(
      client,
      execution.id,
      runCount - 1,
      (text) => text,
      Date.parse(execution.createdAt) - 1,
    ),
  )
  const yaml = await run('procedures', 'show', key, '--yaml')
  const file = join(folder, 'draft.yaml')
  expect(yaml.stdout).toContain('refundLimit: 500')
  writeFileSync(file, yaml.stdout.replace('refundLimit: 500', 'refundLimit: 20'))
  expect((await run('procedures', 'new-version', key, '--file', file)).exitCode).toBe(0)
})

test('a backtest that is killed leaves what it has found, and the same command carries it on', async () => {
  const killed = startCli(['backtest', key, '2', '--json'], { environment })
  await killed.says(`of ${runCount.toLocaleString('en')} runs`)
  killed.child.kill('SIGKILL')
  await killed.ended
  const { items: before } = await output('backtests', 'list', key, '2')

  const { exitCode, stdout, stderr } = await run('backtest', key, '2', '--json')

  expect(before).toMatchObject([{ state: 'running', runCount }])
  expect(before[0].doneCount).toBeGreaterThan(0)
  expect(before[0].doneCount).toBeLessThan(runCount)
  expect(exitCode).toBe(0)
  expect(stderr).not.toContain('error')
  const done = Object(jsonValues(stdout)[0])
  expect(done).toMatchObject({
    ...{ backtestId: before[0].backtestId, state: 'done', doneCount: runCount },
    ...{ same: 0, different: runCount, unknown: 0 },
  })
  expect(done.runs).toHaveLength(20)
  const { items: after } = await output('backtests', 'list', key, '2')
  expect(after).toHaveLength(1)
})

test('a backtest is shown in lines, with the first of the runs and how to see the others', async () => {
  const { stdout, exitCode } = await run('backtest', key, '2', '--limit', '30')

  expect(exitCode).toBe(0)
  expect(stdout).toContain(`${key}  version 2, against 30 finished runs\n`)
  expect(stdout).toContain(
    '30  end otherwise\n        30: resolved → declined (requirement_failed: The amount is within the limit)\n',
  )
  expect(stdout).toMatch(/exec_\w+ +v1 resolved +declined \(.*\) +eligible +another end/)
  expect(stdout).toMatch(/And 10 runs more: stepwarden backtests show bkt_\w+ --cursor exec_/)
})

test('a filter that nothing matches says so, and a wrong one what it should be', async () => {
  const none = await run('backtest', key, '2', '--to', '2020-01-01')
  const wrong = await run('backtest', key, '2', '--status', 'happy')
  const missing = await run('backtest', key, '9')

  expect(none.stdout).toContain('No finished run of it is like that: nothing was learned.')
  expect(none.exitCode).toBe(0)
  expect(wrong.stderr).toContain('status')
  expect([wrong.exitCode, missing.exitCode]).toEqual([2, 3])
})

test('insights are shown in lines', async () => {
  const { stdout, exitCode } = await run('insights', key)

  expect(exitCode).toBe(0)
  expect(stdout).toContain(`${key} v1`)
  expect(stdout).toMatch(/v1 check_refund +check_refund +\d+ +0 +100 % \(100–100\)/)
})
