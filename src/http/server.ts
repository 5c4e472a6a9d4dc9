import type { IncomingMessage, Server } from 'node:http'
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify'
import { createGate, type Gate, rateLimitHeaders } from '../access/gate.ts'
import type { DatabaseConfig } from '../config/config.ts'
import type { Secret } from '../config/secret.ts'
import { type AppContext, explainFailure } from '../context.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { Principal } from '../domain/principal.ts'
import { createMcpHandler } from '../mcp/http.ts'
import { authenticate } from '../operations/authenticate.ts'
import { addDocumentation } from './documentation.ts'
import type { Door } from './door.ts'
import { addEventStreams, type StreamLimits } from './events.ts'
import { answerFailure, answerUnknownPaths, refuseBroken } from './failures.ts'
import { addHealth } from './health.ts'
import { addLocalDoor, type LocalAccess } from './local-door.ts'
import { addMetrics } from './metrics.ts'
import { maxBodyBytes, readJsonBody } from './read-body.ts'
import { responder } from './respond.ts'
import { routes } from './routes.ts'
import { watchUnfinished } from './unfinished.ts'
import { watchRequests } from './watch-requests.ts'

export interface HttpOptions {
  /** Named where it cannot be reached. */
  readonly database: DatabaseConfig
  /** Origins of web pages that may call; default none. */
  readonly corsOrigins?: readonly string[] | undefined
  /** Addresses of proxies whose `X-Forwarded-For` is believed; default none. */
  readonly trustedProxies?: readonly string[] | undefined
  /** Counts requests and refused keys, together with the other doors of this process; default one that limits refusals alone. */
  readonly gate?: Gate
  /** Default: 1,000 event streams in all, 250 of one principal. */
  readonly streams?: StreamLimits
  /** Whoever shows it may read `/metrics`, where something is counted; default nobody. */
  readonly metricsToken?: Secret | undefined
  /** How long clients may take; the defaults are for people and their proxies. */
  readonly limits?: Partial<ClientLimits>
  /** For the commands of this machine, where they cannot open the data folder beside this process. */
  readonly local?: LocalAccess
}

/** How long clients may take to say what they want. */
export interface ClientLimits {
  /** For all of a request, body included, in milliseconds; default 30,000. */
  readonly requestMs: number
  /** For its headers; default 10,000. */
  readonly headersMs: number
  /** How often it is looked who takes longer; default 5,000. */
  readonly lookEveryMs: number
}

const defaultLimits: ClientLimits = { requestMs: 30_000, headersMs: 10_000, lookEveryMs: 5_000 }

export interface HttpServer {
  /** Node's own, for those who open another door beside this one. */
  readonly server: Server
  /** Resolves with the address once requests are taken: `http://127.0.0.1:8080`. */
  listen(at: { readonly host: string; readonly port: number }): Promise<string>
  /** Takes no more requests, ends event streams, answers what was accepted, and resolves when all of it is done. */
  close(): Promise<void>
}

/**
 * The HTTP door: every operation of the registry under `/v1`, event streams, documentation and health. Without a credential
 * it answers the last two alone.
 */
