import { once } from 'node:events'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../domain/errors.ts'
import type { Caller } from '../operations/define.ts'
import { pause } from '../operations/pause.ts'
import { operations } from '../operations/registry.ts'
import type { Door } from './door.ts'
import { eventsPath } from './routes.ts'
import { eventsSince, isOver, type Run, readSeen, type Seen } from './run-events.ts'

const maxStreams = 1_000
/** How often the record is looked at: at first, and at most while nothing comes. */
const [firstPollMs, longestPollMs] = [200, 2_000]
const beatMs = 15_000

/**
 * Follows a run: what stands in its record already, and then what comes. The record is asked, not the process that runs it,
 * so that it makes no difference who that is; and as whoever holds the key, who may lose it meanwhile.
 */
export function addEventStreams(server: FastifyInstance, door: Door): void {
  const open = new Set<AbortController>()
  server.addHook('preClose', async () => {
    for (const stream of open) stream.abort()
  })
  server.get(eventsPath.replace('{executionId}', ':executionId'), async (request, reply) => {
    await door.admit(request, reply)
    const look = () => readRun(door, request)
    const seen = readSeen(request.headers['last-event-id'])
    const run = await look()
    if (seen !== undefined && isOver(run, seen)) return reply.code(204).send()
    if (open.size >= maxStreams) throw new ServiceError('STREAMS_EXHAUSTED', { max: maxStreams })
    const stream = new AbortController()
    open.add(stream)
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
    await pause(pollMs, signal)
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

/** What waits is told of the end once: a listener that stayed behind for each look would add up over a long stream. */
async function drained(out: NodeJS.WritableStream, signal: AbortSignal): Promise<void> {
  // An abort or a broken connection ends the wait as well, and whoever waits looks at the signal.
  await once(out, 'drain', { signal }).catch(() => undefined)
}
