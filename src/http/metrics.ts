import { timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Secret } from '../config/secret.ts'
import { sha256 } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Meter } from '../telemetry/meter.ts'

/**
 * `GET /metrics` for whoever shows the token. No key opens it: keys are of one tenant each, and the figures are of all.
 */
export function addMetrics(server: FastifyInstance, meter: Meter, token: Secret): void {
  server.get('/metrics', async ({ headers }, reply) => {
    if (!showsToken(headers.authorization, token)) throw new ServiceError('CREDENTIAL_MISSING', {})
    reply.type(meter.contentType)
    return meter.text()
  })
}

/** A listener for figures alone. */
export interface MetricsListener extends AsyncDisposable {
  readonly address: string
}

/**
 * Opens a listener of its own, which no proxy before the HTTP door leads to. With a token it asks for that as well.
 *
 * @throws ServiceError `ADDRESS_UNUSABLE`
 */
export async function listenForMetrics(
  meter: Meter,
  at: { readonly host: string; readonly port: number; readonly token?: Secret },
): Promise<MetricsListener> {
  const server = createServer(
    { requestTimeout: 5_000, headersTimeout: 5_000 },
    (request, response) => {
      const [path] = (request.url ?? '').split('?')
      const end = (status: number) => response.writeHead(status).end()
      if (path !== '/metrics') return void end(404)
      if (request.method !== 'GET') return void end(405)
      if (at.token !== undefined && !showsToken(request.headers.authorization, at.token)) {
        return void end(401)
      }
      meter.text().then(
        (text) => response.writeHead(200, { 'content-type': meter.contentType }).end(text),
        () => end(500),
      )
    },
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const { host, port } = at
      reject(
        new ServiceError(
          'ADDRESS_UNUSABLE',
          { host, port, problem: error.message },
          { cause: error },
        ),
      )
    })
    server.listen(at.port, at.host, resolve)
  })
  const { address, port, family } = server.address() as AddressInfo
  return {
    address: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Takes the same time wherever two texts differ. */
function showsToken(authorization: string | undefined, token: Secret): boolean {
  const [, shown = ''] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  return timingSafeEqual(Buffer.from(sha256(shown)), Buffer.from(sha256(token.reveal())))
}
