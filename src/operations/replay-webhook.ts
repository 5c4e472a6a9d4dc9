import { z } from 'zod'
import { updateReplayed } from '../db/queries/webhook-deliveries.ts'
import { defineAdministration } from './define.ts'
import { lockWebhook } from './lock-webhook.ts'
import { instant, webhookId } from './shapes.ts'

/** Sends what a service was told in a time once more, in its order, under the same ids. */
export const replayWebhook = defineAdministration({
  name: 'replayWebhook',
  summary: 'Send the messages of a time once more, under the same ids',
  input: z.strictObject({
    webhookId,
    since: instant.describe('Of what happened at or after it'),
    until: instant.optional().describe('Of what happened before it; default: to the end'),
    status: z
      .enum(['failed', 'delivered', 'all'])
      .default('failed')
      .describe('`failed`: those that were given up'),
  }),
  output: z.object({
    webhookId: z.string(),
    count: z.int().describe('How many messages are sent once more'),
  }),
  errors: ['WEBHOOK_NOT_FOUND'],
  roles: ['admin'],
  async change({ app }, transaction, { webhookId: id, since, until, status }) {
    await lockWebhook(transaction, id)
    const filter = {
      webhookId: id,
      since: new Date(since),
      ...(until !== undefined && { until: new Date(until) }),
      ...(status !== 'all' && { status }),
    }
    const count = await updateReplayed(transaction, filter, new Date(app.clock.now()))
    return {
      output: { webhookId: id, count },
      audit: [
        {
          action: 'webhook.replayed',
          entityKind: 'webhook',
          entityId: id,
          details: { since, until: until ?? null, status, count },
        },
      ],
    }
  },
})
