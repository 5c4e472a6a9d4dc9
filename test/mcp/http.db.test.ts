import { request as httpRequest } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createContext } from '../../src/context.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ServiceError } from '../../src/domain/errors.ts'
import { agentTools } from '../../src/mcp/agent-tools.ts'
import { authenticate } from '../../src/operations/authenticate.ts'
import { carryOnAll } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { call, connectHttp, failureOf, serveMcp, textOf } from '../support/mcp.ts'

const dayMs = 24 * 3_600_000
let now = Date.UTC(2026, 11, 14, 8, 30)
/** How far time goes on whenever it is asked for. */
let step = 0
const clock = {
  now() {
    now += step
    return now
  },
}
const { app, db } = await openTestApp({ clock })
await seedProcedures(app)
const admin = callerOf()

const keyOf = async (principalId: string, more: object = {}, caller = admin) => {
  await operations.createPrincipal.invoke(app, caller, {
    ...{ principalId, kind: 'ai', roles: ['agent'] },
  })
  return operations.createKey.invoke(app, caller, { principalId, ...more })
}
const { key } = await keyOf('bot')
const served = await serveMcp(app, {
  ...{ allowedOrigins: ['https://desk.example.com'], maxBodyBytes: 20_000 },
})
let admitted = 0
const limited = await serveMcp(app, {
  async admit(credential) {
    admitted += 1
    if (admitted <= 2) return authenticate(app, credential)
    throw new ServiceError('RATE_LIMITED', { limited: 'principal', retryAfterSeconds: 7 })
  },
})
const reading = await serveMcp(app, { reads: true })

const calls: string[] = []
let release = () => {}
const slow = defineTool({
  name: 'slow_write',
  description: 'Writes when it is let',
  effect: 'write',
  idempotent: true,
  input: z.object({}),
  output: z.object({ written: z.boolean() }),
  async run(_input, { executionId }) {
    calls.push(executionId)
    await new Promise<void>((resolve) => {
      release = resolve
    })
    return { written: true }
  },
})
const slowApp = await createContext(
  db.database,
  { tenantId: 'default', logLevel: 'silent' },
  { tools: [slow], embedder: ngramEmbedder, clock },
)
afterAll(() => slowApp[Symbol.asyncDispose]())
const slowServed = await serveMcp(slowApp)

