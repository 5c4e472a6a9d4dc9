import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openTestDatabase } from '../support/database.ts'
import { jsonValues, runCli, startCli } from './run-cli.ts'

const db = await openTestDatabase()
const environment = {
  DATABASE_URL: 'url' in db.config ? db.config.url : '',
  STEPWARDEN_DATA_DIR: '',
}

test('a worker that is told to stop while it is still starting ends well', async () => {
  const { exitCode, stdout } = await db.asOwner('default', async (client) => {
    await client.query('BEGIN')
    await client.query('LOCK TABLE workers IN ACCESS EXCLUSIVE MODE')
    const { child, ended } = startCli(['worker'], { environment })
    onTestFinished(() => void child.kill('SIGKILL'))
    await vi.waitFor(async () => {
      const { rows } = await client.query('SELECT FROM pg_locks WHERE NOT granted')
      expect(rows.length).toBeGreaterThan(0)
    }, 60_000)
    child.kill('SIGTERM')
    const end = await ended
    await client.query('ROLLBACK')
    return end
  })

  expect(exitCode).toBe(0)
  expect(stdout).toContain('Stopped before it was at work.')
})

test('a worker that ends by an error that nobody caught names the runs that it had', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwarden-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const definition = join(folder, 'falls.yaml')
  const lines = [
    'key: FALLS_PLAYBOOK',
    'name: Falls',
    'description: Takes its process along.',
    'steps:',
    '  - { key: fall, action: Fall, tool: falls }',
  ]
  writeFileSync(definition, lines.join('\n'))
  const config = fileURLToPath(new URL('falling-tools.ts', import.meta.url))
  const options = { environment: { ...environment, STEPWARDEN_CONFIG: config } }
  const input = [
    `/procedures create ${definition}`,
    '/activate FALLS_PLAYBOOK 1',
    '/executions start FALLS_PLAYBOOK --detach',
  ].join('\n')
  const prepared = await runCli(['chat', '--json'], { ...options, input })
  const { id } = Object(jsonValues(prepared.stdout)[2]).execution

  const { exitCode, stderr } = await runCli(['worker'], options)

  expect(exitCode).not.toBe(0)
  const line = stderr.split('\n').find((one) => one.includes('an error that nobody caught'))
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    executions: [{ executionId: id, stepKey: 'fall' }],
    err: { message: 'thrown where nobody can catch it' },
  })
  const shown = await runCli(['executions', 'show', id], options)
  expect(shown.stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /nobody works on it, for work_\w+ is gone, last heard of at \d{4}-/,
  )
}, 120_000)

test('a worker ends although its database is locked, and says that it could not ask it', async () => {
  const { child, ended, says } = startCli(['worker'], { environment })
  onTestFinished(() => void child.kill('SIGKILL'))
  await says('is at work')

  const { exitCode, stdout } = await db.asOwner('default', async (client) => {
    await client.query('BEGIN')
    await client.query('LOCK TABLE executions, workers IN ACCESS EXCLUSIVE MODE')
    child.kill('SIGTERM')
    const end = await ended
    await client.query('ROLLBACK')
    return end
  })

  expect(exitCode).toBe(0)
  expect(stdout).toContain('The database does not say in time')
})
