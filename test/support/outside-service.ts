import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { onTestFinished } from 'vitest'

/** A request as a service got it. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface StoppableService {
  readonly url: string
  /** `127.0.0.1` and the port. */
  readonly host: string
  /** Ends it at once, in the middle of whatever it does. */
  readonly stop: () => Promise<void>
  /** Starts it again at the same place. */
  readonly start: () => Promise<void>
}

/** A service on this machine. It is ended with the test. */
export async function serveListener(listener: RequestListener): Promise<StoppableService> {
  let port = 0
  let server = createServer(listener)
  const start = async () => {
    server = createServer(listener).listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (typeof address === 'object' && address !== null) port = address.port
  }
  const stop = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  await start()
  onTestFinished(stop)
  const host = `127.0.0.1:${port}`
  return { url: `http://${host}`, host, stop, start }
}

/** Like `serveListener`; it notes what it is asked, whole. */
export async function serveOutside(
  answer: (request: SeenRequest, response: ServerResponse) => void,
): Promise<StoppableService & { readonly seen: readonly SeenRequest[] }> {
  const seen: SeenRequest[] = []
  const service = await serveListener(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url: path = '', headers } = request
    const one = { method, path, headers, body: Buffer.concat(chunks).toString() }
    seen.push(one)
    answer(one, response)
  })
  return { ...service, seen }
}

/** Answers with JSON. */
export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
