import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

const dataDir = join(temporaryFolder(), 'data')
const key = 'FAILED_PAYMENT_PLAYBOOK'
const input = ['--input', '{"transactionId": "TXN-DEMO-001"}']

async function run(...words: string[]) {
  const { stdout, stderr } = await runCli([...words, '--json'], { dataDir })
  return { stderr, output: Object(jsonValues(stdout)[0]) }
}

const startDetached = async (): Promise<string> =>
  (await run('executions', 'start', key, '--detach', ...input)).output.execution.id

beforeAll(() => run('procedures', 'seed'))

test('a run that was only stored is there to be paused, cancelled and looked at', async () => {
  const paused = await startDetached()
  const cancelled = await startDetached()

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
  const [one, other] = [await startDetached(), await startDetached()]
  await run('executions', 'pause', one)

  const { output, stderr } = await run('executions', 'resume', one)

  expect(output).toMatchObject({ execution: { outcome: 'resolved' } })
  expect(stderr).toBe('')
  expect((await run('executions', 'show', other)).output).toMatchObject({
    execution: { status: 'pending' },
  })
})
