import type { IncomingMessage, ServerResponse } from 'node:http'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import { rateLimitHeadersOf } from '../access/gate.ts'
import type { AppContext } from '../context.ts'
import { ServiceError } from '../domain/errors.ts'
import { statusOfKind } from '../domain/http-status.ts'
import type { Principal } from '../domain/principal.ts'
import { authenticate } from '../operations/authenticate.ts'
import { createMcpServer, type Identify } from './server.ts'
import { type Explain, told, toServiceError } from './tool-failure.ts'
import { Underway } from './underway.ts'

export interface McpHandlerOptions {
  /** Origins of web pages that may call, such as `https://desk.example.com`, besides those of this machine. */
  readonly allowedOrigins?: readonly string[]
  /** The largest request, in bytes; default 4 MiB. Whoever hands over a body that is read already limits it. */
  readonly maxBodyBytes?: number
  /** How long `close` waits for what is under way, in milliseconds; default 10,000. */
  readonly graceMs?: number
  /** Tells an outage of the database from a failure of ours. */
  readonly explain?: Explain
  /** Who shows a credential, in place of a look-up alone: what stands before other doors of the process as well. */
  readonly admit?: (credential: string, request: IncomingMessage) => Promise<Principal>
  /** What a request is carried out with; default the service as it is. */
  readonly contextFor?: (request: IncomingMessage, principal: Principal) => AppContext
}

/** The door for AI agents over HTTP, to be mounted at one path. */
export interface McpHandler {
  /** Answers one request. `body`: what it holds, where that was read and parsed already. It never throws. */
  readonly handle: (
    request: IncomingMessage,
    response: ServerResponse,
    body?: unknown,
  ) => Promise<void>
  /** Takes no more requests, lets each run finish the step that it is at, for a while, and ends what is still open. */
  readonly close: () => Promise<void>
}

const defaultMaxBodyBytes = 4 * 1024 * 1024
const defaultGraceMs = 10_000

/** What a client of HTTP is told before the protocol has begun. */
interface Refusal {
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
  readonly code?: string
}

/**
 * Streamable HTTP without sessions: each request brings its key and stands for itself, so that any of several processes
 * can answer it, and there is nothing that another key could take over (docs/decisions/0019-mcp.md).
 *
 * A client that goes away stops no run: that goes on to its end or its next wait, and is in the record.
 */
export function createMcpHandler(
  app: AppContext,
  {
    allowedOrigins = [],
    maxBodyBytes = defaultMaxBodyBytes,
    graceMs = defaultGraceMs,
    explain,
    admit = (credential) => authenticate(app, credential),
    contextFor = () => app,
  }: McpHandlerOptions = {},
): McpHandler {
  const underway = new Underway()
  const open = new Set<McpServer>()
  let isClosing = false

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    own: AppContext,
    identify: Identify,
    body: unknown,
  ): Promise<void> {
    const server = createMcpServer(own, identify, { underway, ...(explain && { explain }) })
    const transport = new StreamableHTTPServerTransport({ maxRequestBodySize: maxBodyBytes })
    open.add(server)
    response.once('close', () => {
      open.delete(server)
      void server.close()
    })
    await server.connect(transport)
    await transport.handleRequest(request, response, body)
  }

  return {
    async handle(request, response, body) {
      try {
        if (isClosing) return refuse(response, closing)
        if (!isAllowedOrigin(request.headers.origin, allowedOrigins)) {
          return refuse(response, foreignOrigin)
        }
        const key = bearerOf(request.headers.authorization)
        if (key === undefined) throw new ServiceError('CREDENTIAL_MISSING', {})
        const look = () => admit(key, request)
        const principal = await look()
        if (request.method !== 'POST') return refuse(response, onlyPost)
        const own = contextFor(request, principal)
        await serve(request, response, own, identifyBy(look, principal), body)
      } catch (error) {
        refuse(response, refusalOf(toServiceError(app, error, 'a request', explain)))
      }
    },
    async close() {
      isClosing = true
      underway.stop()
      await underway.settled(graceMs)
      await Promise.all([...open].map((server) => server.close()))
    },
  }
}

/** The key was admitted for the request already; each further call in it is admitted anew, and counted. */
function identifyBy(look: Identify, principal: Principal): Identify {
  let found: Principal | undefined = principal
  return async () => {
    const known = found
    found = undefined
    return known ?? look()
  }
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
}

/**
 * Browsers name the page that calls; other clients name none. A page of a foreign host that has its name resolve to this
 * machine is told from one of this machine by that, and by nothing else.
 */
function isAllowedOrigin(origin: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined || allowed.includes(origin)) return true
  if (!URL.canParse(origin)) return false
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname)
}

const realm = 'Bearer realm="stepwarden"'

const foreignOrigin: Refusal = {
  status: 403,
  message: 'Pages of this origin may not call. Whoever runs the service can allow it.',
}
const onlyPost: Refusal = {
  ...{ status: 405, headers: { Allow: 'POST' } },
  message: 'There is no stream to listen to and no session to end: send each message with POST.',
}
const closing: Refusal = {
  status: 503,
  message: 'The service is stopping. Call again in a moment.',
}

function refusalOf(error: ServiceError): Refusal {
  const { code, kind, message } = told(error)
  // The protocol of bearer tokens gives no reason to whoever has shown none.
  const why = code === 'CREDENTIAL_MISSING' ? '' : ', error="invalid_token"'
  const headers = { 'WWW-Authenticate': `${realm}${why}` }
  if (kind === 'unauthenticated') return { status: statusOfKind[kind], code, message, headers }
  return { status: statusOfKind[kind], code, message, headers: rateLimitHeadersOf(error) }
}

/** In the form of the protocol's errors, which is what its clients read. */
function refuse(response: ServerResponse, { status, message, headers, code }: Refusal): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const data = code === undefined ? undefined : { code }
  const error = { code: ErrorCode.ConnectionClosed, message, ...(data && { data }) }
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
}
