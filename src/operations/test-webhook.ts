import { z } from 'zod'
import { findDelivery, insertClaimed } from '../db/queries/webhook-deliveries.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { openSender } from '../webhooks/sender.ts'
import { defineAdministration } from './define.ts'
import { claimMs, deliver } from './deliver.ts'
import { lockWebhook } from './lock-webhook.ts'
import { webhookId } from './shapes.ts'
import { deliveryOutput, toDeliveryOutput } from './webhook-output.ts'

/** Sends a `webhook.ping` at once, also to one that is paused, and answers what came of it. It is tried once. */
export const testWebhook = defineAdministration({
  name: 'testWebhook',
  summary: 'Send a signed ping to a service at once, and tell what came of it',
  input: z.strictObject({ webhookId }),
  output: deliveryOutput,
  errors: ['WEBHOOK_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
  roles: ['admin'],
  async change({ app, db }, transaction, { webhookId: id }) {
    await lockWebhook(transaction, id)
    const now = app.clock.now()
    const deliveryId = newId('delivery', now)
    await insertClaimed(
      transaction,
      db.tenantId,
      {
        id: deliveryId,
        webhookId: id,
        type: 'webhook.ping',
        at: new Date(now),
        data: { tenantId: db.tenantId, webhookId: id },
      },
      new Date(now + claimMs),
    )
    return {
      output: async () => {
        await using sender = openSender(app.webhooks)
        await deliver(app, sender, { tenantId: db.tenantId, deliveryId, fence: 1 })
        const delivery = await findDelivery(db.kysely, deliveryId)
        if (delivery === undefined) throw new ServiceError('DELIVERY_NOT_FOUND', { deliveryId })
        return toDeliveryOutput(delivery)
      },
      audit: [
        {
          action: 'webhook.tested',
          entityKind: 'webhook',
          entityId: id,
          details: { deliveryId },
        },
      ],
    }
  },
})
