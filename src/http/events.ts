import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../domain/errors.ts'
import type { Caller } from '../operations/define.ts'
import { operations } from '../operations/registry.ts'
import { createRunWatcher, type WatchedRun } from '../operations/run-watcher.ts'
import type { Door } from './door.ts'
import { drained } from './pauses.ts'
import { eventsPath } from './routes.ts'
import { eventsSince, isOver, type Run, readSeen, type Seen } from './run-events.ts'

/** How many event streams may be open at once, in all and of one principal, who is not to take those of all others. */
export interface StreamLimits {
  readonly all: number
  readonly ofOne: number
}

const usualLimits: StreamLimits = { all: 1_000, ofOne: 250 }
/** After how long without an event the client hears that the stream is there, and it is looked who holds the key. */
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
  const watcher = createRunWatcher<Run>(door.app)
  server.addHook('preClose', async () => {
    for (const stream of open.keys()) stream.abort()
    await watcher.close()
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
    // Before it is read: what happens in between is found by the next look.
    const watched = watcher.watch(tenantId, String(Object(request.params).executionId))
    const stream = new AbortController()
    let isBegun = false
    try {
      const { turn } = watched
      const run = await look()
      if (seen !== undefined && isOver(run, seen)) return reply.code(204).send()
      requireRoom(holder)
      open.set(stream, holder)
      request.raw.once('close', () => stream.abort())
      begin(request, reply)
      isBegun = true
      await follow({ run, seen, turn }, reply.raw, stream.signal, {
        watched,
        look: () => watched.read(String(request.headers.authorization), look),
        identify: () => door.identify(request),
      })
    } catch (error) {
      if (!isBegun) throw error
      // The client comes again with its Last-Event-ID, and is told what is wrong as any request is.
      door.app.log.info({ err: error, requestId: request.id }, 'an event stream has ended early')
    } finally {
      watched.close()
      open.delete(stream)
      if (isBegun) reply.raw.end()
    }
  })
}

function begin(request: FastifyRequest, reply: FastifyReply): void {
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
}

interface Source {
  readonly watched: WatchedRun<Run>
  readonly look: () => Promise<Run>
  /** Fails once the key has lost its rights. */
  readonly identify: () => Promise<unknown>
}

async function follow(
  first: { readonly run: Run; readonly seen: Seen | undefined; readonly turn: number },
  out: NodeJS.WritableStream,
  signal: AbortSignal,
  { watched, look, identify }: Source,
): Promise<void> {
  let { run, seen, turn } = first
  for (;;) {
    for (const { name, data, id, after } of eventsSince(run, seen)) {
      seen = after
      const isTaken = out.write(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
      // A client that does not read holds its own stream up, and not the memory of this process.
      if (!isTaken) await drained(out, signal)
      if (signal.aborted) return
    }
    if (seen !== undefined && isOver(run, seen)) return
    while (watched.turn === turn) {
      await watched.after(turn, beatMs, signal)
      if (signal.aborted) return
      if (watched.turn > turn) break
      await identify()
      out.write(': still there\n\n')
    }
    turn = watched.turn
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
