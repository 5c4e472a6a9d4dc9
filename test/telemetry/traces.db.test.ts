import { beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { carryOnAll } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { createOpenAiReplyModel } from '../../src/reply/openai-model.ts'
import { openTracer } from '../../src/telemetry/open-tracer.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { openCollector, type ReceivedSpan } from '../support/collector.ts'
import { keyFor, openTestDoor } from '../support/http.ts'
import { startOpenAiServer } from '../support/openai-server.ts'

// By default spans wait for five seconds for others to be sent with.
vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '50')
const collector = await openCollector()
const tracer = openTracer({ url: collector.url, serviceName: 'desk' }, '1.2.3', () => {})
const server = await startOpenAiServer()
const replyModel = createOpenAiReplyModel(server.connection, 'gpt-test')

/** What each call was told of its trace. */
const told: (string | undefined)[] = []
let isFailing = false
const look = defineTool({
  name: 'look',
  description: 'Looks an account up',
  effect: 'read',
  input: z.object({}),
  output: z.object({ state: z.string() }),
  run: async (_input, { traceparent }) => {
    told.push(traceparent)
    if (isFailing) throw new Error('nobody knows')
    return { state: 'open' }
  },
})

const { app } = await openTestApp({ tools: [look], tracer, replyModel })
const door = await openTestDoor(app)
let key = ''

beforeAll(async () => {
  const definition = {
    key: 'LOOK_PLAYBOOK',
    name: 'Look at an account',
    description: 'Looks at the account of a customer.',
    issuePatterns: ['look at my account'],
    steps: [
      { key: 'look', action: 'Look', tool: 'look', retry: { maxAttempts: 2, delay: '1s' } },
      { key: 'state', action: 'Note', compute: { state: 'steps.look.output.state' } },
    ],
  }
  const root = callerOf()
  await operations.createProcedure.invoke(app, root, { definition })
  const serving = { procedureKey: 'LOOK_PLAYBOOK', versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, root, serving)
  key = await keyFor(app, 'kim', ['agent'])
})

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const ticket = { text: 'Please look at my account' }

/** The spans of a trace, once `count` of them have come. */
async function spansOf(
  isOne: (span: ReceivedSpan) => boolean,
  count: number,
): Promise<readonly ReceivedSpan[]> {
  return vi.waitFor(
    () => {
      const found = collector.spans.filter(isOne)
      if (found.length < count) throw new Error(`only ${found.map(({ name }) => name)}`)
      return found
    },
    { timeout: 15_000 },
  )
}

/** Each span with those above it, outermost first. */
function pathsOf(spans: readonly ReceivedSpan[]): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const pathOf = (span: ReceivedSpan): string => {
    const parent = byId.get(span.parentSpanId)
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`
  }
  return spans.map(pathOf).sort()
}

it('shows a resolve from the door down to tool and models, in the trace of who has called', async () => {
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
  const { status, body } = await door.call('POST /v1/resolve', { key, body: { ticket }, headers })
  expect(status).toBe(200)

  const spans = await spansOf((span) => span.traceId === traceId, 10)

  const request = 'POST /v1/resolve'
  expect(pathsOf(spans)).toEqual([
    request,
    `${request} > execution`,
    `${request} > execution > reply`,
    // Neither of its two drafts is JSON.
    `${request} > execution > reply > chat gpt-test`,
    `${request} > execution > reply > chat gpt-test`,
    `${request} > execution > step compute`,
    `${request} > execution > step tool`,
    `${request} > execution > step tool > execute_tool look`,
    `${request} > search`,
    `${request} > search > embeddings ngram-512-v1`,
  ])
  const named = (name: string) => spans.find((span) => span.name === name)
  expect(named(request)).toMatchObject({
    parentSpanId: '00f067aa0ba902b7',
    kind: 2,
    attributes: { 'http.request.method': 'POST', 'http.route': '/v1/resolve' },
  })
  expect(Number(named(request)?.attributes['http.response.status_code'])).toBe(200)
  expect(named('execution')?.attributes).toMatchObject({
    'stepwarden.execution.id': body.execution.id,
    'stepwarden.tenant.id': 'default',
    'stepwarden.procedure.key': 'LOOK_PLAYBOOK',
    'stepwarden.execution.status': 'completed',
  })
  expect(named('chat gpt-test')).toMatchObject({ hasFailed: true, kind: 3 })
  // What the tool may tell others is the span of the call itself.
  expect(told).toEqual([`00-${traceId}-${named('execute_tool look')?.spanId}-01`])
  for (const span of spans) {
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
    expect(span.endedAt).toBeGreaterThanOrEqual(span.startedAt)
    if (parent !== undefined) expect(span.startedAt).toBeGreaterThanOrEqual(parent.startedAt)
  }
})

it('shows each attempt of a step, and why it failed', async () => {
  isFailing = true
  const headers = { traceparent: `00-${'a'.repeat(32)}-00f067aa0ba902b7-01` }
  await door.call('POST /v1/resolve', { key, body: { ticket }, headers })
  isFailing = false

  const spans = await spansOf((span) => span.traceId === 'a'.repeat(32), 9)

  const calls = spans.filter(({ name }) => name === 'execute_tool look')
  expect(calls.map(({ hasFailed, attributes }) => [hasFailed, attributes['error.type']])).toEqual([
    [true, 'tool_failed'],
    [true, 'tool_failed'],
  ])
  const steps = spans.filter(({ name }) => name === 'step tool')
  expect(steps).toMatchObject([{ hasFailed: true, attributes: { 'error.type': 'tool_failed' } }])
})

it('begins a new trace where another process carries a run on, which the id of the run leads to', async () => {
  const { body } = await door.call('POST /v1/executions', {
    key,
    body: { procedureKey: 'LOOK_PLAYBOOK', detach: true },
    headers: { traceparent: `00-${'b'.repeat(32)}-00f067aa0ba902b7-01` },
  })
  const { id } = body.execution
  expect(await carryOnAll(app)).toContain(id)

  const [execution] = await spansOf(
    ({ name, attributes }) => name === 'execution' && attributes['stepwarden.execution.id'] === id,
    1,
  )

  expect(execution).toMatchObject({ parentSpanId: '' })
  expect(execution?.traceId).not.toBe('b'.repeat(32))
  const of = collector.spans.filter((span) => span.traceId === execution?.traceId)
  expect(of.map(({ name }) => name)).toContain('execute_tool look')
})

it('believes nobody who shows no key, and traces nothing for them', async () => {
  const headers = { traceparent: `00-${'c'.repeat(32)}-00f067aa0ba902b7-01` }
  expect((await door.call('POST /v1/resolve', { body: { ticket }, headers })).status).toBe(401)
  await door.call('GET /v1/me', {
    key,
    headers: { traceparent: `00-${'d'.repeat(32)}-00f067aa0ba902b7-01` },
  })

  await spansOf((span) => span.traceId === 'd'.repeat(32), 1)

  expect(collector.spans.some((span) => span.traceId === 'c'.repeat(32))).toBe(false)
})
