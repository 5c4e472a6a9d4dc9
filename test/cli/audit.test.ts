import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { newCheckpointKey } from '../../src/config/new-checkpoint-key.ts'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const pair = newCheckpointKey()
const publicKey = join(folder, 'public.pem')
const checkpoints = join(folder, 'checkpoints.jsonl')
const environment = {
  STEPWARDEN_CHECKPOINT_KEY: pair.privateKey,
  STEPWARDEN_CHECKPOINT_FILE: checkpoints,
}
const run = (...words: string[]) => runCli(words, { dataDir, environment })
let id = ''

beforeAll(async () => {
  writeFileSync(publicKey, pair.publicKey)
  const lines = [
    '/procedures seed',
    `/executions start FAILED_PAYMENT_PLAYBOOK --input '{"transactionId": "TXN-DEMO-001"}' --ticket "=1+1 failed"`,
    '/audit seal',
    '/audit checkpoint',
  ]
  const { stdout } = await runCli(['chat', '--json'], {
    dataDir,
    environment,
    input: lines.join('\n'),
  })
  const values = jsonValues(stdout).map((value) => Object(value))
  id = values[1].execution.id
  expect(values[2]).toEqual({ seals: 1, records: 1, isBusy: false })
  expect(values[3].checkpoint).toMatchObject({ keyId: pair.keyId })
})

test('all of it fits, and the checkpoint that was kept elsewhere proves it', async () => {
  const { exitCode, stdout } = await run('audit', 'verify', '--checkpoints', checkpoints)

  expect(exitCode).toBe(0)
  expect(stdout).toContain('All of it fits.')
  expect(stdout).toContain('1 record in 1 seal')
  expect(stdout).toMatch(/Proved +up to event \d+/)
})

test('one run is proved by its bundle alone, without a database, and a change of it shows', async () => {
  const file = join(folder, 'run.jsonl')
  const made = await run('audit', 'bundle', id, '-o', file)
  expect(made.stdout).toContain(`proves ${id}`)
  const verify = (name: string) =>
    runCli(['audit', 'verify', '--from', name, '--public-key', publicKey, '--json'], {
      environment: { STEPWARDEN_LOG_LEVEL: 'no such level' },
    })

  const whole = await verify(file)
  expect(whole.stderr).toBe('')
  expect(whole.exitCode).toBe(0)
  expect(jsonValues(whole.stdout)[0]).toMatchObject({ ok: true, problems: [], limits: [] })

  const changed = join(folder, 'changed.jsonl')
  const text = readFileSync(file, 'utf8')
  writeFileSync(changed, text.replace('=1+1 failed', '=1+2 failed'))
  const { exitCode, stdout } = await verify(changed)
  expect(exitCode).toBe(7)
  expect(jsonValues(stdout)[0]).toMatchObject({
    ok: false,
    problems: [{ table: 'executions', id }],
  })
})

test('steps come as CSV, runs as lines of JSON, and the export is an event', async () => {
  const csv = await run('audit', 'export', '--what', 'steps', '--format', 'csv')
  const jsonl = await run('audit', 'export', '--procedure', 'FAILED_PAYMENT_PLAYBOOK')
  const none = await run('audit', 'export', '--customer', 'nobody')
  const list = await run('audit', 'list', '--action', 'audit.exported', '--json')

  const [head, first] = csv.stdout.split('\r\n')
  expect(head).toMatch(/^executionId,procedureKey,versionNumber,ordinal,stepKey,/)
  expect(first).toContain(id)
  const rows = jsonl.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows).toMatchObject([{ id, ticket: { text: '=1+1 failed' }, outcome: 'resolved' }])
  expect(none.stdout).toBe('')
  const { items } = Object(jsonValues(list.stdout)[0])
  expect(items.map(({ details }: { details: unknown }) => details)).toEqual([
    // The log keeps no customer's id.
    { what: 'executions', filters: { customerId: true } },
    { what: 'executions', filters: { procedureKey: 'FAILED_PAYMENT_PLAYBOOK' } },
    { what: 'steps', filters: {} },
  ])
})

test('a key is made and stored nowhere, and one that is none is refused by its name alone', async () => {
  const { stdout } = await runCli(['audit', 'keygen'])
  const [, made] = /STEPWARDEN_CHECKPOINT_KEY=(\S+)/.exec(stdout) ?? []
  expect(stdout).toContain('-----BEGIN PUBLIC KEY-----')

  const taken = await runCli(['audit', 'checkpoint'], {
    dataDir,
    environment: { STEPWARDEN_CHECKPOINT_KEY: made ?? '' },
  })
  expect(taken.stdout).toMatch(/Event \d+ is signed by key [0-9a-f]{16}\./)
  const refused = await runCli(['audit', 'checkpoint'], {
    dataDir,
    environment: { STEPWARDEN_CHECKPOINT_KEY: 'c2VjcmV0' },
  })
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain('STEPWARDEN_CHECKPOINT_KEY')
  expect(refused.stderr).not.toContain('c2VjcmV0')
})
