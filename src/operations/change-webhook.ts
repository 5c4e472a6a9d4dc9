import { z } from 'zod'
import { findWebhook, updatePaused, updateResumed, updateWebhook } from '../db/queries/webhooks.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Json } from '../domain/json.ts'
import { findTargetProblem } from '../webhooks/target.ts'
import { defineAdministration } from './define.ts'
import { lockWebhook, originOf } from './lock-webhook.ts'
import { webhookId } from './shapes.ts'
import {
  distinct,
  toWebhookOutput,
  webhookDescription,
  webhookEvents,
  webhookOutput,
  webhookUrl,
} from './webhook-output.ts'

/** Changes what is given. What happens while a webhook is paused is kept, and sent when it is let go on. */
export const changeWebhook = defineAdministration({
  name: 'changeWebhook',
  summary: 'Change of what a service is told and where, pause it, or let it go on',
  input: z.strictObject({
    webhookId,
    url: webhookUrl.optional(),
    events: webhookEvents.nullable().optional(),
    description: webhookDescription.optional(),
    paused: z
      .boolean()
      .optional()
      .describe('Whether it is sent nothing; messages wait, for up to 30 days'),
  }),
  output: webhookOutput,
  errors: ['WEBHOOK_NOT_FOUND', 'WEBHOOK_URL_REFUSED'],
  roles: ['admin'],
  async change({ app }, transaction, input) {
    const before = await lockWebhook(transaction, input.webhookId)
    const { url = before.url, description = before.description } = input
    const events = distinct(input.events === undefined ? before.events : input.events)
    if (input.url !== undefined) {
      const problem = findTargetProblem(input.url, app.webhooks.allowHosts)
      if (problem !== undefined) throw new ServiceError('WEBHOOK_URL_REFUSED', { problem })
    }
    await updateWebhook(transaction, { id: before.id, url, events, description })
    const now = new Date(app.clock.now())
    if (input.paused === true) await updatePaused(transaction, before.id, 'asked', now)
    if (input.paused === false) await updateResumed(transaction, before.id, now)
    const after = (await findWebhook(transaction, before.id)) ?? before
    const details: Record<string, Json> = {
      ...(url !== before.url && { origin: originOf(url) }),
      ...(input.events !== undefined && { events }),
      ...(after.status !== before.status && { status: after.status }),
    }
    return {
      output: toWebhookOutput(after),
      audit: [{ action: 'webhook.changed', entityKind: 'webhook', entityId: before.id, details }],
    }
  },
})
