import type { AppContext } from '../context.ts'
import type { TenantDb, Transaction } from '../db/connect.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import {
  type ClaimedDelivery,
  type DeliveryClaim,
  type DeliveryNote,
  findClaimed,
  releaseClaim,
  updateNoted,
  updateReleased,
} from '../db/queries/webhook-deliveries.ts'
import { listSecrets, lockWebhook, updateHealth, updatePaused } from '../db/queries/webhooks.ts'
import type { DeliveryAttempt, PauseReason, Webhook } from '../domain/webhook.ts'
import { inSpan } from '../telemetry/span.ts'
import { longestFailureMs, restMs } from '../webhooks/retry.ts'
import type { Sender, Sent } from '../webhooks/sender.ts'
import { servicePrincipal } from './audit-chore.ts'

/** After this long a message whose sender says nothing is anybody's: twice what an answer may take. */
export const claimMs = 30_000

/** Who takes longer to answer is in trouble, as who does not answer is. */
const slowMs = 2_000

/**
 * Sends a message that is claimed, and notes what came of it. Whoever dies in between leaves a claim that runs out, and the
 * message is sent again under the same id. Once `signal` is aborted, a message without an answer is given back.
 */
export async function deliver(
  app: AppContext,
  sender: Sender,
  claim: Pick<DeliveryClaim, 'tenantId' | 'deliveryId' | 'fence'>,
  signal?: AbortSignal,
): Promise<void> {
  const db = app.database.forTenant(claim.tenantId)
  const message = await findClaimed(db.kysely, claim)
  if (message === undefined) return
  const sentAt = app.clock.now()
  const secrets = await listSecrets(db.kysely, message.webhookId, new Date(sentAt))
  const sent = await inSpan(
    app,
    'webhook',
    () => ({
      kind: 'client',
      attributes: {
        'http.request.method': 'POST',
        'stepwarden.tenant.id': claim.tenantId,
        'stepwarden.webhook.id': message.webhookId,
        'stepwarden.message.id': claim.deliveryId,
        'stepwarden.message.type': message.type,
      },
    }),
    async (_app, span) => {
      const came = await sender.send(message, secrets, sentAt, signal, span?.traceparent)
      span?.set({ 'http.response.status_code': came.attempt.status ?? undefined })
      if (came.attempt.problem !== null) span?.fail(String(came.attempt.status ?? 'no_answer'))
      return came
    },
  )
  if (signal?.aborted === true && sent.attempt.status === null) {
    await releaseClaim(db.kysely, claim, new Date(app.clock.now()))
    return
  }
  app.meter?.messageSent(sent.attempt.problem === null ? 'delivered' : 'failed')
  await note(app, db, claim, message, sent)
}

async function note(
  app: AppContext,
  db: TenantDb,
  claim: Pick<DeliveryClaim, 'deliveryId' | 'fence'>,
  message: ClaimedDelivery,
  sent: Sent,
): Promise<void> {
  const { attempt } = sent
  const now = app.clock.now()
  const at = new Date(now)
  await db.kysely.transaction().execute(async (transaction) => {
    const webhook = await lockWebhook(transaction, message.webhookId)
    if (webhook === undefined) return
    const toNote = noteOf(message, sent, now)
    if (!(await updateNoted(transaction, claim, toNote, at))) return
    if (toNote.status !== 'pending') await updateReleased(transaction, message.id, at)
    // A ping says nothing of how the service is doing.
    if (message.type === 'webhook.ping') return
    const isSlow = attempt.durationMs > slowMs
    await updateHealth(
      transaction,
      webhook.id,
      attempt.problem === null ? { deliveredAt: at, isSlow } : { failedAt: at },
    )
    const because = pauseReason(webhook, attempt, now)
    if (because !== undefined) await pauseWebhook(transaction, db.tenantId, webhook, because, at)
  })
}

function noteOf(
  message: ClaimedDelivery,
  { attempt, askedRestMs }: Sent,
  now: number,
): DeliveryNote {
  const { failureCount } = message
  const ended = { attempt, failureCount, dueAt: new Date(now) }
  if (attempt.problem === null) return { ...ended, status: 'delivered' }
  const failures = failureCount + 1
  const isPing = message.type === 'webhook.ping'
  const rest = isPing ? undefined : restMs(failures, Math.random(), askedRestMs)
  return rest === undefined
    ? { ...ended, failureCount: failures, status: 'failed' }
    : { attempt, failureCount: failures, dueAt: new Date(now + rest), status: 'pending' }
}

/** Why nothing more is sent to a webhook after this attempt, if so. */
function pauseReason(
  { failingSince }: Webhook,
  { status, problem }: DeliveryAttempt,
  now: number,
): PauseReason | undefined {
  if (problem === null) return undefined
  if (status === 410) return 'gone'
  const isDead = failingSince !== null && now - failingSince.getTime() >= longestFailureMs
  return isDead ? 'failing' : undefined
}

async function pauseWebhook(
  transaction: Transaction,
  tenantId: string,
  { id, failingSince }: Webhook,
  because: PauseReason,
  at: Date,
): Promise<void> {
  if (!(await updatePaused(transaction, id, because, at))) return
  await insertAuditEvent(transaction, {
    principal: servicePrincipal(tenantId),
    origin: 'schedule',
    at: at.getTime(),
    action: 'webhook.paused',
    entityKind: 'webhook',
    entityId: id,
    details: { because, failingSince: failingSince?.toISOString() ?? null },
  })
}
