import { z } from 'zod'
import { type Delivery, type Webhook, webhookEventTypes } from '../domain/webhook.ts'
import { instant, jsonObject } from './shapes.ts'

/** A tenant has at most so many: each is a row more for every event. */
export const mostWebhooks = 16

export const webhookUrl = z
  .string()
  .min(1)
  .max(2_000)
  .describe('Where messages go: https, and http for hosts of your own network alone')

export const webhookEvents = z
  .array(z.enum(webhookEventTypes))
  .min(1)
  .max(webhookEventTypes.length)
  .describe(`Of what it is told: ${webhookEventTypes.join(', ')}`)

/** Each once. */
export function distinct<T>(events: readonly T[] | null): T[] | null {
  return events === null ? null : [...new Set(events)]
}

export const webhookDescription = z.string().max(500).describe('What it is for')

export const webhookOutput = z.object({
  webhookId: z.string(),
  url: z.string(),
  description: z.string(),
  events: z
    .array(z.enum(webhookEventTypes))
    .nullable()
    .describe('Of what it is told; null: of all, and of what is added later'),
  createdAt: instant,
  status: z.enum(['active', 'paused']),
  pausedBecause: z
    .enum(['asked', 'gone', 'failing'])
    .nullable()
    .describe('`gone`: the service answered 410; `failing`: nothing was delivered for five days'),
  pausedAt: instant.nullable(),
  failingSince: instant
    .nullable()
    .describe('Since when nothing was delivered, though it was tried'),
  lastDeliveredAt: instant.nullable(),
})

export function toWebhookOutput(webhook: Webhook): z.infer<typeof webhookOutput> {
  return {
    webhookId: webhook.id,
    url: webhook.url,
    description: webhook.description,
    events: webhook.events === null ? null : [...webhook.events],
    createdAt: webhook.createdAt.toISOString(),
    status: webhook.status,
    pausedBecause: webhook.pausedBecause,
    pausedAt: webhook.pausedAt?.toISOString() ?? null,
    failingSince: webhook.failingSince?.toISOString() ?? null,
    lastDeliveredAt: webhook.lastDeliveredAt?.toISOString() ?? null,
  }
}

export const deliveryOutput = z.object({
  deliveryId: z.string().describe('`webhook-id` of the message, however often it is sent'),
  webhookId: z.string(),
  type: z.enum([...webhookEventTypes, 'webhook.ping']),
  timestamp: instant.describe('When it happened'),
  data: jsonObject,
  status: z.enum(['pending', 'delivered', 'failed']),
  failureCount: z.int().describe('Since it was told or replayed'),
  nextAttemptAt: instant.nullable().describe('null: it has ended'),
  endedAt: instant.nullable(),
  attempts: z
    .array(
      z.object({
        at: instant,
        durationMs: z.int(),
        status: z.int().nullable().describe('The HTTP status of the answer; null: there was none'),
        problem: z.string().nullable().describe('Why it does not count; null: it was delivered'),
        answer: z.string().optional().describe('The beginning of the body of the answer'),
      }),
    )
    .readonly()
    .describe('The last 20, oldest first'),
})

export function toDeliveryOutput(delivery: Delivery): z.infer<typeof deliveryOutput> {
  return {
    deliveryId: delivery.id,
    webhookId: delivery.webhookId,
    type: delivery.type,
    timestamp: delivery.at.toISOString(),
    data: delivery.data,
    status: delivery.status,
    failureCount: delivery.failureCount,
    nextAttemptAt: delivery.status === 'pending' ? delivery.dueAt.toISOString() : null,
    endedAt: delivery.endedAt?.toISOString() ?? null,
    attempts: delivery.attempts,
  }
}
