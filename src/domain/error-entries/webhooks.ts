import { define } from './entry.ts'

/** What is told to other services. */
export const webhooks = {
  WEBHOOK_NOT_FOUND: define<{ webhookId: string }>(
    'not_found',
    (d) => `There is no webhook ${d.webhookId}. 'stepwarden webhooks list' shows which there are.`,
  ),
  WEBHOOK_URL_REFUSED: define<{ problem: string }>(
    'invalid',
    (d) =>
      `${d.problem} A webhook has an https URL of a public host. Hosts of your own network are named in STEPWARDEN_WEBHOOK_ALLOW_HOSTS.`,
  ),
  WEBHOOK_LIMIT_REACHED: define<{ atMost: number }>(
    'conflict',
    (d) => `A tenant has at most ${d.atMost} webhooks. Delete one that is not needed any more.`,
  ),
  DELIVERY_NOT_FOUND: define<{ deliveryId: string }>(
    'not_found',
    (d) =>
      `There is no message ${d.deliveryId}. They are kept for 30 days; 'stepwarden webhooks deliveries ID' lists those of a webhook.`,
  ),
  DELIVERY_PENDING: define<{ deliveryId: string }>(
    'conflict',
    (d) =>
      `${d.deliveryId} is still to be sent, so there is nothing to repeat. If its webhook is paused, let that go on.`,
  ),
}
