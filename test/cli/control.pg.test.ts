import { beforeAll, expect, test } from 'vitest'
import { openTestDatabase } from '../support/database.ts'
import { jsonValues, runCli } from './run-cli.ts'

const { config } = await openTestDatabase()
const environment = { DATABASE_URL: 'url' in config ? config.url : '', STEPWARDEN_DATA_DIR: '' }
const key = 'FAILED_PAYMENT_PLAYBOOK'
const input = ['--input', '{"transactionId": "TXN-DEMO-001"}']

async function run(...words: string[]) {
  const { stdout, stderr } = await runCli([...words, '--json'], { environment })
  return { stderr, output: Object(jsonValues(stdout)[0]) }
}

beforeAll(() => run('procedures', 'seed'))

test('on a server a command carries on no run but its own', async () => {
  const stored = await run('executions', 'start', key, '--detach', ...input)
  const { id } = stored.output.execution

  const own = await run('executions', 'start', key, ...input)
  const resolved = await run('resolve', 'Checkout failed but my card was charged for TXN-DEMO-001')
  const paused = await run('executions', 'pause', id)

  for (const { output, stderr } of [own, resolved]) {
    expect(stderr).toBe('')
    expect(output.execution.outcome).toBe('resolved')
  }
  expect(paused).toMatchObject({
    stderr: '',
    output: { execution: { status: 'paused' }, steps: [] },
  })
})
