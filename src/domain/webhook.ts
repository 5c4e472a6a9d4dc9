import type { Id } from './ids.ts'
import type { JsonObject } from './json.ts'

/**
 * What other services may be told of. The names are for ever; docs/webhooks.md says what stands in each, and
 * docs/decisions/0020-webhooks.md why these.
 */
export const webhookEventTypes = [
  'execution.waiting',
  'execution.completed',
  'execution.escalated',
  'execution.cancelled',
  'escalation.opened',
  'escalation.assigned',
  'escalation.resolved',
  'version.reviewed',
  'version.activated',
  'version.deprecated',
  'activation.refused',
  'procedure.stopped',
  'procedure.allowed',
  'tool.stopped',
  'tool.allowed',
  'lessons.updated',
  'proposal.made',
  'proposal.accepted',
  'proposal.dismissed',
] as const

export type WebhookEventType = (typeof webhookEventTypes)[number]

/** Why nothing is sent: a person wants that, the service answered 410 Gone, or it has failed for long. */
export type PauseReason = 'asked' | 'gone' | 'failing'

/** A service that is told of events. */
export interface Webhook {
  readonly id: Id<'webhook'>
  readonly url: string
  /** For people; may be empty. */
  readonly description: string
  /** Null: all, and those that are added later. */
  readonly events: readonly WebhookEventType[] | null
  readonly createdAt: Date
  readonly status: 'active' | 'paused'
  readonly pausedBecause: PauseReason | null
  readonly pausedAt: Date | null
  /** Since when nothing was delivered, though it was tried. */
  readonly failingSince: Date | null
  readonly lastDeliveredAt: Date | null
}

/** One try to send a message. */
export interface DeliveryAttempt {
  /** RFC 3339. */
  readonly at: string
  readonly durationMs: number
  /** The HTTP status of the answer; null without one. */
  readonly status: number | null
  /** Why it does not count; null when it was delivered. */
  readonly problem: string | null
  /** The first 1,024 characters of the body of the answer. */
  readonly answer?: string
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed'

/** A message to one webhook. */
export interface Delivery {
  /** The same however often it is sent: `webhook-id`. */
  readonly id: Id<'delivery'>
  readonly webhookId: Id<'webhook'>
  readonly type: WebhookEventType | 'webhook.ping'
  /** When it happened. */
  readonly at: Date
  readonly data: JsonObject
  readonly status: DeliveryStatus
  /** When it is tried next. */
  readonly dueAt: Date
  /** Since it was told, or replayed. */
  readonly failureCount: number
  /** The last 20, oldest first. */
  readonly attempts: readonly DeliveryAttempt[]
  readonly endedAt: Date | null
}
