import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { jsonValues, runCli, startCli, temporaryFolder } from './run-cli.ts'

const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const run = async (...words: string[]) => {
  const { exitCode, stdout, stderr } = await runCli([...words, '--json'], { dataDir })
  return { exitCode, stderr, output: jsonValues(stdout)[0] as Record<string, unknown> }
}

test('a run that was only stored is carried out by a worker, which says how it ended, and ends when nothing is left', async () => {
  await run('procedures', 'seed')
  const input = ['--input', '{"transactionId": "TXN-DEMO-001"}']
  const started = await run('executions', 'start', 'FAILED_PAYMENT_PLAYBOOK', '--detach', ...input)
  expect(started.output).toMatchObject({ execution: { status: 'pending' }, steps: [] })

  const worked = await run('worker', '--until-idle')

  expect(worked).toMatchObject({ exitCode: 0, output: { carriedOn: 1, left: [] } })
  expect(worked.stderr).toMatch(/^exec_\w+ {2}FAILED_PAYMENT_PLAYBOOK {2}resolved$/m)
  const { output } = await run('executions', 'list')
  expect(output).toMatchObject({ items: [{ status: 'completed', outcome: 'resolved' }] })
})

test('a worker that is told to stop ends well', async () => {
  const { child, ended, says } = startCli(['worker'], { dataDir })
  await says('is at work')

  child.kill('SIGTERM')

  expect(await ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Stopped.') })
})

/** A worker in the middle of a call that never comes back, on a folder of its own. */
async function hangingWorker(name: string) {
  const options = {
    dataDir: join(folder, name),
    environment: {
      STEPWARDEN_CONFIG: fileURLToPath(new URL('slow-tools.ts', import.meta.url)),
      SLOW_TOOL_STARTED: join(folder, `${name}-started`),
    },
  }
  const definition = join(folder, 'slow.yaml')
  writeFileSync(
    definition,
    [
      'key: SLOW_PLAYBOOK',
      'name: Slow',
      'description: Takes its time.',
      'steps:',
      '  - { key: look, action: Look it up, tool: look_up, timeout: 1h }',
    ].join('\n'),
  )
  const lines = [
    `/procedures create ${definition}`,
    '/activate SLOW_PLAYBOOK 1',
    '/executions start SLOW_PLAYBOOK --detach',
  ]
  const prepared = await runCli(['chat', '--json'], { ...options, input: lines.join('\n') })
  const [, , started] = jsonValues(prepared.stdout)
  const worker = startCli(['worker'], options)
  onTestFinished(() => void worker.child.kill('SIGKILL'))
  await worker.shows('the tool is at work')
  return { ...worker, executionId: Object(started).execution.id }
}

test('a worker whose tool hangs ends after its grace, and says what it left', async () => {
  const { child, ended, executionId } = await hangingWorker('left')

  child.kill('SIGTERM')

  expect(await ended).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(
      `Left in the middle of a step, for another worker to take over: ${executionId}.`,
    ),
  })
})

test('a second signal ends it at once', async () => {
  const { child, ended, says } = await hangingWorker('twice')
  child.kill('SIGTERM')
  await says('Stopping')

  child.kill('SIGTERM')

  expect(await ended).toMatchObject({
    exitCode: 130,
    stderr: expect.stringContaining('Ended at once.'),
  })
})
