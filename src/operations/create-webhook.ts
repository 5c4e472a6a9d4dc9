import { z } from 'zod'
import { insertWebhook, lockWebhookCount } from '../db/queries/webhooks.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { newWebhookSecret } from '../webhooks/signature.ts'
import { findTargetProblem } from '../webhooks/target.ts'
import { defineAdministration } from './define.ts'
import { originOf } from './lock-webhook.ts'
import {
  distinct,
  mostWebhooks,
  toWebhookOutput,
  webhookDescription,
  webhookEvents,
  webhookOutput,
  webhookUrl,
} from './webhook-output.ts'

/** Has a service told of what happens from now on. The secret is in this answer and in no other. */
export const createWebhook = defineAdministration({
  name: 'createWebhook',
  summary: 'Tell another service of what happens, signed; its secret is shown this once',
  input: z.strictObject({
    url: webhookUrl,
    events: webhookEvents
      .nullable()
      .default(null)
      .describe('Of what it is told; null: of all, and of what is added later'),
    description: webhookDescription.default(''),
  }),
  output: webhookOutput.extend({
    secret: z
      .string()
      .describe('What the signatures are made with. It cannot be shown again, but rotated'),
  }),
  errors: ['WEBHOOK_URL_REFUSED', 'WEBHOOK_LIMIT_REACHED'],
  roles: ['admin'],
  async change({ app, db }, transaction, { url, description, ...input }) {
    const events = distinct(input.events)
    const problem = findTargetProblem(url, app.webhooks.allowHosts)
    if (problem !== undefined) throw new ServiceError('WEBHOOK_URL_REFUSED', { problem })
    if ((await lockWebhookCount(transaction, db.tenantId)) >= mostWebhooks) {
      throw new ServiceError('WEBHOOK_LIMIT_REACHED', { atMost: mostWebhooks })
    }
    const now = app.clock.now()
    const webhook = {
      id: newId('webhook', now),
      url,
      description,
      events,
      createdAt: new Date(now),
    }
    const secret = newWebhookSecret()
    await insertWebhook(transaction, db.tenantId, webhook, secret)
    const output = toWebhookOutput({
      ...webhook,
      status: 'active',
      pausedBecause: null,
      pausedAt: null,
      failingSince: null,
      lastDeliveredAt: null,
    })
    return {
      output: { ...output, secret: secret.reveal() },
      audit: [
        {
          action: 'webhook.created',
          entityKind: 'webhook',
          entityId: webhook.id,
          details: { origin: originOf(url), events },
        },
      ],
    }
  },
})
