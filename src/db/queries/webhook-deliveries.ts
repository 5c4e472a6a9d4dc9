import { type Selectable, sql } from 'kysely'
import { canonicalJson } from '../../domain/canonical.ts'
import type { Id } from '../../domain/ids.ts'
import type { JsonObject } from '../../domain/json.ts'
import type { Delivery, DeliveryAttempt, DeliveryStatus } from '../../domain/webhook.ts'
import type { Database, Db, Transaction } from '../connect.ts'
import type { WebhookDeliveriesTable } from '../rows/webhooks.ts'

/** The right to send one message, until it counts as lost. */
export interface DeliveryClaim {
  readonly tenantId: string
  readonly deliveryId: Id<'delivery'>
  readonly fence: number
  /** Whether its webhook has failed lately, or took long. */
  readonly isTroubled: boolean
}

interface ClaimedRow {
  readonly tenant_id: string
  readonly id: Id<'delivery'>
  readonly fence: number
  readonly is_troubled: boolean
}

/**
 * Claims messages that are due, of all tenants in turn, for whoever asks: each goes to one of them. Of one subject a
 * webhook gets none before the earlier ones have ended. Of webhooks in trouble there are at most `mostTroubled`.
 */
export async function claimDeliveries(
  database: Database,
  times: { readonly now: Date; readonly until: Date },
  most: number,
  mostTroubled: number,
): Promise<readonly DeliveryClaim[]> {
  const rows = await database.system.query<ClaimedRow>(
    'webhook_deliveries_claim',
    'SELECT tenant_id, id, fence, is_troubled FROM claim_webhook_deliveries($1, $2, $3, $4)',
    [times.now, times.until, most, mostTroubled],
  )
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    deliveryId: row.id,
    fence: row.fence,
    isTroubled: row.is_troubled,
  }))
}

/** Deletes up to `most` messages of an instant before `before`, and of webhooks that are gone; answers how many. */
export async function pruneDeliveries(
  database: Database,
  now: Date,
  before: Date,
  most: number,
): Promise<number> {
  const [row] = await database.system.query<{ n: number }>(
    'webhook_deliveries_prune',
    'SELECT prune_webhook_deliveries($1, $2, $3) AS n',
    [now, before, most],
  )
  return row?.n ?? 0
}

/** A message that is claimed, with where it goes. */
export interface ClaimedDelivery extends Delivery {
  readonly url: string
}

/** Undefined when the claim is lost, or the webhook is gone. */
export async function findClaimed(
  db: Db,
  { deliveryId, fence }: Pick<DeliveryClaim, 'deliveryId' | 'fence'>,
): Promise<ClaimedDelivery | undefined> {
  const row = await db
    .selectFrom('webhook_deliveries as d')
    .innerJoin('webhooks as w', (join) =>
      join.onRef('w.tenant_id', '=', 'd.tenant_id').onRef('w.id', '=', 'd.webhook_id'),
    )
    .selectAll('d')
    .select('w.url')
    .where('d.id', '=', deliveryId)
    .where('d.fence', '=', fence)
    .where('d.status', '=', 'pending')
    .executeTakeFirst()
  return row && { ...toDelivery(row), url: row.url }
}

/** What came of an attempt. */
export interface DeliveryNote {
  readonly status: DeliveryStatus
  /** When it is tried again, if it is. */
  readonly dueAt: Date
  readonly failureCount: number
  readonly attempt: DeliveryAttempt
}

/**
 * Notes what came of a message that was claimed, of a webhook that is locked; false when the claim is lost. What was said
 * of a run whose values were erased is not kept.
 */
export async function updateNoted(
  transaction: Transaction,
  { deliveryId, fence }: Pick<DeliveryClaim, 'deliveryId' | 'fence'>,
  note: DeliveryNote,
  at: Date,
): Promise<boolean> {
  const { answer: _answer, ...bare } = note.attempt
  const { rows } = await sql<{ id: string }>`
    UPDATE webhook_deliveries d SET status = ${note.status}, due_at = ${note.dueAt}, claimed_until = NULL,
      failure_count = ${note.failureCount},
      ended_at = ${note.status === 'pending' ? null : at}::timestamptz,
      attempts = CASE WHEN jsonb_array_length(d.attempts) >= 20 THEN d.attempts - 0 ELSE coalesce(d.attempts, '[]') END
        || CASE WHEN EXISTS (
            SELECT FROM erased_records r WHERE r.tenant_id = d.tenant_id AND r.execution_id = d.subject
            UNION ALL
            SELECT FROM erased_tickets t WHERE t.tenant_id = d.tenant_id AND t.escalation_id = d.subject
          ) THEN ${canonicalJson({ ...bare })}::jsonb ELSE ${canonicalJson({ ...note.attempt })}::jsonb END
    WHERE d.id = ${deliveryId} AND d.fence = ${fence} AND d.status = 'pending'
    RETURNING d.id`.execute(transaction)
  return rows.length > 0
}