export async function createHttpServer(app: AppContext, options: HttpOptions): Promise<HttpServer> {
  const proxies = options.trustedProxies ?? []
  const limits = { ...defaultLimits, ...options.limits }
  const server = fastify({
    bodyLimit: maxBodyBytes,
    trustProxy: proxies.length > 0 && [...proxies],
    genReqId: ({ headers }) => requestId(headers['x-request-id'], app.clock.now()),
    requestTimeout: limits.requestMs,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 500 },
    http: {
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.lookEveryMs,
      maxHeaderSize: 16_384,
    },
    clientErrorHandler: (error, socket) =>
      refuseBroken(error, socket, (status) => app.meter?.requestEnded('broken', status, 0)),
    frameworkErrors: (error, { id }, reply) =>
      answerFailure(app, options.database, error, id, reply),
  })
  const { gate = createGate({ rateLimit: undefined }) } = options
  const identify = ({ ip, headers: { authorization } }: FastifyRequest): Promise<Principal> => {
    const credential = credentialOf(authorization)
    return gate.admit(ip, credential, () => authenticate(app, credential))
  }
  const watch = watchRequests(server, app)
  const unfinished = watchUnfinished(server.server)
  const background = new Set<Promise<unknown>>()
  let isStopping = false
  const door: Door = {
    app,
    async identify(request) {
      return identify(request)
    },
    async admit(request, reply) {
      const principal = await identify(request)
      watch.contextFor(request.raw, principal)
      reply.headers(rateLimitHeaders(gate.take(principal)))
      return principal
    },
    isStopping: () => isStopping,
    inBackground(work, executionId) {
      const settled = work
        .catch((error: unknown) => {
          app.log.error({ err: error, executionId }, 'a run has failed behind its answer')
        })
        .finally(() => background.delete(settled))
      background.add(settled)
    },
  }
  server.decorateRequest('principal')
  server.addHook('preClose', async () => {
    isStopping = true
  })
  server.addHook('onRequest', async ({ id }, reply) => {
    reply.headers({ ...securityHeaders, 'x-request-id': id })
  })
  server.setErrorHandler((error, { id }, reply) =>
    answerFailure(app, options.database, error, id, reply),
  )
  answerUnknownPaths(server)
  takeJsonAlone(server)
  await server.register(cors, {
    origin: [...(options.corsOrigins ?? [])],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: takenHeaders,
    exposedHeaders: answeredHeaders,
    maxAge: 600,
  })
  await server.register(compress, { threshold: 1024, encodings: ['br', 'gzip'] })
  for (const route of routes) {
    const respond = responder(route)
    server.route({
      method: route.method,
      url: `/v1${route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      // Before the body is read: strangers are not listened to.
      async onRequest(request, reply) {
        request.setDecorator('principal', await door.admit(request, reply))
      },
      async handler(request, reply) {
        const principal = request.getDecorator<Principal>('principal')
        const caller = { principal, origin: 'http', isStopping: door.isStopping } as const
        const own = { ...door, app: watch.contextFor(request.raw, principal) }
        return respond(own, caller, request, reply)
      },
    })
  }
  const addresses = new WeakMap<IncomingMessage, string>()
  const agents = createMcpHandler(app, {
    allowedOrigins: options.corsOrigins ?? [],
    maxBodyBytes,
    explain: (error) => explainFailure(error, options.database),
    async admit(credential, request) {
      const address = addresses.get(request) ?? ''
      const principal = await gate.admit(address, credential, () => authenticate(app, credential))
      gate.take(principal)
      return principal
    },
    contextFor: watch.contextFor,
  })
  // The door for AI agents, which answers for itself.
  server.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    async handler(request, reply) {
      reply.hijack()
      addresses.set(request.raw, request.ip)
      await agents.handle(request.raw, reply.raw, request.body)
    },
  })
  if (options.local !== undefined) addLocalDoor(server, door, options.local, watch)
  addEventStreams(server, door, options.streams)
  addHealth(server, door)
  if (app.meter !== undefined && options.metricsToken !== undefined) {
    addMetrics(server, app.meter, options.metricsToken)
  }
  addDocumentation(server)
  return {
    server: server.server,
    listen: (at) => server.listen(at),
    async close() {
      isStopping = true
      const closing = Promise.all([agents.close(), server.close()])
      // A connection whose last answer has gone out while the door was closing would be kept for a minute.
      const begunAt = performance.now()
      const timer = setInterval(() => {
        server.server.closeIdleConnections()
        if (performance.now() - begunAt >= limits.requestMs) unfinished.end()
      }, idleLookMs)
      try {
        await closing
      } finally {
        clearInterval(timer)
      }
      await Promise.all(background)
    },
  }
}

const idleLookMs = 50

const takenHeaders = [
  'authorization',
  'content-type',
  'idempotency-key',
  'if-match',
  'last-event-id',
  'mcp-protocol-version',
  'prefer',
  'x-request-id',
]
const answeredHeaders = [
  'etag',
  'location',
  'preference-applied',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'x-request-id',
]

const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** The client's own id of the request where it has one that can stand in a log, else a new one. */
function requestId(given: string | readonly string[] | undefined, now: number): string {
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : newId('request', now)
}

/** `Authorization: Bearer KEY` is the one way to show who calls. */
function credentialOf(authorization: string | undefined): string {
  const [, credential] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  if (credential === undefined) throw new ServiceError('CREDENTIAL_MISSING', {})
  return credential
}

function takeJsonAlone(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error')
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) =>
      readJsonBody(bytes, (text) => {
        let value: unknown
        parse(request, text, (error, parsed) => {
          if (error) throw error
          value = parsed
        })
        return value
      }),
  )
}
