import { request as httpRequest } from 'node:http'
import createClient from 'openapi-fetch'
import { beforeAll, describe, expect, it } from 'vitest'
import { roles } from '../../src/domain/principal.ts'
import { operations } from '../../src/operations/registry.ts'
import { startWorking } from '../../src/operations/work.ts'
import { openTestApp, seedDefinitions, seedProcedures } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { keyFor, openTestDoor } from '../support/http.ts'
import { readEvents } from '../support/sse.ts'

const { app } = await openTestApp()
const door = await openTestDoor(app, { corsOrigins: ['https://desk.example.com'] })
let key = ''

beforeAll(async () => {
  await seedProcedures(app)
  key = await keyFor(app, 'kim', roles)
})

const ticket = { text: 'I was charged twice for TXN-DUP-002' }

describe('a run over HTTP', () => {
  it('is started once by its idempotency key, and answered with its place', async () => {
    const body = {
      procedureKey: 'DUPLICATE_CHARGE_PLAYBOOK',
      input: { transactionId: 'TXN-DUP-002' },
    }
    const headers = { 'idempotency-key': 'order 7' }
    const first = await door.call('POST /v1/executions', { key, body, headers })
    expect(first.status).toBe(201)
    const { id } = first.body.execution
    expect(first.headers.get('location')).toBe(`/v1/executions/${id}`)
    const again = await door.call('POST /v1/executions', { key, body, headers })
    expect(again.body.execution.id).toBe(id)
    const other = { ...body, customerId: 'C-1' }
    const reused = await door.call('POST /v1/executions', { key, body: other, headers })
    expect(reused).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    const both = { ...body, idempotencyKey: 'order 7' }
    expect((await door.call('POST /v1/executions', { key, body: both, headers })).status).toBe(400)
    const read = await door.call(`GET ${first.headers.get('location')}`, { key })
    expect(read).toMatchObject({
      status: 200,
      body: { execution: { id, requester: { id: 'kim' } } },
    })
  })

  it('goes on behind the answer when the client does not wait', async () => {
    const headers = { prefer: 'respond-async' }
    const started = await door.call('POST /v1/resolve', { key, body: { ticket }, headers })
    expect(started.status).toBe(202)
    expect(started.headers.get('preference-applied')).toBe('respond-async')
    expect(started.headers.get('location')).toBe(`/v1/executions/${started.body.executionId}`)
    const events = await readEvents(`${door.url}${started.headers.get('location')}/events`, { key })
    expect(events.at(-1)?.event).toBe('end')
    expect(events.filter(({ event }) => event === 'reply')).toHaveLength(1)
  })

  it('that is detached is told of as going on', async () => {
    const body = {
      procedureKey: 'DUPLICATE_CHARGE_PLAYBOOK',
      input: { transactionId: 'TXN-DUP-002' },
      detach: true,
    }
    const { status, body: answer } = await door.call('POST /v1/executions', { key, body })
    expect([status, answer.execution.status]).toEqual([202, 'pending'])
    // What the document says of every 202.
    expect(answer.executionId).toBe(answer.execution.id)
    const working = startWorking(app)
    await working.untilIdle()
    await working.stop()
  })
})

describe('the events of a run', () => {
  it('are what its record says, and go on after the last that a client has', async () => {
    const { body } = await door.call('POST /v1/resolve', { key, body: { ticket } })
    const url = `${door.url}/v1/executions/${body.execution.id}/events`
    const all = await readEvents(url, { key })
    const steps = all.filter(({ event }) => event === 'step').map(({ data }) => data)
    expect(steps).toEqual(body.steps)
    expect(all.map(({ event }) => event).slice(-3)).toEqual(['execution', 'reply', 'end'])
    for (const [index, { id }] of all.entries()) {
      const rest = await readEvents(url, { key, headers: { 'last-event-id': id } })
      expect(rest.map((event) => event.id)).toEqual(all.slice(index + 1).map((event) => event.id))
    }
    const last = await fetch(url, {
      headers: { authorization: `Bearer ${key}`, 'last-event-id': all.at(-1)?.id ?? '' },
    })
    expect(last.status).toBe(204)
    const strange = await readEvents(url, { key, headers: { 'last-event-id': '../../etc' } })
    expect(strange).toEqual(all)
  })

  it('come as they happen, and end when the key is revoked', async () => {
    const root = callerOf('root')
    const { keyId, key: short } = await operations.createKey.invoke(app, root, {
      principalId: 'kim',
    })
    const { body } = await door.call('POST /v1/executions', {
      key,
      body: {
        procedureKey: 'DUPLICATE_CHARGE_PLAYBOOK',
        input: { transactionId: 'TXN-DUP-002' },
        detach: true,
      },
    })
    const seen: string[] = []
    const stream = readEvents(`${door.url}/v1/executions/${body.execution.id}/events`, {
      key: short,
      onEvent: ({ event, data }) => {
        seen.push(`${event} ${data.status}`)
        if (data.status === 'pending') void operations.revokeKey.invoke(app, root, { keyId })
      },
    })
    await stream
    expect(seen).toEqual(['execution pending'])
  })

  it('are those of a run that is there, for who may see it', async () => {
    const none = await door.call('GET /v1/executions/exec_000000000000000000000/events', { key })
    expect(none).toMatchObject({ status: 404, body: { code: 'EXECUTION_NOT_FOUND' } })
    expect((await door.call('GET /v1/executions/exec_000000000000000000000/events')).status).toBe(
      401,
    )
  })
})

