import { beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { Secret } from '../../src/config/secret.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolRefused } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { startWorking } from '../../src/operations/work.ts'
import { createOpenAiReplyModel } from '../../src/reply/openai-model.ts'
import { openTracer } from '../../src/telemetry/open-tracer.ts'
import { createPrometheusMeter } from '../../src/telemetry/prometheus-meter.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf, principalOf } from '../support/caller.ts'
import { openCollector } from '../support/collector.ts'
import { keyFor, openTestDoor } from '../support/http.ts'
import { startOpenAiServer } from '../support/openai-server.ts'

/** Stands in everything that a customer, or whoever writes for them, can put a word into. */
const mark = 'zaphod'
/** In another form, as a value that is sensitive by the schema. */
const pin = '99887766'

vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '50')
const collector = await openCollector()
const tracer = openTracer({ url: collector.url, serviceName: 'desk' }, '1.2.3', () => {})
const meter = createPrometheusMeter()
const server = await startOpenAiServer()
const replyModel = createOpenAiReplyModel(server.connection, 'gpt-test')
const lines: string[] = []
const logStream = { write: (line: string) => void lines.push(line) }

const look = defineTool({
  name: 'look',
  description: 'Looks an account up',
  effect: 'read',
  input: z.object({ name: z.string(), pin: z.string().meta({ sensitive: true }) }),
  output: z.object({ name: z.string() }),
  run: async ({ name }) => {
    if (name.includes('refused')) throw new ToolRefused(`${name} is not known`)
    if (name.includes('broken')) throw new Error(`cannot read ${name} with ${pin}`)
    return { name }
  },
})
const { app } = await openTestApp(
  { tools: [look], tracer, meter, replyModel, logStream },
  {},
  'info',
)
const token = new Secret('a-token-of-the-operator')
const door = await openTestDoor(app, {
  metricsToken: token,
  local: { token: 'local', person: principalOf('root', ['admin', 'agent']) },
})
let key = ''

beforeAll(async () => {
  const definition = {
    key: 'LOOK_PLAYBOOK',
    name: 'Look at an account',
    description: 'Looks at the account of a customer.',
    issuePatterns: ['look at my account'],
    input: {
      type: 'object',
      required: ['name', 'pin'],
      properties: {
        name: { type: 'string', description: 'The name' },
        pin: { type: 'string', sensitive: true, description: 'The PIN' },
      },
    },
    steps: [
      {
        key: 'look',
        action: 'Look',
        tool: 'look',
        with: { name: '{{input.name}}', pin: '{{input.pin}}' },
      },
      {
        key: 'confirm',
        action: 'Ask',
        ask: 'agent',
        message: 'Is it {{input.name}}?',
        answer: { type: 'object', properties: { note: { type: 'string' } } },
      },
    ],
  }
  const root = callerOf()
  await operations.createProcedure.invoke(app, root, { definition })
  const serving = { procedureKey: 'LOOK_PLAYBOOK', versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, root, serving)
  key = await keyFor(app, 'kim', ['agent', 'admin', 'auditor'])
})

const ticket = { text: `look at my account, ${mark} at ${mark}@example.com, PIN ${pin}` }
const start = (name: string) => ({
  procedureKey: 'LOOK_PLAYBOOK',
  ticket,
  input: { name, pin },
  context: { note: mark },
  customerId: `customer ${mark}`,
  ticketId: `ticket ${mark}`,
  onBehalfOf: mark,
})
const said = { 'x-request-id': `${mark} was here`, 'user-agent': mark, referer: mark }

async function callMcp(name: string, input: object): Promise<void> {
  const body = {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name, arguments: input },
  }
  const accept = 'application/json, text/event-stream'
  await door.call('POST /mcp', { key, body, headers: { ...said, accept } })
}

it('no word of a customer is in a line of the log, a span or a figure', async () => {
  const headers = said
  const runs: string[] = []
  for (const name of [mark, `refused ${mark}`, `broken ${mark}`]) {
    const started = await door.call('POST /v1/executions', {
      ...{ key, body: start(name) },
      headers: { ...said, 'idempotency-key': `${name} once` },
    })
    expect(started.status).toBe(201)
    runs.push(started.body.execution.id)
  }
  // Another request with the key of the first.
  await door.call('POST /v1/executions', {
    ...{ key, body: start('other') },
    headers: { ...said, 'idempotency-key': `${mark} once` },
  })
  const { procedureKey: _key, ...more } = start(mark)
  expect((await door.call('POST /v1/resolve', { key, body: more, headers })).status).toBe(200)
  await door.call('POST /v1/resolve', { key, body: { ticket: { text: mark } }, headers })
  await door.call('POST /v1/search', { key, body: { issue: mark, context: { mark } }, headers })
  // What is refused: names of fields and values, broken JSON, paths, queries, methods and keys.
  await door.call('POST /v1/resolve', { key, body: { ticket, [mark]: mark }, headers })
  await fetch(`${door.url}/v1/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: `{"ticket": "${mark}`,
  })
  for (const path of [`/v1/procedures/${mark}`, `/v1/executions/${mark}`, `/${mark}`]) {
    await door.call(`GET ${path}?${mark}=${mark}`, { key, headers })
    await door.call(`DELETE ${path}`, { key, headers })
  }
  await door.call(`GET /v1/executions?customerId=${mark}`, { key, headers })
  await door.call(`GET /v1/executions/${mark}/events`, { key, headers })
  await door.call('GET /v1/me', { key: `sw_default_${mark}`, headers })
  // An answer, one that does not fit, and a cancellation by somebody else's word.
  const [first = ''] = runs
  const answering = `POST /v1/executions/${first}/steps/confirm/answer`
  await door.call(answering, { key, body: { answer: { note: 7, [mark]: mark } }, headers })
  await door.call(answering, { key, body: { answer: { note: mark } }, headers })
  await callMcp('resolve_ticket', { ticket, input: { name: mark, pin } })
  await callMcp('resolve_ticket', { ticket, [mark]: mark })
  await callMcp(mark, {})
  const local = { key: 'local', headers }
  await door.call('POST /local/resolveTicket', { ...local, body: more })
  await door.call('POST /local/resolveTicket', { ...local, body: { [mark]: mark } })
  await door.call(`POST /local/${mark}`, { ...local, body: {} })
  // And a worker, where what it tells is of nobody's request.
  await door.call('POST /v1/executions', { key, body: { ...start(mark), detach: true }, headers })
  const working = startWorking(app)
  await working.untilIdle()
  await working.stop()
  await tracer[Symbol.asyncDispose]()
  const { body: figures } = await door.call('GET /metrics', { key: token.reveal() })

  const told = { lines: lines.join(''), spans: collector.bodies.join(''), figures }
  for (const [where, text] of Object.entries(told)) {
    // They are there, and say much.
    expect(text.length, where).toBeGreaterThan(5_000)
    const leaks = text
      .split(/\n|(?="name":)/)
      .filter((one: string) => one.includes(mark) || one.includes(pin))
    expect(leaks, where).toEqual([])
  }
  expect(told.lines).toContain('"route":"/v1/executions/{executionId}"')
  expect(told.spans).toContain('execute_tool look')
})
