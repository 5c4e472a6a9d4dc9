import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

/** A message as it came. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly id: string
  readonly body: string
  readonly event: {
    readonly type: string
    readonly timestamp: string
    readonly data: Readonly<Record<string, unknown>>
  }
}

/** A service that is told of what happens. */
export interface Receiver {
  readonly url: string
  readonly host: string
  /** All that came, in its order. */
  readonly received: Received[]
  /** What is done with the next messages; default: 204. */
  answer: (message: Received, response: ServerResponse) => void
}

/** A real HTTP server, closed after the last test of the file. */
export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const message = {
      path: request.url ?? '',
      headers: request.headers,
      id: String(request.headers['webhook-id']),
      body,
      event: JSON.parse(body),
    }
    received.push(message)
    receiver.answer(message, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const receiver: Receiver = {
    url: `http://${host}/hook`,
    host,
    received,
    answer: (_message, response) => response.writeHead(204).end(),
  }
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return receiver
}

export const answerWith =
  (status: number, body = ''): Receiver['answer'] =>
  (_message, response) =>
    response.writeHead(status).end(body)
