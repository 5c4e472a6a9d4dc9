import { z } from 'zod'
import { findDelivery, updateReplayed } from '../db/queries/webhook-deliveries.ts'
import { ServiceError } from '../domain/errors.ts'
import { defineAdministration } from './define.ts'
import { lockWebhook } from './lock-webhook.ts'
import { deliveryId } from './shapes.ts'
import { deliveryOutput, toDeliveryOutput } from './webhook-output.ts'

/** Sends a message once more, under the same id, with all its tries before it. */
export const replayWebhookDelivery = defineAdministration({
  name: 'replayWebhookDelivery',
  summary: 'Send a message once more, under the same id',
  input: z.strictObject({ deliveryId }),
  output: deliveryOutput,
  errors: ['DELIVERY_NOT_FOUND', 'DELIVERY_PENDING', 'WEBHOOK_NOT_FOUND'],
  roles: ['admin'],
  async change({ app }, transaction, { deliveryId: id }) {
    const found = await findDelivery(transaction, id)
    if (found === undefined) throw new ServiceError('DELIVERY_NOT_FOUND', { deliveryId: id })
    const { webhookId } = found
    await lockWebhook(transaction, webhookId)
    const now = new Date(app.clock.now())
    const count = await updateReplayed(transaction, { webhookId, deliveryId: id }, now)
    if (count === 0) throw new ServiceError('DELIVERY_PENDING', { deliveryId: id })
    const after = (await findDelivery(transaction, id)) ?? found
    return {
      output: toDeliveryOutput(after),
      audit: [
        {
          action: 'webhook.replayed',
          entityKind: 'webhook',
          entityId: webhookId,
          details: { deliveryId: id },
        },
      ],
    }
  },
})