describe('a draft over HTTP', () => {
  it('is edited by who has seen it as it is', async () => {
    const definition = {
      ...seedDefinitions().get('FAILED_PAYMENT_PLAYBOOK'),
      key: 'EDITED_PLAYBOOK',
    }
    const made = await door.call('POST /v1/procedures', { key, body: { definition } })
    expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"'])
    const place = '/v1/procedures/EDITED_PLAYBOOK/versions/1'
    const read = await door.call(`GET ${place}`, { key })
    expect(read.headers.get('etag')).toBe('"1"')
    const body = { definition: { ...definition, name: 'Another name' } }
    const missing = await door.call(`PUT ${place}`, { key, body })
    expect(missing).toMatchObject({ status: 428, body: { code: 'PRECONDITION_MISSING' } })
    const edited = await door.call(`PUT ${place}`, { key, body, headers: { 'if-match': '"1"' } })
    expect([edited.status, edited.headers.get('etag')]).toEqual([200, '"2"'])
    const stale = await door.call(`PUT ${place}`, { key, body, headers: { 'if-match': '"1"' } })
    expect(stale).toMatchObject({ status: 412, body: { code: 'DRAFT_STALE' } })
    for (const etag of ['*', 'W/"2"', '2', '"x"']) {
      const bad = await door.call(`PUT ${place}`, { key, body, headers: { 'if-match': etag } })
      expect([etag, bad.status]).toEqual([etag, 400])
    }
  })
})

