import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { newWebhookSecret, signatureHeaders } from '../../src/webhooks/signature.ts'

const message = {
  id: 'dlv_1',
  timestamp: Math.floor(Date.now() / 1_000),
  body: '{"type":"execution.completed","data":{"text":"ü"}}',
}

describe('a signature', () => {
  it('is one that the library of the standard accepts, of each secret', () => {
    const secrets = [newWebhookSecret(), newWebhookSecret()]

    const headers = signatureHeaders(message, secrets)

    for (const secret of secrets) {
      const verified = new Webhook(secret.reveal()).verify(message.body, { ...headers })
      expect(verified).toEqual(JSON.parse(message.body))
    }
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/)
  })

  it('is refused for another body, id, time or secret, and when it is old', () => {
    const secret = newWebhookSecret()
    const verify = (headers: Readonly<Record<string, string>>, body = message.body) =>
      new Webhook(secret.reveal()).verify(body, { ...headers })
    const headers = signatureHeaders(message, [secret])

    expect(() => verify(headers, `${message.body} `)).toThrow()
    expect(() => verify({ ...headers, 'webhook-id': 'dlv_2' })).toThrow()
    const later = String(message.timestamp + 1)
    expect(() => verify({ ...headers, 'webhook-timestamp': later })).toThrow()
    expect(() => verify(signatureHeaders(message, [newWebhookSecret()]))).toThrow()
    const old = { ...message, timestamp: message.timestamp - 3_600 }
    expect(() => verify(signatureHeaders(old, [secret]))).toThrow(/too old/)
  })

  it('is made with a secret that is never printed', () => {
    const secret = newWebhookSecret()

    expect(`${secret} ${JSON.stringify({ secret })}`).toBe('[secret] {"secret":"[secret]"}')
    expect(secret.reveal()).toMatch(/^whsec_/)
  })
})
