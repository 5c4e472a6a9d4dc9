import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { answerWith, openReceiver } from '../support/receiver.ts'
import { openShell } from './open-shell.ts'
import { jsonValues, runCli, startCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const dataDir = join(temporaryFolder(), 'data')
const receiver = await openReceiver()
const environment = { STEPWARDEN_WEBHOOK_ALLOW_HOSTS: receiver.host }
const options = { dataDir, environment }

test('a webhook is made, tested, told by a worker, looked at, paused, rotated and removed', async () => {
  const made = await runCli(
    [
      'webhooks',
      'add',
      receiver.url,
      '--events',
      'execution.completed, escalation.opened',
      '--json',
    ],
    options,
  )
  const { webhookId, secret, events } = JSON.parse(made.stdout)
  expect(events).toEqual(['execution.completed', 'escalation.opened'])
  expect(secret).toMatch(/^whsec_/)

  const tested = await runCli(['webhooks', 'test', webhookId], options)
  expect(tested).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('answered 204') })
  receiver.answer = answerWith(500, 'out of order')
  const failed = await runCli(['webhooks', 'test', webhookId], options)
  expect(failed).toMatchObject({
    exitCode: 7,
    stdout: expect.stringContaining('answered 500: out of order'),
  })

  receiver.answer = answerWith(204)
  receiver.received.length = 0
  await runCli(['demo'], options)
  const worker = startCli(['worker'], options)
  await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBeGreaterThan(0)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  worker.child.kill('SIGTERM')
  const ended = await worker.ended
  expect(ended.exitCode).toBe(0)

  const { stdout } = await runCli(['chat', '--json'], {
    ...options,
    input: [
      `/webhooks list`,
      `/webhooks deliveries ${webhookId} --status delivered --type execution.completed`,
      `/webhooks replay ${webhookId} --since 2026-01-01 --status all`,
      `/webhooks change ${webhookId} --pause --events all --description Desk`,
      `/webhooks rotate ${webhookId}`,
      `/webhooks remove ${webhookId}`,
      `/webhooks list`,
    ].join('\n'),
  })
  const [listed, deliveries, replayed, changed, rotated, removed, none] = jsonValues(stdout).map(
    (value) => Object(value),
  )
  expect(listed.items).toMatchObject([{ webhookId, status: 'active' }])
  expect(deliveries.items[0]).toMatchObject({ status: 'delivered', type: 'execution.completed' })
  expect(replayed.count).toBeGreaterThan(0)
  expect(changed).toMatchObject({ status: 'paused', events: null, description: 'Desk' })
  expect(rotated.secret).toMatch(/^whsec_/)
  expect(removed).toEqual({ webhookId, url: receiver.url })
  expect(none).toEqual({ items: [], nextCursor: null })
})

test('what cannot be reached, is not there, or lacks its time is refused', async () => {
  const inside = await runCli(['webhooks', 'add', 'https://10.0.0.1/'], options)
  const unknown = await runCli(
    ['webhooks', 'add', 'https://x.example/', '--events', 'a.b'],
    options,
  )
  const missing = await runCli(['webhooks', 'test', 'whk_0123456789abcdefghjkm'], options)
  const timeless = await runCli(['webhooks', 'replay', 'whk_0123456789abcdefghjkm'], options)

  expect(inside).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('10.0.0.1 is no public address'),
  })
  expect(unknown.exitCode).toBe(2)
  expect(missing.exitCode).toBe(3)
  expect(timeless).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--since') })
})

test('a replay says that messages will be sent, by whom, and when there are none', async () => {
  await using shell = openShell(join(temporaryFolder(), 'replays'))
  const { output } = await shell.run('webhooks', 'add', 'https://hooks.example.com/replayed')
  const id = String(output.webhookId)

  const none = await shell.run('webhooks', 'replay', id, '--since', '2026-01-01')

  expect(none.screen).toContain('none will be sent again')
})