/** A request as bytes, which `fetch` would not send. */
function send(
  path: string,
  headers: Readonly<Record<string, string>>,
  bytes: Buffer | string,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${door.url}${path}`,
      { method: 'POST', headers: { authorization: `Bearer ${key}`, ...headers } },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    request.on('error', reject)
    request.end(bytes)
  })
}

describe('what is no request of ours', () => {
  it.each([
    ['/v1/me', 405, 'METHOD_NOT_ALLOWED', 'GET'],
    ['/v1/nowhere', 404, 'ROUTE_NOT_FOUND', null],
  ])('is OPTIONS of no page: %s', async (path, status, code, allow) => {
    const { headers, ...answer } = await door.call(`OPTIONS ${path}`)
    expect(answer).toMatchObject({ status, body: { code } })
    expect(headers.get('allow')).toBe(allow)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  const json = { 'content-type': 'application/json' }
  it.each([
    ['no JSON', json, '{', 400, 'HTTP_INVALID'],
    ['another kind of body', { 'content-type': 'text/plain' }, '{}', 415, 'MEDIA_TYPE_UNSUPPORTED'],
    [
      'a form',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'a=b',
      415,
      'MEDIA_TYPE_UNSUPPORTED',
    ],
    ['bytes that are no UTF-8', json, Buffer.from([0x22, 0xff, 0xfe, 0x22]), 400, 'HTTP_INVALID'],
    ['a prototype', json, '{"issue":"x","__proto__":{"a":1}}', 400, 'HTTP_INVALID'],
    [
      'a constructor',
      json,
      '{"issue":"x","constructor":{"prototype":{"a":1}}}',
      400,
      'HTTP_INVALID',
    ],
    ['a name twice', json, '{"issue":"x","\\u0069ssue":"y"}', 400, 'HTTP_INVALID'],
    ['a list', json, '[]', 400, 'HTTP_INVALID'],
    [
      'a deep one',
      json,
      `{"context":${'['.repeat(90_000)}${']'.repeat(90_000)}}`,
      400,
      'HTTP_INVALID',
    ],
    ['too much', json, `{"issue":"${'x'.repeat(2_200_000)}"}`, 413, 'BODY_TOO_LARGE'],
    ['a NUL', json, '{"issue":"a\\u0000b"}', 400, 'REQUEST_INVALID'],
  ])('%s is refused', async (_name, headers, bytes, status, code) => {
    const answer = await send('/v1/search', headers, bytes)
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.text)).toMatchObject({ status, code })
    expect(answer.text).not.toContain('node_modules')
  })

  it('says what there is', async () => {
    const unknown = await door.call('GET /v1/nothing', { key })
    expect(unknown).toMatchObject({ status: 404, body: { code: 'ROUTE_NOT_FOUND' } })
    const method = await door.call('DELETE /v1/stats', { key })
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'GET'])
    expect(await door.call('GET /v1/%zz', { key })).toMatchObject({
      status: 400,
      body: { code: 'HTTP_INVALID' },
    })
    const type = method.headers.get('content-type')
    expect(type).toContain('application/problem+json')
    expect(method.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('says to whoever has the address alone where to go', async () => {
    const { status, body } = await door.call('GET /')
    const page = await door.call('GET /', { headers: { accept: 'text/html,*/*' } })

    expect(status).toBe(200)
    expect(body).toMatchObject({ service: 'stepwarden', links: { docs: '/docs' } })
    const { api: _api, mcp: _mcp, ...open } = body.links
    for (const path of Object.values(open)) {
      expect([path, (await door.call(`GET ${path}`)).status]).toEqual([path, 200])
      expect(page.body).toContain(`href="${path}"`)
    }
    // Nothing in it is run or fetched.
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  it('keeps the id of a request that has a good one', async () => {
    const given = await door.call('GET /v1/stats', { key, headers: { 'x-request-id': 'mine-7' } })
    expect(given.headers.get('x-request-id')).toBe('mine-7')
    const bad = await door.call('GET /v1/nothing', { key, headers: { 'x-request-id': 'a b"c' } })
    expect(bad.headers.get('x-request-id')).toMatch(/^req_/)
    expect(bad.body.requestId).toBe(bad.headers.get('x-request-id'))
  })

  it('lets pages of the configured origin call, and no others', async () => {
    const allowed = await door.call('GET /v1/stats', {
      key,
      headers: { origin: 'https://desk.example.com' },
    })
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://desk.example.com')
    const asked = await door.call('OPTIONS /mcp', {
      headers: { origin: 'https://desk.example.com', 'access-control-request-method': 'POST' },
    })
    expect(asked.headers.get('access-control-allow-headers')?.split(', ')).toEqual(
      // Clients of the protocol send its version with each request after the first.
      expect.arrayContaining(['authorization', 'content-type', 'mcp-protocol-version']),
    )
    const other = await door.call('GET /v1/stats', {
      key,
      headers: { origin: 'https://evil.example.com' },
    })
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('the end of the door', () => {
  it('is told before it comes, ends streams, and lets runs be answered', async () => {
    const own = await openTestDoor(app)
    expect((await own.call('GET /readyz')).status).toBe(200)
    const { body } = await own.call('POST /v1/executions', {
      key,
      body: {
        procedureKey: 'DUPLICATE_CHARGE_PLAYBOOK',
        input: { transactionId: 'TXN-DUP-002' },
        detach: true,
      },
    })
    const streams: ReturnType<typeof readEvents>[] = []
    const accepted = new Promise<void>((resolve) => {
      own.door.server.on('request', ({ url }) => {
        if (url === '/v1/resolve') resolve()
      })
    })
    const streamed = new Promise<void>((resolve) => {
      const stream = readEvents(`${own.url}/v1/executions/${body.execution.id}/events`, {
        key,
        onEvent: () => resolve(),
      })
      streams.push(stream)
    })
    const resolved = own.call('POST /v1/resolve', { key, body: { ticket } })
    await Promise.all([accepted, streamed])
    await own.door.close()
    const [told = []] = await Promise.all(streams)
    expect(told.map(({ event }) => event)).toEqual(['execution'])
    expect((await resolved).status).toBeLessThan(300)
    await expect(own.call('GET /healthz')).rejects.toThrow()
  })
})

it('agents come in by the Model Context Protocol at the same address', async () => {
  const headers = { accept: 'application/json, text/event-stream' }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const answer = await door.call('POST /mcp', { key, body, headers })
  expect(answer.status).toBe(200)
  expect(JSON.stringify(answer.body)).toContain('resolve')
  expect((await door.call('POST /mcp', { body, headers })).status).toBe(401)
})

/** As a generator writes it from the document: one path of them. */
interface Paths {
  '/v1/executions': {
    get: {
      parameters: { query?: { limit?: number } }
      responses: { 200: { content: { 'application/json': { items: readonly { id: string }[] } } } }
    }
  }
}

it('a client that others have made of the document reads it', async () => {
  const client = createClient<Paths>({
    baseUrl: door.url,
    headers: { authorization: `Bearer ${key}` },
  })
  const { data, response } = await client.GET('/v1/executions', { params: { query: { limit: 1 } } })
  expect(response.status).toBe(200)
  expect(data?.items).toHaveLength(1)
})
