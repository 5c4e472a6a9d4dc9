import { createHmac, randomBytes } from 'node:crypto'
import { Secret } from '../config/secret.ts'

const prefix = 'whsec_'

/** A new secret: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): Secret {
  return new Secret(`${prefix}${randomBytes(32).toString('base64')}`)
}

/** A message as it is sent. */
export interface SignedMessage {
  readonly id: string
  /** When it is sent, in whole seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/**
 * The headers that prove where a message comes from, with a signature for each secret.
 *
 * @see https://www.standardwebhooks.com
 */
export function signatureHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly Secret[],
): Readonly<Record<string, string>> {
  const signed = `${id}.${timestamp}.${body}`
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
