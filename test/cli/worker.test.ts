import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jsonValues, runCli, startCli, temporaryFolder } from './run-cli.ts'

const dataDir = join(temporaryFolder(), 'data')
const run = async (...words: string[]) => {
  const { exitCode, stdout, stderr } = await runCli([...words, '--json'], { dataDir })
  return { exitCode, stderr, output: jsonValues(stdout)[0] as Record<string, unknown> }
}

test('a run that was only stored is carried out by a worker, which ends when nothing is left', async () => {
  await run('procedures', 'seed')
  const input = ['--input', '{"transactionId": "TXN-DEMO-001"}']
  const started = await run('executions', 'start', 'FAILED_PAYMENT_PLAYBOOK', '--detach', ...input)
  expect(started.output).toMatchObject({ execution: { status: 'pending' }, steps: [] })

  const worked = await run('worker', '--until-idle')

  expect(worked).toMatchObject({ exitCode: 0, output: { carriedOn: 1 } })
  const { output } = await run('executions', 'list')
  expect(output).toMatchObject({ items: [{ status: 'completed', outcome: 'resolved' }] })
})

test('a worker that is told to stop ends well', async () => {
  const { child, ended } = startCli(['worker'], { dataDir })
  await new Promise<void>((resolve) => {
    child.stderr?.on('data', (chunk) => {
      if (String(chunk).includes('is at work')) resolve()
    })
  })

  child.kill('SIGTERM')

  expect(await ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Stopped.') })
})
