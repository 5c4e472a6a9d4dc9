import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { createFigureCache } from './figure-cache.ts'
import type { Meter } from './meter.ts'

/** Of requests and calls of tools: what a person waits for. */
const waitBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Of commits: mostly a wait for the disk. */
const commitBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** A meter whose figures Prometheus can read, Node's own among them. docs/observability.md says what each means. */
export function createPrometheusMeter(): Meter {
  const register = new Registry()
  const registers = [register]
  collectDefaultMetrics({ register })

  const counter = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name: `stepwarden_${name}`, help, labelNames, registers })
  const histogram = <L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: L[] = [],
  ) => new Histogram({ name: `stepwarden_${name}`, help, labelNames, buckets, registers })
  const gauge = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Gauge({ name: `stepwarden_${name}`, help, labelNames, registers })

  const requests = counter('http_requests_total', 'Requests that were answered.', [
    'operation',
    'status',
  ])
  const requestSeconds = histogram(
    'http_request_duration_seconds',
    'From the first byte of a request to the last of its answer.',
    waitBuckets,
    ['operation'],
  )
  const started = counter('executions_started_total', 'Executions that were stored.')
  const ended = counter('executions_ended_total', 'Executions that came to their end.', [
    'status',
    'reason',
  ])
  const inFlight = gauge('executions_in_flight', 'Executions that this process works on now.')
  const steps = counter('steps_ended_total', 'Steps whose end was committed.', ['kind', 'status'])
  const toolCalls = counter('tool_calls_total', 'Attempts to call a tool.', [
    'tool',
    'effect',
    'result',
  ])
  const toolSeconds = histogram(
    'tool_call_duration_seconds',
    'How long an attempt to call a tool took.',
    waitBuckets,
    ['tool'],
  )
  const replies = counter('replies_total', 'Replies to customers, and why they are as they are.', [
    'source',
    'cause',
  ])
  const searches = counter('searches_total', 'Searches for the playbook of a ticket.', ['decision'])
  const fallbacks = counter(
    'embedder_fallbacks_total',
    'Searches that were made with the offline model, because the one in use gave no answer.',
  )
  const takenOver = counter(
    'leases_taken_over_total',
    'Executions of workers that are gone, which were made anybody’s by this process.',
  )
  const commits = histogram(
    'commit_duration_seconds',
    'From the hand-over of a commit of an execution until it is durable.',
    commitBuckets,
  )
  const messages = counter('webhook_attempts_total', 'Messages that were sent to webhooks.', [
    'result',
  ])
  const connections = gauge('database_connections', 'Connections of this process.', ['state'])
  const read = createFigureCache()
  const escalations = gauge('escalations_open', 'Escalations that nobody has resolved.', ['queue'])
  const webhooks = gauge('webhooks', 'Webhooks by how they are doing.', ['state'])
  const pending = gauge('webhook_messages_pending', 'Messages that are still to be delivered.')
  const unattended = gauge(
    'executions_unattended',
    'Executions that wait for a worker, or whose worker is gone: counted up to 1,000.',
  )
  const sealLag = gauge(
    'seal_lag_seconds',
    'How long ago the oldest run has ended that has no seal.',
  )
  const isRead = gauge('figures_up', '1 when the database has answered what is read from it.')

  return {
    contentType: register.contentType,
    requestEnded(operation, status, seconds) {
      requests.inc({ operation, status })
      requestSeconds.observe({ operation }, seconds)
    },
    executionStarted: () => started.inc(),
    runBegan() {
      inFlight.inc()
      return () => inFlight.dec()
    },
    executionEnded: (status, reason) => ended.inc({ status, reason }),
    stepEnded: (kind, status) => steps.inc({ kind, status }),
    toolCalled({ tool, effect, result, seconds }) {
      toolCalls.inc({ tool, effect, result })
      toolSeconds.observe({ tool }, seconds)
    },
    replied: (source, cause) => replies.inc({ source, cause }),
    searched: (decision) => searches.inc({ decision }),
    searchFellBack: () => fallbacks.inc(),
    leasesTakenOver: (count) => takenOver.inc(count),
    committed: (seconds) => commits.observe(seconds),
    messageSent: (result) => messages.inc({ result }),
    readFrom: (source) => read.from(source),
    async text() {
      const { pool, figures } = await read.now()
      if (pool !== undefined) {
        connections.set({ state: 'total' }, pool.totalCount)
        connections.set({ state: 'idle' }, pool.idleCount)
        connections.set({ state: 'waiting' }, pool.waitingCount)
      }
      // What is not known now is left out: an old figure would look like a new one.
      for (const one of [escalations, webhooks, pending, unattended, sealLag]) one.reset()
      for (const one of [pending, unattended, sealLag]) if (figures === undefined) one.remove()
      isRead.set(figures === undefined ? 0 : 1)
      for (const { figure, label, value } of figures ?? []) {
        if (figure === 'escalations_open') escalations.set({ queue: label }, value)
        else if (figure === 'webhooks') webhooks.set({ state: label }, value)
        else if (figure === 'webhook_messages_pending') pending.set(value)
        else if (figure === 'executions_unattended') unattended.set(value)
        else if (figure === 'seal_lag_seconds') sealLag.set(value)
      }
      return register.metrics()
    },
  }
}
