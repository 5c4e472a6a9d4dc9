import { createServer, type Server } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** A service that is told of what happens. `handle` is given each message once. */
export function receiveWebhooks(secret: string, handle: (event: unknown) => void): Server {
  const webhook = new Webhook(secret)
  // Keep these where they outlive the process: a message may come again days later.
  const seen = new Set<string>()
  return createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const id = String(request.headers['webhook-id'])
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(request.headers['webhook-timestamp']),
      'webhook-signature': String(request.headers['webhook-signature']),
    }
    try {
      // Over the bytes as they came; it refuses what is forged, changed, or older than five minutes.
      const event = webhook.verify(body, headers)
      // What takes long is done after the answer.
      if (!seen.has(id)) handle(event)
      seen.add(id)
      response.writeHead(204).end()
    } catch {
      response.writeHead(401).end()
    }
  })
}
