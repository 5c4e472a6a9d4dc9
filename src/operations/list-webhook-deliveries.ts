import { z } from 'zod'
import { listDeliveries } from '../db/queries/webhook-deliveries.ts'
import { findWebhook } from '../db/queries/webhooks.ts'
import { ServiceError } from '../domain/errors.ts'
import { webhookEventTypes } from '../domain/webhook.ts'
import { defineOperation } from './define.ts'
import { nextCursor, pageById, webhookId } from './shapes.ts'
import { deliveryOutput, toDeliveryOutput } from './webhook-output.ts'

/** A page of the messages to a webhook and how they went, newest first. */
export const listWebhookDeliveries = defineOperation({
  name: 'listWebhookDeliveries',
  summary: 'List the messages to a service and how they went, newest first',
  input: z.strictObject({
    webhookId,
    ...pageById('delivery'),
    status: z.enum(['pending', 'delivered', 'failed']).optional(),
    type: z.enum([...webhookEventTypes, 'webhook.ping']).optional(),
  }),
  output: z.object({ items: z.array(deliveryOutput), nextCursor }),
  errors: ['WEBHOOK_NOT_FOUND'],
  roles: ['admin'],
  async run({ db }, { webhookId: id, limit, cursor, ...filters }) {
    if ((await findWebhook(db.kysely, id)) === undefined) {
      throw new ServiceError('WEBHOOK_NOT_FOUND', { webhookId: id })
    }
    const rows = await listDeliveries(db.kysely, {
      ...filters,
      webhookId: id,
      limit: limit + 1,
      before: cursor,
    })
    const items = rows.slice(0, limit)
    return {
      items: items.map(toDeliveryOutput),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
