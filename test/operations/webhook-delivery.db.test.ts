import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { findText } from '../support/marked.ts'
import { answerWith, openReceiver } from '../support/receiver.ts'
import { createTold, runTold, startSending } from '../support/told.ts'

vi.setConfig({ testTimeout: 60_000 })

const minute = 60_000
const day = 24 * 60 * minute

let passedMs = 0
const clock = { now: () => Date.now() + passedMs }
const first = await openReceiver()
const second = await openReceiver()
let addresses: readonly string[] = []
const { app, db } = await openTestApp({
  tools: [],
  clock,
  webhooks: { allowHosts: ['127.0.0.1'], lookup: async () => addresses },
})
await createTold(app)
const admin = callerOf('adam', ['admin'])

interface Made {
  readonly webhookId: never
  readonly secret: string
}
async function create(url = first.url, more: object = {}): Promise<Made> {
  const events = ['execution.waiting', 'execution.completed', 'execution.cancelled']
  const made = await operations.createWebhook.invoke(app, admin, { url, events, ...more })
  return { webhookId: made.webhookId as never, secret: made.secret }
}
const deliveries = async (webhookId: never, status?: string) =>
  (await operations.listWebhookDeliveries.invoke(app, admin, { webhookId, status })).items
const show = async (webhookId: never) =>
  (await operations.listWebhooks.invoke(app, admin, {})).items.find(
    (item) => item.webhookId === webhookId,
  )
const settled = (webhookId: never) =>
  expect.poll(async () => (await deliveries(webhookId, 'pending')).length, waiting).toBe(0)
const waiting = { interval: 20, timeout: 20_000 }

beforeEach(async () => {
  passedMs = 0
  for (const { webhookId } of (await operations.listWebhooks.invoke(app, admin, {})).items) {
    await operations.deleteWebhook.invoke(app, admin, { webhookId })
  }
  for (const receiver of [first, second]) {
    receiver.received.length = 0
    receiver.answer = answerWith(204)
  }
})

