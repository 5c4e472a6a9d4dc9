import { beforeEach, describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { createTold, runTold } from '../support/told.ts'

const { app, db } = await openTestApp({ tools: [], webhooks: { allowHosts: ['hook.internal'] } })
await createTold(app)
await db.addTenant('other')
const admin = callerOf('adam', ['admin'])
const agent = callerOf('ann')
const url = 'https://hooks.example.com/in?token=abc'
const create = (more: object = {}, on = admin) =>
  operations.createWebhook.invoke(app, on, { url, ...more })
const rowsOf = (tenantId = 'default') =>
  db.database
    .forTenant(tenantId)
    .kysely.selectFrom('webhook_deliveries')
    .selectAll()
    .orderBy('seq')
    .execute()

beforeEach(async () => {
  for (const { webhookId } of (await operations.listWebhooks.invoke(app, admin, {})).items) {
    await operations.deleteWebhook.invoke(app, admin, { webhookId })
  }
  await db.asOwner('default', (client) => client.query('DELETE FROM webhook_deliveries'))
})

describe('without a webhook', () => {
  it('nothing is written, however a run ends and whatever is done', async () => {
    for (const how of ['end', 'decline', 'escalate', 'ask', 'wait'] as const) {
      await runTold(app, how)
    }
    const stop = { procedureKey: 'TOLD', reason: 'for a moment' }
    await operations.stopProcedure.invoke(app, agent, stop)
    await operations.allowProcedure.invoke(app, agent, { procedureKey: 'TOLD' })

    expect(await rowsOf()).toEqual([])
  })
})

describe('a run', () => {
  it('tells of its end in the transaction of its end, with ids and states alone', async () => {
    const { webhookId } = await create()

    const executionId = await runTold(app, 'end', agent, {
      customerId: 'C-Marked',
      ticketId: 'T-Marked',
      ticket: { text: 'Marked is here', id: 'T-Marked' },
    })

    const rows = await rowsOf()
    expect(rows).toMatchObject([
      {
        webhook_id: webhookId,
        type: 'execution.completed',
        subject: executionId,
        status: 'pending',
        data: {
          tenantId: 'default',
          executionId,
          procedureKey: 'TOLD',
          versionId: expect.stringMatching(/^ver_/),
          versionNumber: 1,
          status: 'completed',
          outcome: 'resolved',
          reasonCode: null,
          parentId: null,
          revision: expect.any(Number),
        },
      },
    ])
    expect(rows[0]?.id).toMatch(/^dlv_[0-9a-hjkmnp-tv-z]{21}$/)
    expect(JSON.stringify(rows)).not.toContain('Marked')
    const { execution } = await operations.getExecution.invoke(app, agent, {
      executionId: executionId as never,
    })
    expect(rows[0]?.at.toISOString()).toBe(execution.endedAt)
  })

  it('tells that it was handed over, and of the work that this is for a person', async () => {
    await create()

    const executionId = await runTold(app, 'escalate')

    const rows = await rowsOf()
    const escalated = rows.find(({ type }) => type === 'execution.escalated')
    const opened = rows.find(({ type }) => type === 'escalation.opened')
    expect(rows).toHaveLength(2)
    expect(escalated?.data).toMatchObject({
      executionId,
      status: 'escalated',
      reasonCode: 'ended_by_step',
      escalationId: expect.stringMatching(/^esc_/),
    })
    expect(opened).toMatchObject({
      subject: executionId,
      data: {
        tenantId: 'default',
        executionId,
        escalationId: Object(escalated?.data).escalationId,
        status: 'open',
        reasonCode: 'ended_by_step',
        queue: 'support',
        priority: 'normal',
      },
    })
    expect(JSON.stringify(rows)).not.toContain('Marked')
  })

  it('tells that it waits for somebody, and not that it waits for a moment', async () => {
    await create()

    await runTold(app, 'wait')
    const executionId = await runTold(app, 'ask')

    expect(await rowsOf()).toMatchObject([
      {
        type: 'execution.waiting',
        subject: executionId,
        data: { status: 'waiting', steps: [{ stepKey: 'which', ordinal: 1, kind: 'ask' }] },
      },
    ])
  })

  it('tells that it was declined, and that it was cancelled', async () => {
    await create()

    await runTold(app, 'decline')
    const executionId = (await runTold(app, 'ask')) as never
    await operations.cancelExecution.invoke(app, agent, { executionId })

    const told = (await rowsOf()).map(({ type, data }) => [type, Object(data).outcome])
    expect(told).toEqual([
      ['execution.completed', 'declined'],
      ['execution.waiting', null],
      ['execution.cancelled', null],
    ])
  })

  it('tells nothing when its transaction is rolled back', async () => {
    await create()
    const executionId = await runTold(app, 'ask')
    const before = await rowsOf()

    await db.asApp('default', async (client) => {
      await client.query('BEGIN')
      await client.query(
        `UPDATE executions SET status = 'cancelled', ended_at = now(), revision = revision + 1 WHERE id = $1`,
        [executionId],
      )
      const { rowCount } = await client.query('SELECT FROM webhook_deliveries')
      expect(rowCount).toBe(before.length + 1)
      await client.query('ROLLBACK')
    })

    expect(await rowsOf()).toHaveLength(before.length)
  })
})

describe('an act', () => {
  it('is told under its name in the audit log, without free text', async () => {
    await create()
    const executionId = await runTold(app, 'escalate')
    const [, opened] = await rowsOf()
    const { escalationId } = Object(opened?.data)
    const by = { escalationId, assignee: 'kim', resolution: 'Marked called' }
    await operations.assignEscalation.invoke(app, agent, { escalationId, assignee: by.assignee })
    await operations.resolveEscalation.invoke(app, agent, {
      escalationId,
      resolution: by.resolution,
    })
    await operations.stopProcedure.invoke(app, agent, { procedureKey: 'TOLD', reason: 'Marked' })
    await operations.allowProcedure.invoke(app, agent, { procedureKey: 'TOLD' })

    const rows = (await rowsOf()).slice(2)
    expect(rows.map(({ type, subject }) => [type, subject])).toEqual([
      ['escalation.assigned', executionId],
      ['escalation.resolved', executionId],
      ['procedure.stopped', 'TOLD'],
      ['procedure.allowed', 'TOLD'],
    ])
    expect(rows[1]?.data).toEqual({
      tenantId: 'default',
      escalationId,
      executionId,
      status: 'resolved',
      reasonCode: 'ended_by_step',
      queue: 'support',
      priority: 'normal',
      auditSeq: expect.any(Number),
    })
    expect(rows[2]?.data).toEqual({
      tenantId: 'default',
      procedureKey: 'TOLD',
      auditSeq: expect.any(Number),
    })
    expect(JSON.stringify(rows)).not.toMatch(/Marked|"kim"|"ann"/)
  })

  it('on a version names procedure and number, and all that else is told is in its order', async () => {
    await create({ events: ['version.activated', 'version.deprecated', 'version.reviewed'] })
    const key = { procedureKey: 'TOLD' }
    const { versionNumber } = await operations.createVersion.invoke(app, agent, key)
    const { digest } = await operations.getApproval.invoke(app, agent, { ...key, versionNumber })
    const review = { ...key, versionNumber, digest, verdict: 'comment', comment: 'Marked' }
    await operations.reviewVersion.invoke(app, agent, review)
    await operations.activateVersion.invoke(app, agent, { ...key, versionNumber, seenActive: 1 })

    expect((await rowsOf()).map(({ type, subject, data }) => [type, subject, data])).toEqual([
      [
        'version.reviewed',
        'TOLD',
        {
          tenantId: 'default',
          procedureKey: 'TOLD',
          versionNumber,
          versionId: expect.stringMatching(/^ver_/),
          verdict: 'comment',
          auditSeq: expect.any(Number),
        },
      ],
      [
        'version.activated',
        'TOLD',
        {
          tenantId: 'default',
          procedureKey: 'TOLD',
          versionNumber,
          versionId: expect.stringMatching(/^ver_/),
          replaced: 1,
          auditSeq: expect.any(Number),
        },
      ],
    ])
  })
})

describe('a webhook', () => {
  it('is told of what it was made for, also while it is paused, and of nothing once it is deleted', async () => {
    const some = await create({ events: ['execution.completed'] })
    const all = await create()
    const webhookId = some.webhookId as never
    await operations.changeWebhook.invoke(app, admin, { webhookId, paused: true })

    await runTold(app, 'end')
    await runTold(app, 'ask')
    expect((await rowsOf()).map(({ webhook_id }) => webhook_id).sort()).toEqual(
      [some.webhookId, all.webhookId, all.webhookId].sort(),
    )

    await operations.deleteWebhook.invoke(app, admin, { webhookId })
    await operations.deleteWebhook.invoke(app, admin, { webhookId: all.webhookId as never })
    await runTold(app, 'end')
    expect(await rowsOf()).toHaveLength(3)
  })

  it('is shown and changed by an admin, and its acts are in the audit log without the path of its URL', async () => {
    const { webhookId: id, secret, ...made } = await create({ description: 'The help desk' })
    const webhookId = id as never

    const changed = await operations.changeWebhook.invoke(app, admin, {
      webhookId,
      url: 'https://other.example.com/secret-path',
      events: ['escalation.opened', 'escalation.opened'],
      paused: true,
    })

    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(made).toMatchObject({ url, events: null, status: 'active', pausedBecause: null })
    expect(changed).toMatchObject({
      url: 'https://other.example.com/secret-path',
      description: 'The help desk',
      events: ['escalation.opened'],
      status: 'paused',
      pausedBecause: 'asked',
    })
    const { items } = await operations.listWebhooks.invoke(app, admin, {})
    expect(items).toEqual([changed])
    const acts = await operations.listAuditEvents.invoke(app, admin, { entityId: id })
    expect(acts.items.map(({ action, details }) => [action, details])).toEqual([
      [
        'webhook.changed',
        {
          origin: 'https://other.example.com',
          events: ['escalation.opened'],
          status: 'paused',
        },
      ],
      ['webhook.created', { origin: 'https://hooks.example.com', events: null }],
    ])
  })

  it.each([
    ['http://hooks.example.com/', 'only https'],
    ['https://127.0.0.1/', 'no public address'],
    ['https://2130706433/', 'no public address'],
    ['https://0x7f.1/', 'no public address'],
    ['https://[::1]/', 'no public address'],
    ['https://[::ffff:10.0.0.1]/', 'no public address'],
    ['https://169.254.169.254/latest', 'credentials'],
    ['https://user:word@hooks.example.com/', 'a user or a password'],
    ['ftp://hooks.example.com/', 'only https'],
    ['hooks.example.com', 'cannot be read'],
  ])('is not made with the URL %s', async (refused, problem) => {
    await expect(create({ url: refused })).rejects.toMatchObject({
      code: 'WEBHOOK_URL_REFUSED',
      message: expect.stringContaining(problem),
    })
    const { webhookId } = await create()
    const change = { webhookId: webhookId as never, url: refused }
    await expect(operations.changeWebhook.invoke(app, admin, change)).rejects.toMatchObject({
      code: 'WEBHOOK_URL_REFUSED',
    })
  })

  it('may be a host of the own network that is named, without TLS', async () => {
    expect(await create({ url: 'http://hook.internal:8080/in' })).toMatchObject({
      url: 'http://hook.internal:8080/in',
    })
  })

  it('is the seventeenth of a tenant no more; the sixteen come in pages', async () => {
    const made: string[] = []
    for (let count = 0; count < 16; count += 1) made.push((await create()).webhookId)

    await expect(create()).rejects.toMatchObject({ code: 'WEBHOOK_LIMIT_REACHED' })
    const page = await operations.listWebhooks.invoke(app, admin, { limit: 10 })
    const rest = await operations.listWebhooks.invoke(app, admin, { cursor: page.nextCursor })
    expect([...page.items, ...rest.items].map(({ webhookId }) => webhookId)).toEqual(made.sort())
    expect([page.items.length, rest.nextCursor]).toEqual([10, null])
  })

  it('is nothing to other tenants', async () => {
    const { webhookId: id } = await create()
    await runTold(app, 'end')
    const [row] = await rowsOf()
    const other = callerOf('eve', ['admin', 'agent', 'approver', 'author'], 'other')
    const webhookId = id as never
    await createTold(app, other)
    await runTold(app, 'end', other)

    expect(await rowsOf('other')).toEqual([])
    expect(await rowsOf()).toHaveLength(1)
    expect(await operations.listWebhooks.invoke(app, other, {})).toEqual({
      items: [],
      nextCursor: null,
    })
    const since = '2020-01-01T00:00:00Z'
    const tries: readonly (() => Promise<unknown>)[] = [
      () => operations.changeWebhook.invoke(app, other, { webhookId, paused: true }),
      () => operations.deleteWebhook.invoke(app, other, { webhookId }),
      () => operations.rotateWebhookSecret.invoke(app, other, { webhookId }),
      () => operations.testWebhook.invoke(app, other, { webhookId }),
      () => operations.listWebhookDeliveries.invoke(app, other, { webhookId }),
      () => operations.replayWebhook.invoke(app, other, { webhookId, since }),
      () => operations.replayWebhookDelivery.invoke(app, other, { deliveryId: row?.id }),
    ]
    for (const attempt of tries) {
      await expect(attempt()).rejects.toMatchObject({
        code: expect.stringMatching(/^(WEBHOOK|DELIVERY)_NOT_FOUND$/),
      })
    }
  })
})
