import type { Generated, GeneratedAlways } from 'kysely'
import type { JsonColumn, Nullable, NullableJsonColumn } from './columns.ts'

/** A service that is told of events, and how that goes. Its secrets are elsewhere. */
export interface WebhooksTable {
  tenant_id: string
  id: string
  url: string
  description: string
  /** Null: all, and those that are added later. */
  events: Nullable<string[]>
  created_at: Date
  status: Generated<'active' | 'paused'>
  paused_because: Nullable<'asked' | 'gone' | 'failing'>
  paused_at: Nullable<Date>
  /** Since when nothing was delivered, though it was tried. */
  failing_since: Nullable<Date>
  /** Whether the last message failed or took long. */
  is_troubled: Generated<boolean>
  last_delivered_at: Nullable<Date>
}

/** What messages are signed with, in clear: whoever signs needs it. Read by whoever sends alone. */
export interface WebhookSecretsTable {
  tenant_id: string
  webhook_id: string
  /** From 1. */
  number: number
  /** `whsec_` and base64. */
  secret: string
  /** Null for the newest; the others are valid until then. */
  expires_at: Nullable<Date>
}

/**
 * A message to one webhook, and the log of how it was sent: the outbox. Triggers write it in the transaction that makes
 * it true. docs/decisions/0020-webhooks.md.
 */
export interface WebhookDeliveriesTable {
  tenant_id: string
  id: string
  webhook_id: string
  /** Rises over all tenants; of one subject in the order of what happened. */
  seq: GeneratedAlways<number>
  type: string
  subject: string
  at: Date
  data: JsonColumn
  status: Generated<'pending' | 'delivered' | 'failed'>
  due_at: Date
  claimed_until: Nullable<Date>
  /** Counts those who have taken it to send it. */
  fence: Generated<number>
  /** Since it was told or replayed. */
  failure_count: Generated<number>
  /** The last ones; null before the first. */
  attempts: NullableJsonColumn
  ended_at: Nullable<Date>
}
