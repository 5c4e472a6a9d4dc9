import { expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { findText } from '../support/marked.ts'
import { answerWith, openReceiver } from '../support/receiver.ts'
import { settleEscalations } from '../support/settle.ts'
import { createTold, runTold, startSending } from '../support/told.ts'

const receiver = await openReceiver()
const { app, db } = await openTestApp({ tools: [], webhooks: { allowHosts: ['127.0.0.1'] } })
const admin = callerOf()

it('what services have answered about a run goes with its values, and is not kept after that', async () => {
  await createTold(app)
  const { webhookId: id } = await operations.createWebhook.invoke(app, admin, {
    url: receiver.url,
  })
  const webhookId = id as never
  const delivered = async () =>
    (await operations.listWebhookDeliveries.invoke(app, admin, { webhookId, status: 'delivered' }))
      .items
  receiver.answer = answerWith(200, 'Thanks for the news of Mrs Answered')
  await using _sending = startSending(app)
  const executionId = await runTold(app, 'escalate', admin, { customerId: 'C-1' })
  await settleEscalations(app)
  const other = await runTold(app, 'end', admin, { customerId: 'C-2' })
  await expect.poll(async () => (await delivered()).length, { timeout: 10_000 }).toBe(4)
  expect(await findText(db, 'Answered')).toEqual(['webhook_deliveries.attempts'])

  await operations.eraseCustomer.invoke(app, admin, { customerId: 'C-1', reason: 'asked for' })

  const answers = async (ofRun: string) =>
    (await delivered())
      .filter(({ data }) => Object(data).executionId === ofRun)
      .flatMap(({ attempts }) => attempts.map(({ status, answer }) => [status, answer]))
  expect(await answers(executionId)).toEqual([
    [200, undefined],
    [200, undefined],
    [200, undefined],
  ])
  expect(await answers(other)).toEqual([[200, 'Thanks for the news of Mrs Answered']])

  const since = '2020-01-01T00:00:00Z'
  await operations.replayWebhook.invoke(app, admin, { webhookId, since, status: 'all' })
  await expect.poll(async () => (await answers(executionId)).length, { timeout: 10_000 }).toBe(6)
  expect((await answers(executionId)).every(([, answer]) => answer === undefined)).toBe(true)
  const verified = await operations.verifyAudit.invoke(app, admin, {})
  expect(verified.problems).toEqual([])
})
