import pg from 'pg'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createContext } from '../../src/context.ts'
import { openDatabase } from '../../src/db/connect.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { startProcess, type TestProcess } from '../support/processes.ts'
import { answerWith, openReceiver } from '../support/receiver.ts'
import { createTold, runTold, startSending } from '../support/told.ts'

vi.setConfig({ testTimeout: 120_000 })

const receiver = await openReceiver()
const options = { tools: [], webhooks: { allowHosts: ['127.0.0.1'] } }
const { app, db } = await openTestApp(options)
await createTold(app)
const admin = callerOf('adam', ['admin'])
const url = 'url' in db.config ? db.config.url : ''
const waiting = { interval: 20, timeout: 30_000 }
/** Sessions of this database that wait for a lock. */
const waitsForLock = `SELECT FROM pg_locks w WHERE NOT w.granted AND EXISTS (
  SELECT FROM pg_locks h JOIN pg_database d ON d.oid = h.database
  WHERE h.pid = w.pid AND d.datname = current_database())`

let webhookId: never
beforeEach(async () => {
  for (const item of (await operations.listWebhooks.invoke(app, admin, {})).items) {
    await operations.deleteWebhook.invoke(app, admin, { webhookId: item.webhookId as never })
  }
  receiver.received.length = 0
  receiver.answer = answerWith(204)
  const made = await operations.createWebhook.invoke(app, admin, { url: receiver.url })
  webhookId = made.webhookId as never
})

const list = async (status?: string) =>
  (await operations.listWebhookDeliveries.invoke(app, admin, { webhookId, status, limit: 200 }))
    .items

async function startWorker(claimMs: number): Promise<TestProcess> {
  const file = 'test/support/webhook-process.ts'
  const worker = startProcess(file, url, receiver.host, String(claimMs))
  onTestFinished(() => worker.kill())
  expect(await worker.nextLine()).toBe('at work')
  return worker
}

it('a message whose sender is killed before the answer is sent again, under the same id', async () => {
  const worker = await startWorker(2_000)
  receiver.answer = () => {}
  const executionId = await runTold(app, 'end')
  await expect.poll(() => receiver.received.length, waiting).toBe(1)

  await worker.kill()
  receiver.answer = answerWith(204)
  await using _other = startSending(app)
  await expect.poll(() => list('delivered'), waiting).toHaveLength(1)

  expect(receiver.received.map(({ event }) => event.data.executionId)).toEqual([
    executionId,
    executionId,
  ])
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1)
})

it('a message whose sender is killed between the answer and its note is sent again, under the same id', async () => {
  const worker = await startWorker(2_000)
  const holder = new pg.Client(url)
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM webhooks WHERE id = $1 FOR NO KEY UPDATE', [webhookId])
  await runTold(app, 'end')
  await expect.poll(() => receiver.received.length, waiting).toBe(1)
  await expect
    .poll(() => holder.query(waitsForLock).then(({ rowCount }) => rowCount), waiting)
    .toBeGreaterThan(0)

  await worker.kill()
  await holder.query('ROLLBACK')
  await using _other = startSending(app)
  await expect.poll(() => list('delivered'), waiting).toHaveLength(1)

  expect(receiver.received).toHaveLength(2)
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1)
})

it('several workers send each message once, never two of one run at once, and in its order', async () => {
  const flying = new Set<unknown>()
  const together: unknown[] = []
  receiver.answer = ({ event }, response) => {
    const { executionId } = event.data
    if (flying.has(executionId)) together.push(executionId)
    flying.add(executionId)
    setTimeout(() => {
      flying.delete(executionId)
      response.writeHead(204).end()
    }, 30)
  }
  await using otherDatabase = await openDatabase(db.config)
  await using other = await createContext(
    otherDatabase,
    { tenantId: 'default', logLevel: 'silent' },
    { ...options, embedder: ngramEmbedder },
  )
  await startWorker(30_000)
  await using _one = startSending(app)
  await using _two = startSending(other)

  const runs = await Promise.all(Array.from({ length: 40 }, () => runTold(app, 'ask')))
  await Promise.all(
    runs.map((id) =>
      operations.cancelExecution.invoke(app, callerOf(), { executionId: id as never }),
    ),
  )
  await expect.poll(() => list('delivered'), waiting).toHaveLength(80)

  expect(together).toEqual([])
  expect(receiver.received).toHaveLength(80)
  for (const id of runs) {
    const told = receiver.received.filter(({ event }) => event.data.executionId === id)
    expect(told.map(({ event }) => event.type)).toEqual([
      'execution.waiting',
      'execution.cancelled',
    ])
  }
})

it('a webhook may be deleted while runs end: none of them fails by it', async () => {
  await using _sending = startSending(app)
  const others = await Promise.all(
    Array.from({ length: 8 }, () =>
      operations.createWebhook.invoke(app, admin, { url: receiver.url }),
    ),
  )

  const [runs] = await Promise.all([
    Promise.all(Array.from({ length: 30 }, () => runTold(app, 'end'))),
    ...others.map(({ webhookId: id }) =>
      operations.deleteWebhook.invoke(app, admin, { webhookId: id as never }),
    ),
  ])

  for (const id of runs) {
    const { execution } = await operations.getExecution.invoke(app, callerOf(), {
      executionId: id as never,
    })
    expect(execution.status).toBe('completed')
  }
  await expect.poll(() => list('delivered'), waiting).toHaveLength(30)
})

it('two admins who make the last webhook at once do not both', async () => {
  const create = () => operations.createWebhook.invoke(app, admin, { url: receiver.url })
  for (let count = 1; count < 15; count += 1) await create()

  const came = await db.asApp('default', async (client) => {
    await client.query('BEGIN')
    await client.query(`SELECT FROM tenants WHERE id = 'default' FOR NO KEY UPDATE`)
    await client.query(
      `INSERT INTO webhooks (tenant_id, id, url, description, created_at)
       VALUES ('default', 'whk_0123456789abcdefghjkm', 'https://x.example/', '', now())`,
    )
    const other = create().catch((error) => error.code)
    await expect
      .poll(() => client.query(waitsForLock).then(({ rowCount }) => rowCount), waiting)
      .toBeGreaterThan(0)
    await client.query('COMMIT')
    return other
  })

  expect(came).toBe('WEBHOOK_LIMIT_REACHED')
})

it('one dead service takes its turns, and keeps nobody else waiting, however much it has gathered', async () => {
  const dead = await openReceiver()
  dead.answer = () => {}
  const gathered = await operations.createWebhook.invoke(app, admin, { url: dead.url })
  await db.asOwner('default', (client) =>
    client.query(
      `INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, type, subject, at, data, due_at)
       SELECT 'default', 'dlv_' || n, $1, 'execution.completed', 'exec_' || n, now(), '{}', now() - interval '1 hour'
       FROM generate_series(1, 20000) n`,
      [gathered.webhookId],
    ),
  )
  await using _sending = startSending(app)

  for (let count = 0; count < 20; count += 1) await runTold(app, 'end')
  const begun = performance.now()
  await expect.poll(() => list('delivered'), waiting).toHaveLength(20)

  expect(performance.now() - begun).toBeLessThan(10_000)
  expect(dead.received.length).toBeLessThanOrEqual(5)
})
