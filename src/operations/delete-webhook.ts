import { z } from 'zod'
import { deleteWebhook as deleteRow } from '../db/queries/webhooks.ts'
import { defineAdministration } from './define.ts'
import { lockWebhook, originOf } from './lock-webhook.ts'
import { webhookId } from './shapes.ts'

/** Tells a service nothing any more, also of what it has not been told yet. */
export const deleteWebhook = defineAdministration({
  name: 'deleteWebhook',
  summary: 'Tell a service nothing any more, and forget what it was told',
  input: z.strictObject({ webhookId }),
  output: z.object({ webhookId: z.string(), url: z.string() }),
  errors: ['WEBHOOK_NOT_FOUND'],
  roles: ['admin'],
  async change(_context, transaction, { webhookId: id }) {
    const { url } = await lockWebhook(transaction, id)
    await deleteRow(transaction, id)
    return {
      output: { webhookId: id, url },
      audit: [
        {
          action: 'webhook.deleted',
          entityKind: 'webhook',
          entityId: id,
          details: { origin: originOf(url) },
        },
      ],
    }
  },
})
