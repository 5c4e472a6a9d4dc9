import { maxHeaderSize } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { rateLimitHeadersOf } from '../access/gate.ts'
import type { DatabaseConfig } from '../config/config.ts'
import { type AppContext, explainFailure } from '../context.ts'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import { problemType, toProblem } from './problem.ts'
import { maxBodyBytes } from './read-body.ts'
import { methodsAt } from './routes.ts'

/** Every failure leaves as a problem document that says nothing of SQL, of stacks or of secrets. */
export function answerFailure(
  { log }: Pick<AppContext, 'log'>,
  database: DatabaseConfig,
  error: unknown,
  requestId: string,
  reply: FastifyReply,
): void {
  const found = toServiceError(explainFailure(error, database))
  const known = withoutPlace(found)
  if (known !== found) log.warn({ err: found, requestId }, 'a request has met an outage')
  if (known.code === 'INTERNAL') {
    log.error({ err: error, requestId }, 'a request has failed unexpectedly')
  }
  const problem = toProblem(known, requestId)
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="stepwarden"')
  if (isServiceError(known, 'METHOD_NOT_ALLOWED')) {
    reply.header('allow', known.details.allowed.join(', '))
  }
  reply.headers(rateLimitHeadersOf(known))
  reply.code(problem.status).type(problemType).send(JSON.stringify(problem))
}

/** An outage as it is told to others: where the database is, and what its driver says, is for the log. */
function withoutPlace(error: ServiceError): ServiceError {
  const options = { cause: error }
  if (
    isServiceError(error, 'DATABASE_UNAVAILABLE') ||
    isServiceError(error, 'DATABASE_NOT_READY')
  ) {
    const details = { database: 'of the service', problem: 'it does not answer' }
    return new ServiceError('DATABASE_UNAVAILABLE', details, options)
  }
  return isServiceError(error, 'CHANGES_COLLIDED')
    ? new ServiceError('CHANGES_COLLIDED', { database: 'the database' }, options)
    : error
}

/** What is nowhere, or takes other methods: `OPTIONS` too, where no page of another origin asks what it may do. */
export function answerUnknownPaths(server: FastifyInstance): void {
  server.addHook('onRequest', async ({ method, url, headers }) => {
    const isPreflight = headers.origin && headers['access-control-request-method']
    if (method === 'OPTIONS' && !isPreflight) throw unknownPath(method, url)
  })
  server.setNotFoundHandler(async ({ method, url }) => {
    throw unknownPath(method, url)
  })
}

function unknownPath(method: string, url: string): ServiceError {
  const [path = '/'] = url.split('?')
  const allowed = methodsAt(path)
  return allowed.length > 0
    ? new ServiceError('METHOD_NOT_ALLOWED', { method, path, allowed })
    : new ServiceError('ROUTE_NOT_FOUND', { method, path })
}

/** A refusal may quote what it refuses. */
const maxMessageLength = 300

/** Fastify's own refusals in our terms; of whatever else nothing is told. */
function toServiceError(error: unknown): ServiceError {
  if (isServiceError(error)) return error
  const { code, message, statusCode } = Object(error) as Partial<Record<string, unknown>>
  const options = { cause: error }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new ServiceError('BODY_TOO_LARGE', { maxBytes: maxBodyBytes }, options)
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new ServiceError('MEDIA_TYPE_UNSUPPORTED', {}, options)
  }
  // Fastify marks so what reading a body has failed with; nobody is there to be answered.
  if (code === 'ECONNRESET' && statusCode === 400) {
    const problems = [{ path: 'body', message: 'ended before it was whole' }]
    return new ServiceError('HTTP_INVALID', { problems }, options)
  }
  const isFastify = typeof code === 'string' && code.startsWith('FST_')
  if (isFastify && typeof statusCode === 'number' && statusCode < 500) {
    return new ServiceError(
      'HTTP_INVALID',
      { problems: [{ path: '', message: String(message).slice(0, maxMessageLength) }] },
      options,
    )
  }
  return new ServiceError('INTERNAL', {}, options)
}

type Brokenness = readonly [status: number, reason: string, message: string]

const noHttp: Brokenness = [400, 'Bad Request', 'is none that HTTP/1.1 allows']

const brokenness: Readonly<Record<string, Brokenness>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'did not come in time'],
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    `has a path and headers of more than ${maxHeaderSize} bytes together`,
  ],
}

/** How long whoever sent what was refused has to read why. Who reads nothing must not keep the connection. */
const lingerMs = 500

/** What is no HTTP at all, or came too slowly, has no request that could be answered as others are. */
export function refuseBroken(
  error: NodeJS.ErrnoException,
  socket: Socket,
  onRefused: (status: number) => void,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, reason, message] = brokenness[error.code ?? ''] ?? noHttp
  onRefused(status)
  const { requestId: _, ...answer } = toProblem(
    new ServiceError('HTTP_INVALID', { problems: [{ path: '', message }] }),
    '',
  )
  const problem = JSON.stringify({ ...answer, status })
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: ${problemType}\r\nContent-Length: ${problem.length}\r\nConnection: close\r\n\r\n${problem}`,
  )
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
