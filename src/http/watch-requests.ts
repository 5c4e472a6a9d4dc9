import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AppContext } from '../context.ts'
import { isId } from '../domain/ids.ts'
import type { Principal } from '../domain/principal.ts'
import type { Span } from '../telemetry/span.ts'
import { routes } from './routes.ts'

/** What is known of a request besides what it says itself. */
interface Notes {
  readonly request: FastifyRequest
  readonly begunAt: number
  principal?: Principal
  span?: Span
  /** What it is carried out with. */
  context?: AppContext
}

/** Tells of every request, in the log, in figures and in traces. */
export interface RequestWatch {
  /**
   * What a request is carried out with, once it is known who sends it: its lines in the log have its ids, and its work is
   * traced below it. Of strangers there are no traces, or they could fill a collector.
   */
  contextFor(request: IncomingMessage, principal: Principal): AppContext
}

/** A client that went away before it was answered, as proxies write it. */
const goneStatus = 499
/** Who asks for these asks every few seconds. */
const probes = ['/healthz', '/readyz', '/metrics']

export function watchRequests(server: FastifyInstance, app: AppContext): RequestWatch {
  const known = new WeakMap<IncomingMessage, Notes>()
  server.addHook('onRequest', async (request, reply) => {
    const notes: Notes = { request, begunAt: performance.now() }
    known.set(request.raw, notes)
    // Also of a client that goes away, and of a door that answers for itself.
    reply.raw.once('close', () => tell(app, notes, reply))
  })
  return {
    contextFor(raw, principal) {
      const notes = known.get(raw)
      if (notes === undefined) return app
      if (notes.context !== undefined) return notes.context
      notes.principal = principal
      const { tenantId } = principal
      const log = app.log.child({ requestId: notes.request.id, tenantId })
      const span = beginRequest(app, notes, tenantId)
      if (span !== undefined) notes.span = span
      notes.context = { ...app, log, ...(span && { span }) }
      return notes.context
    },
  }
}

function beginRequest({ tracer }: AppContext, { request, begunAt }: Notes, tenantId: string) {
  if (tracer === undefined) return undefined
  const { method, headers } = request
  const route = routeOf(request)
  return tracer.begin(`${method} ${route}`, {
    kind: 'server',
    traceparent: [headers.traceparent].flat()[0],
    startedAt: Date.now() - (performance.now() - begunAt),
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'url.scheme': request.protocol,
      'stepwarden.request.id': request.id,
      'stepwarden.tenant.id': tenantId,
    },
  })
}

function tell({ log, meter }: AppContext, notes: Notes, reply: FastifyReply): void {
  const { request, begunAt, principal, span } = notes
  const status = reply.raw.headersSent ? reply.raw.statusCode : goneStatus
  const durationMs = performance.now() - begunAt
  const executionId = executionOf(request, reply)
  meter?.requestEnded(operationOf(request), status, durationMs / 1_000)
  if (span !== undefined) {
    span.set({ 'http.response.status_code': status, 'stepwarden.execution.id': executionId })
    if (status >= 500) span.fail(String(status))
    span.end()
  }
  const route = routeOf(request)
  const line = {
    requestId: request.id,
    method: request.method,
    route,
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(principal && { tenantId: principal.tenantId, principalId: principal.id }),
    ...(executionId !== undefined && { executionId }),
  }
  log[probes.includes(route) ? 'debug' : levelOf(status)](line, 'a request was answered')
}

/** Who runs the service looks for what went wrong in it, and for whoever is kept out. */
function levelOf(status: number): 'error' | 'warn' | 'info' {
  if (status >= 500) return 'error'
  return [401, 403, 429].includes(status) ? 'warn' : 'info'
}

/** The pattern of a route, and never what a client has put in its place. */
function routeOf({ routeOptions: { url } }: FastifyRequest): string {
  return url?.replaceAll(/:(\w+)/g, '{$1}') ?? 'none'
}

const operationsByRoute: ReadonlyMap<string, string> = new Map(
  routes.map(({ method, path, operation }) => [`${method} /v1${path}`, operation.name]),
)

function operationOf(request: FastifyRequest): string {
  const route = routeOf(request)
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const ofRegistry = operationsByRoute.get(`${method} ${route}`)
  if (ofRegistry !== undefined || route === 'none') return ofRegistry ?? 'none'
  const [first = '', second = ''] = route.split('/').slice(1)
  // Of the paths that stand for no operation, only the stream of events is below the first.
  return first === 'v1' ? 'events' : first || second
}

/** The run that a request has started, or is about. */
function executionOf({ params }: FastifyRequest, reply: FastifyReply): string | undefined {
  const [, started] = /^\/v1\/executions\/(\w+)$/.exec(String(reply.getHeader('location'))) ?? []
  const { executionId: named } = Object(params) as { executionId?: unknown }
  const id = started ?? (typeof named === 'string' ? named : '')
  // What is no id is somebody's words.
  return isId('execution', id) ? id : undefined
}