/** Brings forward what has waited for an earlier message of the same subject to the same webhook. */
export async function updateReleased(
  transaction: Transaction,
  id: Id<'delivery'>,
  at: Date,
): Promise<void> {
  await sql`
    UPDATE webhook_deliveries d SET due_at = ${at}
    WHERE d.id IN (
      SELECT l.id FROM webhook_deliveries l JOIN webhook_deliveries e
        ON e.tenant_id = l.tenant_id AND e.subject = l.subject AND e.webhook_id = l.webhook_id
      WHERE e.id = ${id} AND l.seq > e.seq AND l.status = 'pending' AND l.claimed_until IS NULL AND l.due_at > ${at}
      ORDER BY l.seq
      FOR NO KEY UPDATE OF l)`.execute(transaction)
}

/** Gives a claim back, as if it had not been taken. */
export async function releaseClaim(
  db: Db,
  { deliveryId, fence }: Pick<DeliveryClaim, 'deliveryId' | 'fence'>,
  at: Date,
): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ claimed_until: null, due_at: at })
    .where('id', '=', deliveryId)
    .where('fence', '=', fence)
    .where('status', '=', 'pending')
    .execute()
}

/** Stores a message that nobody but the caller sends, claimed with the fence 1. */
export async function insertClaimed(
  transaction: Transaction,
  tenantId: string,
  delivery: Pick<Delivery, 'id' | 'webhookId' | 'type' | 'at'> & {
    readonly data: Readonly<Record<string, string>>
  },
  until: Date,
): Promise<void> {
  await transaction
    .insertInto('webhook_deliveries')
    .values({
      tenant_id: tenantId,
      id: delivery.id,
      webhook_id: delivery.webhookId,
      type: delivery.type,
      // About nothing but itself.
      subject: delivery.id,
      at: delivery.at,
      data: canonicalJson(delivery.data),
      due_at: until,
      claimed_until: until,
      fence: 1,
    })
    .execute()
}

export async function findDelivery(db: Db, id: Id<'delivery'>): Promise<Delivery | undefined> {
  const row = await db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toDelivery(row)
}

/** A page of messages to one webhook, newest first. `before` is the last id of the page before. */
export async function listDeliveries(
  db: Db,
  page: {
    readonly limit: number
    readonly webhookId: Id<'webhook'>
    readonly before?: string | undefined
    readonly status?: DeliveryStatus | undefined
    readonly type?: string | undefined
  },
): Promise<readonly Delivery[]> {
  let query = db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', page.webhookId)
    .orderBy('seq', 'desc')
    .limit(page.limit)
  const { before } = page
  if (before !== undefined) {
    query = query.where('seq', '<', (eb) =>
      eb.selectFrom('webhook_deliveries as b').select('b.seq').where('b.id', '=', before),
    )
  }
  if (page.status !== undefined) query = query.where('status', '=', page.status)
  if (page.type !== undefined) query = query.where('type', '=', page.type)
  return (await query.execute()).map(toDelivery)
}

/** Which messages are sent once more: one, or those of a time. */
export interface ReplayFilter {
  readonly webhookId: Id<'webhook'>
  readonly deliveryId?: Id<'delivery'> | undefined
  /** What happened at or after it. */
  readonly since?: Date | undefined
  /** What happened before it. */
  readonly until?: Date | undefined
  readonly status?: 'delivered' | 'failed' | undefined
}

/** Sends messages that have ended once more, under their ids, and answers how many. Their webhook is locked. */
export async function updateReplayed(
  transaction: Transaction,
  { webhookId, deliveryId, since, until, status }: ReplayFilter,
  at: Date,
): Promise<number> {
  let query = transaction
    .updateTable('webhook_deliveries')
    .set({ status: 'pending', due_at: at, failure_count: 0, ended_at: null })
    .where('webhook_id', '=', webhookId)
    .where('status', '<>', 'pending')
  if (deliveryId !== undefined) query = query.where('id', '=', deliveryId)
  else query = query.where('type', '<>', 'webhook.ping')
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<', until)
  if (status !== undefined) query = query.where('status', '=', status)
  const { numUpdatedRows } = await query.executeTakeFirst()
  return Number(numUpdatedRows)
}

function toDelivery(row: Selectable<WebhookDeliveriesTable>): Delivery {
  return {
    id: row.id as Id<'delivery'>,
    webhookId: row.webhook_id as Id<'webhook'>,
    // Written only by the triggers that tell, and by `insertClaimed`.
    type: row.type as Delivery['type'],
    at: row.at,
    data: row.data as JsonObject,
    status: row.status,
    dueAt: row.due_at,
    failureCount: row.failure_count,
    attempts: (row.attempts ?? []) as unknown as readonly DeliveryAttempt[],
    endedAt: row.ended_at,
  }
}
