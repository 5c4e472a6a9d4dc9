import type { Selectable } from 'kysely'
import { Secret } from '../../config/secret.ts'
import type { Id } from '../../domain/ids.ts'
import type { PauseReason, Webhook, WebhookEventType } from '../../domain/webhook.ts'
import type { Db, Transaction } from '../connect.ts'
import type { WebhooksTable } from '../rows/webhooks.ts'

/** Until the transaction ends nobody else adds a webhook to the tenant; answers how many it has. */
export async function lockWebhookCount(
  transaction: Transaction,
  tenantId: string,
): Promise<number> {
  await transaction
    .selectFrom('tenants')
    .select('id')
    .where('id', '=', tenantId)
    .forNoKeyUpdate()
    .execute()
  const { count } = await transaction
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Adds a webhook that is told from now on, with its first secret. */
export async function insertWebhook(
  transaction: Transaction,
  tenantId: string,
  webhook: Pick<Webhook, 'id' | 'url' | 'description' | 'events' | 'createdAt'>,
  secret: Secret,
): Promise<void> {
  await transaction
    .insertInto('webhooks')
    .values({
      tenant_id: tenantId,
      id: webhook.id,
      url: webhook.url,
      description: webhook.description,
      events: webhook.events === null ? null : [...webhook.events],
      created_at: webhook.createdAt,
    })
    .execute()
  await insertSecret(transaction, tenantId, webhook.id, secret, 1)
}

export async function findWebhook(db: Db, id: Id<'webhook'>): Promise<Webhook | undefined> {
  const row = await db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toWebhook(row)
}

/**
 * The same; until the transaction ends nobody changes it or notes what came of a message to it. Taken before any lock on
 * its messages.
 */
export async function lockWebhook(
  transaction: Transaction,
  id: Id<'webhook'>,
): Promise<Webhook | undefined> {
  const row = await transaction
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row && toWebhook(row)
}

/** A page of the tenant's webhooks, oldest first. `after` is the last id of the page before. */
export async function listWebhooks(
  db: Db,
  { limit, after = '' }: { readonly limit: number; readonly after?: string | undefined },
): Promise<readonly Webhook[]> {
  const rows = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(toWebhook)
}

/** Changes what a person has said of a webhook that is locked. */
export async function updateWebhook(
  transaction: Transaction,
  { id, url, description, events }: Pick<Webhook, 'id' | 'url' | 'description' | 'events'>,
): Promise<void> {
  await transaction
    .updateTable('webhooks')
    .set({ url, description, events: events === null ? null : [...events] })
    .where('id', '=', id)
    .execute()
}

/** Sends nothing to a webhook from now on; one that is paused already stays as it is. False then. */
export async function updatePaused(
  transaction: Transaction,
  id: Id<'webhook'>,
  because: PauseReason,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('webhooks')
    .set({ status: 'paused', paused_because: because, paused_at: at })
    .where('id', '=', id)
    .where('status', '=', 'active')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Sends to a webhook again, and what it waits for at once. It begins without a past. */
export async function updateResumed(
  transaction: Transaction,
  id: Id<'webhook'>,
  at: Date,
): Promise<void> {
  await transaction
    .updateTable('webhooks')
    .set({
      status: 'active',
      paused_because: null,
      paused_at: null,
      failing_since: null,
      is_troubled: false,
    })
    .where('id', '=', id)
    .execute()
  await transaction
    .updateTable('webhook_deliveries')
    .set({ due_at: at })
    .where('webhook_id', '=', id)
    .where('status', '=', 'pending')
    .where('claimed_until', 'is', null)
    .where('due_at', '>', at)
    .execute()
}

/** A webhook that is locked goes with its secrets, at once; its messages are never sent, and pruned later. */
export async function deleteWebhook(transaction: Transaction, id: Id<'webhook'>): Promise<void> {
  await transaction.deleteFrom('webhooks').where('id', '=', id).execute()
}

/** What came of a message, as far as it is about the webhook. */
export async function updateHealth(
  transaction: Transaction,
  id: Id<'webhook'>,
  health: { readonly deliveredAt: Date; readonly isSlow: boolean } | { readonly failedAt: Date },
): Promise<void> {
  await transaction
    .updateTable('webhooks')
    .set((eb) =>
      'deliveredAt' in health
        ? {
            failing_since: null,
            is_troubled: health.isSlow,
            last_delivered_at: health.deliveredAt,
          }
        : {
            failing_since: eb.fn.coalesce('failing_since', eb.val(health.failedAt)),
            is_troubled: true,
          },
    )
    .where('id', '=', id)
    .execute()
}

/** What its messages are signed with at an instant, the newest first. */
export async function listSecrets(db: Db, id: Id<'webhook'>, at: Date): Promise<readonly Secret[]> {
  const rows = await db
    .selectFrom('webhook_secrets')
    .select('secret')
    .where('webhook_id', '=', id)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]))
    .orderBy('number', 'desc')
    .execute()
  return rows.map(({ secret }) => new Secret(secret))
}

/**
 * Gives a webhook that is locked another secret. The one before it is valid until `until`; of those that are older only
 * the last is kept, so that a message never has more than three signatures.
 */
export async function replaceSecret(
  transaction: Transaction,
  tenantId: string,
  id: Id<'webhook'>,
  secret: Secret,
  until: Date,
): Promise<void> {
  const newest = await transaction
    .updateTable('webhook_secrets')
    .set({ expires_at: until })
    .where('webhook_id', '=', id)
    .where('expires_at', 'is', null)
    .returning('number')
    .executeTakeFirst()
  const number = newest?.number ?? 0
  await transaction
    .deleteFrom('webhook_secrets')
    .where('webhook_id', '=', id)
    .where('number', '<', number - 1)
    .execute()
  await insertSecret(transaction, tenantId, id, secret, number + 1)
}

async function insertSecret(
  transaction: Transaction,
  tenantId: string,
  id: Id<'webhook'>,
  secret: Secret,
  number: number,
): Promise<void> {
  await transaction
    .insertInto('webhook_secrets')
    .values({ tenant_id: tenantId, webhook_id: id, number, secret: secret.reveal() })
    .execute()
}

function toWebhook(row: Selectable<WebhooksTable>): Webhook {
  return {
    id: row.id as Id<'webhook'>,
    url: row.url,
    description: row.description,
    // Written only from these.
    events: row.events as readonly WebhookEventType[] | null,
    createdAt: row.created_at,
    status: row.status,
    pausedBecause: row.paused_because,
    pausedAt: row.paused_at,
    failingSince: row.failing_since,
    lastDeliveredAt: row.last_delivered_at,
  }
}