const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    ...{ protocolVersion: '2025-06-18', capabilities: {} },
    clientInfo: { name: 'test', version: '1' },
  },
}
const post = (headers: Record<string, string> = {}, body: unknown = initialize, url = served.url) =>
  fetch(url, {
    method: 'POST',
    headers: {
      ...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const bearer = { Authorization: `Bearer ${key}` }

describe('over HTTP', () => {
  it('a real client resolves the ticket of the demo, told of each step', async () => {
    const client = await connectHttp(served, key)
    const told: (string | undefined)[] = []

    const result = await call(
      client,
      'resolve_ticket',
      { ticket: { text: 'Checkout failed but my card was charged for TXN-DEMO-001' } },
      { onprogress: ({ message }) => told.push(message) },
    )

    const { execution, reply } = Object(result.structuredContent)
    expect(execution).toMatchObject({ outcome: 'resolved', requester: { id: 'bot', kind: 'ai' } })
    expect(reply.text).toContain('49.00 USD')
    expect(textOf(result)).toContain(reply.text)
    // A client of the SDK drops what is told in the same packet as the answer, so the last step is not asked for.
    expect(told).toContain('check_refund: completed')
    const record = await operations.getExecution.invoke(app, admin, { executionId: execution.id })
    expect(record.reply?.text).toBe(reply.text)
    await client.close()
  })

  it('two clients work at once, each as whoever its key is', async () => {
    const { key: other } = await keyOf('second-bot')
    const clients = await Promise.all([connectHttp(served, key), connectHttp(served, other)])
    const text = 'I was charged twice for TXN-DUP-002'

    const results = await Promise.all(
      clients.flatMap((client) =>
        [1, 2, 3].map(() => call(client, 'search_procedures', { issue: text })),
      ),
    )
    const runs = await Promise.all(
      clients.map((client) =>
        call(client, 'resolve_ticket', {
          ticket: { text: 'Where is my refund for TXN-REFUND-003?' },
        }),
      ),
    )

    for (const result of results) expect(textOf(result)).toContain('DUPLICATE_CHARGE_PLAYBOOK')
    const requesters = runs.map((run) => Object(run.structuredContent).execution.requester.id)
    expect(requesters).toEqual(['bot', 'second-bot'])
  })

  it('the playbooks behind a search are linked, and can be read', async () => {
    const client = await connectHttp(served, key)

    const { content } = await call(client, 'search_procedures', { issue: 'I was charged twice' })
    const links = content.flatMap((part) => (part.type === 'resource_link' ? [part.uri] : []))
    const { contents } = await client.readResource({ uri: links[0] ?? '' })

    expect(contents[0]).toMatchObject({ mimeType: 'text/markdown' })
    expect(String(Object(contents[0]).text)).toContain('# Duplicate Charge Resolution')
  })
})

describe('a key', () => {
  it.each([
    ['none', {}, 'Bearer realm="stepwarden"'],
    ['another scheme', { Authorization: `Basic ${key}` }, 'Bearer realm="stepwarden"'],
    [
      'an unknown one',
      { Authorization: `Bearer sw_default_${'x'.repeat(43)}` },
      'Bearer realm="stepwarden", error="invalid_token"',
    ],
    [
      'no key at all',
      { Authorization: 'Bearer 123' },
      'Bearer realm="stepwarden", error="invalid_token"',
    ],
  ])('lets nobody in that is %s', async (_what, headers, challenge) => {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const response = await fetch(served.url, { method, headers })

      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(challenge)
      expect(await response.json()).toMatchObject({
        error: { data: { code: expect.stringMatching(/^(CREDENTIAL_MISSING|KEY_REFUSED)$/) } },
      })
    }
  })

  it('lets nobody in any more once it has expired or was revoked, in the middle of the talk', async () => {
    const expiring = await keyOf('expiring', { expiresInDays: 1 })
    const revoked = await keyOf('revoked')
    const clients = await Promise.all([
      connectHttp(served, expiring.key),
      connectHttp(served, revoked.key),
    ])
    for (const client of clients) expect((await client.listTools()).tools).not.toEqual([])

    await operations.revokeKey.invoke(app, admin, { keyId: revoked.keyId })
    now += 2 * dayMs

    for (const client of clients) {
      await expect(call(client, 'list_waiting_steps')).rejects.toThrow(/401|Unauthorized|KEY|key/)
    }
  })

  it('of another tenant sees that tenant, and nothing of this one', async () => {
    await db.addTenant('acme')
    const { key: foreign } = await keyOf('bot', {}, callerOf('root', ['admin'], 'acme'))
    const own = await connectHttp(served, key)
    const client = await connectHttp(served, foreign)
    const { structuredContent } = await call(own, 'resolve_ticket', {
      ticket: { text: 'Where is my refund for TXN-REFUND-003?' },
    })
    const { execution } = Object(structuredContent)

    const shown = await call(client, 'get_execution', { executionId: execution.id })
    const listed = await call(client, 'list_escalations')
    const found = await call(client, 'search_procedures', { issue: 'I was charged twice' })
    const { resources } = await client.listResources()

    expect(failureOf(shown)).toMatchObject({ code: 'EXECUTION_NOT_FOUND' })
    expect(listed.structuredContent).toMatchObject({ items: [] })
    expect(found.structuredContent).toMatchObject({ candidates: [] })
    expect(resources).toEqual([])
    await expect(
      client.readResource({ uri: 'stepwarden://procedures/FAILED_PAYMENT_PLAYBOOK' }),
    ).rejects.toMatchObject({ code: -32002 })
  })

  it('is admitted for each message of a batch by whoever mounts the door, who may say that it is too much', async () => {
    const list = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/list' })

    const response = await post(bearer, [list(1), list(2), list(3)], limited.url)
    const text = await response.text()
    const next = await post(bearer, list(4), limited.url)

    expect(text.match(/"tools":/g)).toHaveLength(2)
    expect(text).toContain('RATE_LIMITED')
    expect(next.status).toBe(429)
    expect(next.headers.get('retry-after')).toBe('7')
  })

  it('is looked up anew for each message of a batch', async () => {
    const dying = await keyOf('dying', { expiresInDays: 3 })
    const list = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/list' })
    const headers = { Authorization: `Bearer ${dying.key}` }
    step = 2 * dayMs

    const response = await post(headers, [list(1), list(2)])
    const text = await response.text()
    step = 0

    expect(response.status).toBe(200)
    expect(text.match(/"tools":/g)).toHaveLength(1)
    expect(text).toContain('KEY_REFUSED')
  })
})

describe('a request', () => {
  it.each([
    ['http://evil.example', 403],
    ['http://localhost.evil.example', 403],
    ['null', 403],
    ['https://desk.example.com', 200],
    ['http://localhost:6274', 200],
    ['http://127.0.0.1:1234', 200],
  ])('of a page of %s is answered with %i', async (origin, status) => {
    const response = await post({ ...bearer, Origin: origin })
    await response.text()

    expect(response.status).toBe(status)
  })

  it('that is too large is refused', async () => {
    const response = await post(bearer, JSON.stringify({ text: 'x'.repeat(30_000) }))

    expect(response.status).toBe(413)
  })

  it.each(['GET', 'DELETE', 'PUT'])('with %s is refused: there is no session', async (method) => {
    const response = await fetch(served.url, { method, headers: bearer })

    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })

  it.each([
    ['no JSON', '{', 400],
    ['no message', '{"a": 1}', 400],
  ])('that holds %s is refused', async (_what, body, status) => {
    const response = await post(bearer, body)

    expect(response.status).toBe(status)
    expect(await response.text()).not.toMatch(/\.ts|node_modules/)
  })

  it('is answered where whoever mounts the door has read it', async () => {
    const client = await connectHttp(reading, key)

    expect((await client.listTools()).tools).toHaveLength(agentTools.length)
  })
})

describe('a client that goes away', () => {
  it('stops no run in the middle of a write, and can ask again what came of it', async () => {
    const procedureKey = 'SLOW'
    await operations.createProcedure.invoke(slowApp, admin, {
      definition: {
        ...{ key: procedureKey, name: 'Slow', description: 'Slow', issuePatterns: [] },
        steps: [{ key: 'write', action: 'Write', tool: 'slow_write' }],
        completionConditions: [{ text: 'Written', when: 'steps.write.output.written' }],
      },
    })
    await operations.activateVersion.invoke(slowApp, admin, {
      ...{ procedureKey, versionNumber: 1, seenActive: null },
    })
    const body = JSON.stringify({
      ...{ jsonrpc: '2.0', id: 7, method: 'tools/call' },
      params: { name: 'start_execution', arguments: { procedureKey, idempotencyKey: 'gone' } },
    })
    const going = httpRequest(slowServed.url, {
      method: 'POST',
      headers: {
        ...{ ...bearer, 'Content-Type': 'application/json' },
        Accept: 'application/json, text/event-stream',
      },
    })
    going.on('error', () => {})
    going.end(body)
    await expect.poll(() => calls.length).toBe(1)

    going.destroy()
    const closing = slowServed.handler.close()
    let isClosed = false
    void closing.then(() => {
      isClosed = true
    })
    const late = await fetch(slowServed.url, { method: 'POST', headers: bearer })
    expect(late.status).toBe(503)
    expect(isClosed).toBe(false)
    release()
    await closing

    const left = await operations.getExecution.invoke(slowApp, admin, { executionId: calls[0] })
    expect(left.steps).toMatchObject([{ key: 'write', status: 'completed' }])
    expect(left.execution).toMatchObject({ status: 'running', waitsFor: { kind: 'worker' } })
    await carryOnAll(slowApp)
    const run = await operations.startExecution.invoke(slowApp, callerOf('bot'), {
      ...{ procedureKey, idempotencyKey: 'gone' },
    })
    expect(run.execution).toMatchObject({ id: calls[0], status: 'completed', outcome: 'resolved' })
    expect(calls).toHaveLength(1)
  })

  it('leaves nothing open', async () => {
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(served.url, {
      requestInit: { headers: bearer },
    })
    await client.connect(transport)
    await client.close()

    await served.handler.close()

    const response = await post(bearer)
    expect(response.status).toBe(503)
  })
})
