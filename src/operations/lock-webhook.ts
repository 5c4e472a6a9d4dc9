import type { Transaction } from '../db/connect.ts'
import { lockWebhook as lockRow } from '../db/queries/webhooks.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'
import type { Webhook } from '../domain/webhook.ts'

/**
 * A webhook that nobody else changes until the transaction ends.
 *
 * @throws ServiceError `WEBHOOK_NOT_FOUND`
 */
export async function lockWebhook(
  transaction: Transaction,
  webhookId: Id<'webhook'>,
): Promise<Webhook> {
  const webhook = await lockRow(transaction, webhookId)
  if (webhook === undefined) throw new ServiceError('WEBHOOK_NOT_FOUND', { webhookId })
  return webhook
}

/** What the audit log is told of a URL: its path and query may be a secret of their own. */
export function originOf(url: string): string {
  return new URL(url).origin
}
