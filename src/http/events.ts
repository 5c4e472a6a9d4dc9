import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../domain/errors.ts'
import type { Caller } from '../operations/define.ts'
import { operations } from '../operations/registry.ts'
import type { Door } from './door.ts'
import { drained, passed } from './pauses.ts'
import { eventsPath } from './routes.ts'
import { eventsSince, isOver, type Run, readSeen, type Seen } from './run-events.ts'

/** How many event streams may be open at once, in all and of one principal, who is not to take those of all others. */
export interface StreamLimits {
  readonly all: number
  readonly ofOne: number
}

const usualLimits: StreamLimits = { all: 1_000, ofOne: 250 }
/** How often the record is looked at: at first, and at most while nothing comes. */
const [firstPollMs, longestPollMs] = [200, 2_000]
const beatMs = 15_000

/**
 * Follows a run: what stands in its record already, and then what comes. The record is asked, not the process that runs it,
 * so that it makes no difference who that is; and as whoever holds the key, who may lose it meanwhile.
 */
export function addEventStreams(
  server: FastifyInstance,
  door: Door,
  { all, ofOne }: StreamLimits = usualLimits,
): void {
  const open = new Map<AbortController, string>()
  server.addHook('preClose', async () => {
    for (const stream of open.keys()) stream.abort()
  })
  /** @throws ServiceError `STREAMS_EXHAUSTED` */
  const requireRoom = (holder: string): void => {
    const own = [...open.values()].filter((one) => one === holder).length
    if (own >= ofOne) throw new ServiceError('STREAMS_EXHAUSTED', { max: ofOne, own })
    if (open.size >= all) throw new ServiceError('STREAMS_EXHAUSTED', { max: all })
  }
  server.get(eventsPath.replace('{executionId}', ':executionId'), async (request, reply) => {
    const { tenantId, id } = await door.admit(request, reply)
    const holder = `${tenantId} ${id}`
    const look = () => readRun(door, request)
    const seen = readSeen(request.headers['last-event-id'])
    const run = await look()
    if (seen !== undefined && isOver(run, seen)) return reply.code(204).send()
    requireRoom(holder)
    const stream = new AbortController()
    open.set(stream, holder)
    request.raw.once('close', () => stream.abort())
    reply.hijack()
    reply.raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-request-id': request.id,
      ...corsHeaders(reply.getHeaders()),
    })
    reply.raw.write('retry: 2000\n\n')
    try {
      await follow(run, seen, look, reply.raw, stream.signal)
    } catch (error) {
      // The client comes again with its Last-Event-ID, and is told what is wrong as any request is.
      door.app.log.info({ err: error, requestId: request.id }, 'an event stream has ended early')
    } finally {
      open.delete(stream)
      reply.raw.end()
    }
  })
}

async function follow(
  first: Run,
  from: Seen | undefined,
  look: () => Promise<Run>,
  out: NodeJS.WritableStream,
  signal: AbortSignal,
): Promise<void> {
  let run = first
  let seen = from
  let pollMs = firstPollMs
  let wroteAt = Date.now()
  for (;;) {
    const events = eventsSince(run, seen)
    for (const { name, data, id, after } of events) {
      seen = after
      const isTaken = out.write(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
      // A client that does not read holds its own stream up, and not the memory of this process.
      if (!isTaken) await drained(out, signal)
      if (signal.aborted) return
    }
    if (seen !== undefined && isOver(run, seen)) return
    if (events.length > 0) [pollMs, wroteAt] = [firstPollMs, Date.now()]
    else pollMs = Math.min(pollMs * 1.3, longestPollMs)
    if (Date.now() - wroteAt >= beatMs) {
      out.write(': still there\n\n')
      wroteAt = Date.now()
    }
    await passed(pollMs, signal)
    if (signal.aborted) return
    run = await look()
  }
}

async function readRun(door: Door, request: FastifyRequest): Promise<Run> {
  const caller: Caller = { principal: await door.identify(request), origin: 'http' }
  return operations.getExecution.invoke(door.app, caller, { ...Object(request.params) })
}

/** What the CORS rules have decided for this answer. */
function corsHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('access-control-') || name === 'vary' ? [[name, String(value)]] : [],
    ),
  )
}