describe('a message', () => {
  it('comes signed, with what the outbox says, and is noted with the answer', async () => {
    const { webhookId, secret } = await create()
    first.answer = answerWith(200, `thanks${'!'.repeat(2_000)}`)
    await using _sending = startSending(app)

    const executionId = await runTold(app, 'end')

    await settled(webhookId)
    expect(first.received).toHaveLength(1)
    const [came] = first.received
    expect(came?.path).toBe('/hook')
    expect(came?.headers['content-type']).toBe('application/json')
    const verified = new Webhook(secret).verify(came?.body ?? '', came?.headers as never)
    expect(verified).toMatchObject({
      type: 'execution.completed',
      timestamp: expect.stringMatching(/Z$/),
      data: { tenantId: 'default', executionId, status: 'completed' },
    })
    expect(Object.keys(Object(verified))).toEqual(['type', 'timestamp', 'data'])
    expect(await deliveries(webhookId)).toMatchObject([
      {
        deliveryId: came?.id,
        status: 'delivered',
        failureCount: 0,
        nextAttemptAt: null,
        endedAt: expect.any(String),
        timestamp: Object(verified).timestamp,
        data: Object(verified).data,
        attempts: [
          {
            status: 200,
            problem: null,
            answer: `thanks${'!'.repeat(1_018)}`,
            durationMs: expect.any(Number),
          },
        ],
      },
    ])
    expect(await show(webhookId)).toMatchObject({ lastDeliveredAt: expect.any(String) })
  })

  it('that fails rests as long as the service asks for', async () => {
    const { webhookId } = await create()
    first.answer = (_, response) => response.writeHead(429, { 'retry-after': '60' }).end()
    await runTold(app, 'end')
    {
      await using _sending = startSending(app)
      await expect.poll(async () => (await deliveries(webhookId))[0]?.failureCount, waiting).toBe(1)
    }
    const [failed] = await deliveries(webhookId)

    const restMs = Date.parse(String(failed?.nextAttemptAt)) - clock.now()
    expect(restMs).toBeGreaterThan(5_500)
    expect(restMs).toBeLessThanOrEqual(60_000)
  })

  it('that fails is sent again after its rest, under the same id and a signature of that moment', async () => {
    const { webhookId, secret } = await create()
    first.answer = answerWith(500, 'broken')
    const executionId = await runTold(app, 'end')
    {
      await using _sending = startSending(app)
      await expect.poll(async () => (await deliveries(webhookId))[0]?.failureCount, waiting).toBe(1)
    }
    const [failed] = await deliveries(webhookId)
    expect(failed).toMatchObject({
      status: 'pending',
      attempts: [{ status: 500, problem: 'It answered 500.', answer: 'broken' }],
    })
    const restMs = Date.parse(String(failed?.nextAttemptAt)) - clock.now()
    expect(restMs).toBeGreaterThan(1_000)
    expect(restMs).toBeLessThan(5_500)
    expect(await show(webhookId)).toMatchObject({ failingSince: expect.any(String) })

    passedMs += minute
    first.answer = answerWith(204)
    await using _sending = startSending(app)
    await settled(webhookId)

    expect(first.received).toHaveLength(2)
    expect(new Set(first.received.map(({ id }) => id)).size).toBe(1)
    const [, again] = first.received
    expect(again?.event.data.executionId).toBe(executionId)
    const sentAt = Number(again?.headers['webhook-timestamp']) * 1_000
    expect(Math.abs(sentAt - clock.now())).toBeLessThan(20_000)
    passedMs = 0
    expect(() =>
      new Webhook(secret).verify(again?.body ?? '', again?.headers as never),
    ).not.toThrow()
    expect(await show(webhookId)).toMatchObject({ failingSince: null })
  })

  it('of a run waits for the earlier ones of that run, and no other waits for it', async () => {
    const { webhookId } = await create()
    const late = await runTold(app, 'ask')
    await operations.cancelExecution.invoke(app, callerOf(), { executionId: late as never })
    const other = await runTold(app, 'end')
    first.answer = (message, response) =>
      response.writeHead(message.event.type === 'execution.waiting' ? 503 : 204).end()
    {
      await using _sending = startSending(app)
      await expect.poll(() => first.received.length, waiting).toBe(2)
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    expect(first.received.map(({ event }) => [event.type, event.data.executionId])).toEqual(
      expect.arrayContaining([
        ['execution.waiting', late],
        ['execution.completed', other],
      ]),
    )
    expect(first.received).toHaveLength(2)

    passedMs += minute
    first.answer = answerWith(204)
    await using _sending = startSending(app)
    await settled(webhookId)

    const ofLate = first.received.filter(({ event }) => event.data.executionId === late)
    expect(ofLate.map(({ event }) => event.type)).toEqual([
      'execution.waiting',
      'execution.waiting',
      'execution.cancelled',
    ])
  })

  it('of a run goes as soon as the one before it was taken', async () => {
    const { webhookId } = await create()
    let isTaken = false
    first.answer = (_message, response) => {
      setTimeout(() => {
        isTaken = true
        response.writeHead(204).end()
      }, 1_000)
    }
    await using _sending = startSending(app)
    const executionId = (await runTold(app, 'ask')) as never
    await operations.cancelExecution.invoke(app, callerOf(), { executionId })

    await expect.poll(() => isTaken, waiting).toBe(true)
    const begun = performance.now()
    await settled(webhookId)

    expect(performance.now() - begun).toBeLessThan(10_000)
    expect(first.received.map(({ event }) => event.type)).toEqual([
      'execution.waiting',
      'execution.cancelled',
    ])
  })

  it('is given up after ten tries, and what waited for it is sent then', async () => {
    const { webhookId } = await create()
    const executionId = (await runTold(app, 'ask')) as never
    await operations.cancelExecution.invoke(app, callerOf(), { executionId })
    first.answer = (message, response) =>
      response.writeHead(message.event.type === 'execution.waiting' ? 400 : 204).end()
    await using _sending = startSending(app)

    for (let tries = 1; tries < 10; tries += 1) {
      await expect
        .poll(async () => (await deliveries(webhookId)).at(-1)?.failureCount, waiting)
        .toBe(tries)
      const next = (await deliveries(webhookId)).at(-1)?.nextAttemptAt
      passedMs += Date.parse(String(next)) - clock.now()
    }

    await settled(webhookId)
    expect(await deliveries(webhookId)).toMatchObject([
      { type: 'execution.cancelled', status: 'delivered' },
      { type: 'execution.waiting', status: 'failed', failureCount: 10 },
    ])
    expect(first.received.at(-1)?.event.type).toBe('execution.cancelled')
    expect(first.received).toHaveLength(11)
  })

  it('that is redirected is not delivered, and goes nowhere else', async () => {
    const { webhookId } = await create()
    first.answer = (_message, response) => response.writeHead(307, { location: second.url }).end()
    await using _sending = startSending(app)

    await runTold(app, 'end')
    await expect.poll(async () => (await deliveries(webhookId))[0]?.failureCount, waiting).toBe(1)

    expect(second.received).toEqual([])
    expect(await deliveries(webhookId)).toMatchObject([
      { status: 'pending', attempts: [{ status: 307, problem: 'It answered 307.' }] },
    ])
  })

  it('is delivered by a status of 200 to 299, however much is answered with it', async () => {
    const { webhookId } = await create()
    first.answer = answerWith(202, 'x'.repeat(200_000))
    await using _sending = startSending(app)

    await runTold(app, 'end')

    await settled(webhookId)
    expect(await deliveries(webhookId)).toMatchObject([
      { status: 'delivered', attempts: [{ status: 202, problem: null }] },
    ])
  })
})

describe('a service', () => {
  it('that takes a minute to answer is left after 15 seconds, and hinders no other', async () => {
    const slow = await create()
    const quick = await create(second.url)
    let isLeft = false
    first.answer = (_message, response) => {
      response.on('close', () => {
        isLeft = !response.writableEnded
      })
      setTimeout(() => response.end(), 60_000).unref()
    }
    await using _sending = startSending(app)
    for (let count = 0; count < 20; count += 1) await runTold(app, 'end')

    const begun = performance.now()
    await settled(quick.webhookId)
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(second.received).toHaveLength(20)

    await expect.poll(() => isLeft, waiting).toBe(true)
    await expect
      .poll(
        async () => (await deliveries(slow.webhookId)).some(({ failureCount }) => failureCount > 0),
        waiting,
      )
      .toBe(true)
    const tried = (await deliveries(slow.webhookId)).flatMap(({ attempts }) => attempts)
    expect(tried[0]).toMatchObject({ status: null, problem: expect.stringContaining('time limit') })
    expect(tried[0]?.durationMs).toBeGreaterThan(14_000)
    expect(tried[0]?.durationMs).toBeLessThan(17_000)
  })

  it('that answers 410 is paused at once, and told of what it missed when it is let go on', async () => {
    const { webhookId } = await create()
    first.answer = answerWith(410)
    await using _sending = startSending(app)

    await runTold(app, 'end')
    await expect.poll(async () => (await show(webhookId))?.status, waiting).toBe('paused')
    await runTold(app, 'end')
    await new Promise((resolve) => setTimeout(resolve, 200))

    expect(await show(webhookId)).toMatchObject({ pausedBecause: 'gone' })
    expect(first.received).toHaveLength(1)
    const acts = await operations.listAuditEvents.invoke(app, admin, { action: 'webhook.paused' })
    expect(acts.items[0]).toMatchObject({
      entityId: webhookId,
      details: { because: 'gone' },
      actor: { id: 'stepwarden', kind: 'service' },
    })

    first.answer = answerWith(204)
    await operations.changeWebhook.invoke(app, admin, { webhookId, paused: false })
    await settled(webhookId)
    expect(first.received).toHaveLength(3)
    expect(await show(webhookId)).toMatchObject({ status: 'active', pausedBecause: null })
  })

  it('to which nothing was delivered for five days is paused, and not before', async () => {
    const { webhookId } = await create()
    first.answer = answerWith(500)
    await using _sending = startSending(app)
    const failOnce = async () => {
      const count = first.received.length
      await runTold(app, 'end')
      await expect.poll(() => first.received.length, waiting).toBeGreaterThan(count)
      await expect
        .poll(async () => (await deliveries(webhookId))[0]?.failureCount, waiting)
        .toBeGreaterThan(0)
    }

    await failOnce()
    passedMs += 4.9 * day
    await failOnce()
    expect(await show(webhookId)).toMatchObject({ status: 'active' })
    passedMs += 0.2 * day
    await runTold(app, 'end')

    await expect.poll(async () => (await show(webhookId))?.pausedBecause, waiting).toBe('failing')
    // What was under way may still come.
    await new Promise((resolve) => setTimeout(resolve, 500))
    const sent = first.received.length
    passedMs += day
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(first.received).toHaveLength(sent)
  })

  it('whose name begins to point inside is not reached', async () => {
    addresses = ['127.0.0.1']
    const { port } = new URL(first.url)
    const { webhookId } = await create(`https://hooks.example.com:${port}/hook`)
    await using _sending = startSending(app)

    await runTold(app, 'end')
    await expect.poll(async () => (await deliveries(webhookId))[0]?.failureCount, waiting).toBe(1)

    expect(first.received).toEqual([])
    expect((await deliveries(webhookId))[0]?.attempts).toMatchObject([
      { status: null, problem: expect.stringContaining('127.0.0.1 is no public address') },
    ])
  })
})

describe('an admin', () => {
  it('repeats a message, under the same id', async () => {
    const { webhookId } = await create()
    await using _sending = startSending(app)
    await runTold(app, 'end')
    await settled(webhookId)
    const [{ deliveryId = '' } = {}] = await deliveries(webhookId)

    const replayed = await operations.replayWebhookDelivery.invoke(app, admin, { deliveryId })
    await settled(webhookId)

    expect(replayed).toMatchObject({ deliveryId, status: 'pending', failureCount: 0 })
    expect(first.received.map(({ id }) => id)).toEqual([deliveryId, deliveryId])
    expect((await deliveries(webhookId))[0]?.attempts).toHaveLength(2)
  })

  it('repeats what was given up since a time, or all of it, in its order', async () => {
    const { webhookId } = await create()
    const runs: string[] = []
    for (let count = 0; count < 3; count += 1) runs.push(await runTold(app, 'end'))
    await using _sending = startSending(app)
    await settled(webhookId)
    const [, middle] = (await deliveries(webhookId)).toReversed()
    await db.asOwner('default', (client) =>
      client.query(`UPDATE webhook_deliveries SET status = 'failed' WHERE id = $1`, [
        middle?.deliveryId,
      ]),
    )
    first.received.length = 0
    const replay = async (more: object) => {
      const { count } = await operations.replayWebhook.invoke(app, admin, { webhookId, ...more })
      await settled(webhookId)
      return count
    }

    expect(await replay({ since: '2020-01-01T00:00:00Z' })).toBe(1)
    expect(await replay({ since: middle?.timestamp, status: 'all' })).toBe(2)
    expect(await replay({ since: '2020-01-01T00:00:00Z', until: middle?.timestamp })).toBe(0)

    const told = first.received.map(({ event }) => event.data.executionId)
    expect(told[0]).toBe(runs[1])
    expect(told.slice(1).sort()).toEqual(runs.slice(1).sort())
  })

  it('does not repeat a message that is still to be sent', async () => {
    const { webhookId } = await create()
    await runTold(app, 'end')
    const [{ deliveryId = '' } = {}] = await deliveries(webhookId)

    await expect(
      operations.replayWebhookDelivery.invoke(app, admin, { deliveryId }),
    ).rejects.toMatchObject({ code: 'DELIVERY_PENDING' })
  })

  it('tests a webhook at once, also one that is paused, and one try is all', async () => {
    const { webhookId, secret } = await create()
    await operations.changeWebhook.invoke(app, admin, { webhookId, paused: true })

    const fine = await operations.testWebhook.invoke(app, admin, { webhookId })
    first.answer = answerWith(404, 'no such hook')
    const wrong = await operations.testWebhook.invoke(app, admin, { webhookId })

    expect(fine).toMatchObject({ type: 'webhook.ping', status: 'delivered' })
    expect(wrong).toMatchObject({
      status: 'failed',
      attempts: [{ status: 404, answer: 'no such hook' }],
    })
    expect(first.received).toHaveLength(2)
    const [ping] = first.received
    expect(new Webhook(secret).verify(ping?.body ?? '', ping?.headers as never)).toMatchObject({
      type: 'webhook.ping',
      data: { tenantId: 'default', webhookId },
    })
    expect(await show(webhookId)).toMatchObject({ failingSince: null })
  })

  it('rotates the secret: for a day both are signed with, and then the new one alone', async () => {
    const { webhookId, secret } = await create()
    const rotated = await operations.rotateWebhookSecret.invoke(app, admin, { webhookId })
    const ping = async () => {
      await operations.testWebhook.invoke(app, admin, { webhookId })
      const came = first.received.at(-1)
      const now = passedMs
      // The library goes by the machine's clock.
      vi.setSystemTime(Date.now() + now)
      try {
        return [secret, rotated.secret].map((known) => {
          try {
            return Boolean(new Webhook(known).verify(came?.body ?? '', came?.headers as never))
          } catch {
            return false
          }
        })
      } finally {
        vi.useRealTimers()
      }
    }

    expect(rotated.secret).not.toBe(secret)
    expect(Date.parse(rotated.previousUntil) - clock.now()).toBeGreaterThan(day - minute)
    expect(await ping()).toEqual([true, true])
    passedMs += day + minute
    expect(await ping()).toEqual([false, true])
  })

  it('finds a secret nowhere but in the one answer, and in the table that signing reads', async () => {
    const { webhookId, secret } = await create()
    const rotated = await operations.rotateWebhookSecret.invoke(app, admin, { webhookId })
    await using _sending = startSending(app)
    await runTold(app, 'end')
    await settled(webhookId)
    const outputs = JSON.stringify([
      await operations.listWebhooks.invoke(app, admin, {}),
      await operations.changeWebhook.invoke(app, admin, { webhookId, description: 'x' }),
      await operations.testWebhook.invoke(app, admin, { webhookId }),
      await deliveries(webhookId),
      await operations.listAuditEvents.invoke(app, admin, {}),
      first.received,
    ])

    for (const known of [secret, rotated.secret]) {
      const key = known.slice('whsec_'.length)
      expect(outputs).not.toContain(key)
      expect(await findText(db, key)).toEqual(['webhook_secrets.secret'])
    }
  })

  it('finds old messages and those of a deleted webhook pruned, and a secret that has expired', async () => {
    const kept = await create()
    const gone = await create(second.url)
    await runTold(app, 'end')
    await operations.rotateWebhookSecret.invoke(app, admin, { webhookId: kept.webhookId })
    const count = async (table: string) => {
      const { rows } = await db.asOwner('default', (client) =>
        client.query(`SELECT FROM ${table} WHERE webhook_id = ANY ($1)`, [
          [kept.webhookId, gone.webhookId],
        ]),
      )
      return rows.length
    }
    expect([await count('webhook_deliveries'), await count('webhook_secrets')]).toEqual([2, 3])

    await operations.deleteWebhook.invoke(app, admin, { webhookId: gone.webhookId })
    expect(await count('webhook_secrets')).toBe(2)
    {
      await using _sending = startSending(app)
      await expect.poll(() => count('webhook_deliveries'), waiting).toBe(1)
    }
    passedMs += 31 * day
    await using _sending = startSending(app)
    await expect.poll(() => count('webhook_deliveries'), waiting).toBe(0)
    expect(await count('webhook_secrets')).toBe(1)
  })
})
