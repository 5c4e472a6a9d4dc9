import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const dataDir = join(temporaryFolder(), 'data')
const key = 'FAILED_PAYMENT_PLAYBOOK'
const input = ['--input', '{"transactionId": "TXN-DEMO-001"}']

async function run(...words: string[]) {
  const { stdout, stderr } = await runCli([...words, '--json'], { dataDir })
  return { stderr, output: Object(jsonValues(stdout)[0]) }
}

const storeRun = `/executions start ${key} --detach --input '{"transactionId": "TXN-DEMO-001"}'`

/** Stores two runs in one session, which has nothing to carry on when it opens. */
async function storeTwo(...before: string[]): Promise<readonly [string, string]> {
  const lines = [...before, storeRun, storeRun].join('\n')
  const { stdout } = await runCli(['chat', '--json'], { dataDir, input: lines })
  const [one, other] = jsonValues(stdout).slice(before.length)
  return [Object(one).execution.id, Object(other).execution.id]
}

test('a run that was only stored is there to be paused, cancelled and looked at', async () => {
  const [paused, cancelled] = await storeTwo('/procedures seed')

  expect(await run('executions', 'pause', paused)).toMatchObject({
    stderr: '',
    output: { execution: { status: 'paused' }, steps: [] },
  })
  expect(await run('executions', 'cancel', cancelled)).toMatchObject({
    stderr: '',
    output: { execution: { status: 'cancelled' }, steps: [] },
  })
  const { output, stderr } = await run('executions', 'list')
  expect(stderr).toBe('')
  expect(output.items.map((item: { status: string }) => item.status)).toEqual([
    'cancelled',
    'paused',
  ])

  const resumed = await run('executions', 'resume', paused, '--detach')
  expect(resumed.output).toMatchObject({ execution: { status: 'running' }, steps: [] })

  const next = await run('executions', 'start', key, ...input)
  expect(next.output).toMatchObject({ execution: { outcome: 'resolved' } })
  expect(next.stderr).toBe(`1 execution that nobody had was carried on: ${paused} (resolved)\n`)
})

test('a resumed run is carried on by the command itself, and no other', async () => {
  const [one, other] = await storeTwo()
  await run('executions', 'pause', one)

  const { output, stderr } = await run('executions', 'resume', one)

  expect(output).toMatchObject({ execution: { outcome: 'resolved' } })
  expect(stderr).toBe('')
  expect((await run('executions', 'show', other)).output).toMatchObject({
    execution: { status: 'pending' },
  })
})
