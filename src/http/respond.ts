import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Operation } from '../operations/define.ts'
import type { Door } from './door.ts'
import { inputReader } from './read-input.ts'
import type { Route } from './routes.ts'
import { readPreference, startWithin } from './wait.ts'

export type Respond = (
  door: Door,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<unknown>

/** 201 where something new has an id of its own now. */
export function successStatus({ operation: { name } }: Route): 200 | 201 {
  return /^(create|review|schedule|start)[A-Z]/.test(name) ? 201 : 200
}

/** Whether requests for an operation start a run, and may leave before it has ended. */
export function isStart({ name }: Operation): boolean {
  return name === 'startExecution' || name === 'resolveTicket'
}

/** Makes what answers the requests of a route. */
export function responder(route: Route): Respond {
  const { operation } = route
  if (isStart(operation)) return startResponder(route)
  const read = inputReader(route)
  const status = successStatus(route)
  return async ({ app }, caller, request, reply) => {
    const output = await operation.invoke(app, caller, read(partsOf(request)))
    const etag = etagOf(output)
    if (etag !== undefined) reply.header('etag', etag)
    reply.code(status)
    return output
  }
}

/**
 * Answers a start with the whole record when the run has come to its end or its wait within the time that the client waits
 * (`Prefer`), else 202 with where it is found. The run goes on in either case. One that is left to a worker, or is with
 * another process already, is answered at once with its record as it stands.
 */
function startResponder(route: Route): Respond {
  const { operation } = route
  const read = inputReader(route)
  return async (door, caller, request, reply) => {
    const input = read(partsOf(request))
    const { waitMs, applied } = readPreference(request.headers.prefer)
    if (applied !== undefined) reply.header('preference-applied', applied)
    const started = await startWithin(waitMs, (onStarted) =>
      operation.invoke(door.app, { ...caller, onStarted }, input),
    )
    if (started.kind === 'going') {
      const { executionId } = started
      door.inBackground(started.done, executionId)
      reply.code(202).header('location', `/v1/executions/${executionId}`)
      return { executionId }
    }
    const { execution } = Object(started.output) as {
      execution?: { id: string; status: string } | null
    }
    if (execution) {
      reply.header('location', `/v1/executions/${execution.id}`)
      if (['pending', 'running'].includes(execution.status)) {
        reply.code(202)
        return { executionId: execution.id, ...Object(started.output) }
      }
      reply.code(successStatus(route))
    }
    return started.output
  }
}

/** The revision of a draft, as an entity tag; undefined for what is no draft. */
function etagOf(output: unknown): string | undefined {
  const { version = output } = Object(output) as { version?: unknown }
  const { status, revision } = Object(version) as { status?: unknown; revision?: unknown }
  return status === 'draft' && Number.isInteger(revision) ? `"${revision}"` : undefined
}

function partsOf({
  params,
  query,
  body,
  headers,
}: FastifyRequest): Parameters<ReturnType<typeof inputReader>>[0] {
  return { params: Object(params), query: Object(query), body, headers }
}
