import { z } from 'zod'
import { replaceSecret } from '../db/queries/webhooks.ts'
import { newWebhookSecret } from '../webhooks/signature.ts'
import { defineAdministration } from './define.ts'
import { lockWebhook } from './lock-webhook.ts'
import { instant, webhookId } from './shapes.ts'

const overlapMs = 24 * 3_600_000

/** Gives a webhook another secret. For a day messages are signed with the one before as well. */
export const rotateWebhookSecret = defineAdministration({
  name: 'rotateWebhookSecret',
  summary: 'Give a webhook another secret, shown this once; the old one holds for 24 hours',
  input: z.strictObject({ webhookId }),
  output: z.object({
    webhookId: z.string(),
    secret: z.string().describe('What signatures are made with from now on'),
    previousUntil: instant.describe('Until when they are made with the one before as well'),
  }),
  errors: ['WEBHOOK_NOT_FOUND'],
  roles: ['admin'],
  async change({ app, db }, transaction, { webhookId: id }) {
    await lockWebhook(transaction, id)
    const secret = newWebhookSecret()
    const until = new Date(app.clock.now() + overlapMs)
    await replaceSecret(transaction, db.tenantId, id, secret, until)
    const previousUntil = until.toISOString()
    return {
      output: { webhookId: id, secret: secret.reveal(), previousUntil },
      audit: [
        {
          action: 'webhook.secret_rotated',
          entityKind: 'webhook',
          entityId: id,
          details: { previousUntil },
        },
      ],
    }
  },
})
