import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { receiveWebhooks } from '../examples/receiver.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { createTold, runTold, startSending } from '../support/told.ts'

const { app } = await openTestApp({ tools: [], webhooks: { allowHosts: ['127.0.0.1'] } })

it('the example of docs/webhooks.md takes each message once, and none that is forged', async () => {
  await createTold(app)
  const admin = callerOf()
  const { webhookId: id } = await operations.createWebhook.invoke(app, admin, {
    url: 'https://hooks.example.com/',
  })
  const webhookId = id as never
  const { secret } = await operations.rotateWebhookSecret.invoke(app, admin, { webhookId })
  const handled: unknown[] = []
  const server = receiveWebhooks(secret, (event) => handled.push(event)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await operations.changeWebhook.invoke(app, admin, { webhookId, url })
  await using _sending = startSending(app)

  const executionId = await runTold(app, 'end')
  await expect.poll(() => handled.length, { timeout: 10_000 }).toBe(1)
  const since = '2020-01-01T00:00:00Z'
  const delivered = async () =>
    (
      await operations.listWebhookDeliveries.invoke(app, admin, {
        webhookId,
        status: 'delivered',
      })
    ).items
  await expect.poll(delivered, { timeout: 10_000 }).toHaveLength(1)
  await operations.replayWebhook.invoke(app, admin, { webhookId, since, status: 'all' })
  await expect
    .poll(async () => (await delivered())[0]?.attempts.length, { timeout: 10_000 })
    .toBe(2)
  const headers = {
    'webhook-id': 'dlv_forged',
    'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  }
  const forged = await fetch(url, { method: 'POST', headers, body: '{}' })

  expect(forged.status).toBe(401)
  expect(handled).toMatchObject([{ type: 'execution.completed', data: { executionId } }])
  server.closeAllConnections()
  server.close()
})
