import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import { compileSchema } from '../../src/domain/json-schema.ts'
import { certainFailure, type Tool, type ToolContext } from '../../src/domain/tool.ts'
import { openSources } from '../../src/tool-sources/open-sources.ts'
import type { SourceDeclaration } from '../../src/tool-sources/source-shape.ts'
import { answerJson, serveOutside } from '../support/outside-service.ts'

const refundSchema = {
  type: 'object',
  required: ['id', 'state'],
  properties: {
    id: { type: 'string' },
    state: { type: 'string', enum: ['submitted', 'done'] },
    amount: { type: 'number' },
  },
}

const document = {
  openapi: '3.0.3',
  info: { title: 'Desk', version: '1' },
  paths: {
    '/orders/{orderId}': {
      parameters: [{ name: 'orderId', in: 'path', required: true, schema: { type: 'string' } }],
      get: {
        operationId: 'getOrder',
        summary: 'Looks an order up.',
        parameters: [
          { name: 'fields', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          {
            name: 'tags',
            in: 'query',
            explode: false,
            schema: { type: 'array', items: { type: 'string' } },
          },
          { name: 'X-Region', in: 'header', schema: { type: 'string' } },
          { name: 'X-Api-Key', in: 'header', required: true, schema: { type: 'string' } },
        ],
        responses: {
          200: {
            description: 'The order.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: { id: { type: 'string' }, total: { type: 'number' } },
                },
              },
            },
          },
        },
      },
    },
    '/refunds': {
      get: {
        operationId: 'findRefunds',
        summary: 'Finds refunds.',
        parameters: [
          { name: 'reference', in: 'query', required: true, schema: { type: 'string' } },
        ],
        responses: {
          200: {
            description: 'Them.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: { items: { type: 'array', items: refundSchema } },
                },
              },
            },
          },
        },
      },
      post: {
        operationId: 'createRefund',
        summary: 'Refunds an order.',
        parameters: [
          { name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['orderId', 'amount'],
                properties: {
                  orderId: { type: 'string' },
                  amount: { type: 'number', minimum: 0 },
                  reference: { type: 'string' },
                },
              },
            },
          },
        },
        responses: {
          201: { description: 'Made.', content: { 'application/json': { schema: refundSchema } } },
          204: { description: 'Nothing to do.' },
        },
      },
    },
    '/note': {
      get: {
        operationId: 'note',
        summary: 'A text.',
        responses: { 200: { description: 'It.', content: { 'text/plain': {} } } },
      },
    },
  },
}

const getOrder = { operation: 'getOrder', tool: 'get_order', effect: 'read' } as const
const createRefund = {
  operation: 'createRefund',
  tool: 'create_refund',
  effect: 'write',
  idempotency: { header: 'Idempotency-Key' },
} as const

/** The tools of a source that asks this service, by name. */
async function openDesk(
  service: { readonly url: string; readonly host: string },
  operations: SourceDeclaration['operations'],
  more: object = {},
): Promise<ReadonlyMap<string, Tool>> {
  const folder = await mkdtemp(join(tmpdir(), 'stepwarden-source-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'desk.json'), JSON.stringify(document))
  const source = {
    name: 'desk',
    openapi: 'desk.json',
    server: `${service.url}/api/`,
    allowPrivate: [service.host],
    operations,
    ...more,
  }
  const { tools, close } = await openSources([source], 'test', { folder, isRunning: true })
  onTestFinished(close)
  return new Map(tools.map((tool) => [tool.contract.name, tool]))
}

function contextOf(signal = new AbortController().signal): ToolContext {
  return {
    idempotencyKey: 'key-1',
    signal,
    tenantId: 'default',
    executionId: newId('execution', 0),
    principal: { id: 'kim', kind: 'human', roles: ['agent'], groups: [], tenantId: 'default' },
  }
}

/** Calls a tool as the executor does: what goes in is checked. */
async function call(
  tools: ReadonlyMap<string, Tool>,
  name: string,
  input: JsonObject,
  traced: Pick<ToolContext, 'traceparent'> = {},
) {
  const tool = tools.get(name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  expect(compileSchema(tool.contract.input).problems(input)).toEqual([])
  return tool.run(input, { ...contextOf(), ...traced })
}

/** What came of a call that did not go well: `refused`, `failed` or `unknown`, and the message. */
async function outcome(tools: ReadonlyMap<string, Tool>, name: string, input: JsonObject) {
  try {
    return { result: 'done', output: await call(tools, name, input) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { result: certainFailure(error) ?? 'unknown', message }
  }
}

describe('a call', () => {
  it('is sent as the document says', async () => {
    vi.stubEnv('DESK_KEY', 'the-desk-key')
    const service = await serveOutside((_request, response) =>
      answerJson(response, { id: 'o', total: 3 }),
    )
    const tools = await openDesk(service, [getOrder], {
      credentials: { header: { name: 'X-Api-Key', secret: 'DESK_KEY' } },
    })

    const output = await call(tools, 'get_order', {
      orderId: 'A/1 ü?',
      fields: ['a', 'b&c'],
      tags: ['x', 'y'],
      'X-Region': 'eu',
    })

    expect(output).toEqual({ id: 'o', total: 3 })
    expect(service.seen).toEqual([
      expect.objectContaining({
        method: 'GET',
        path: '/api/orders/A%2F1%20%C3%BC%3F?fields=a&fields=b%26c&tags=x%2Cy',
        headers: expect.objectContaining({ 'x-region': 'eu', 'x-api-key': 'the-desk-key' }),
        body: '',
      }),
    ])
  })

  it('says which trace it belongs to, where it is traced', async () => {
    const service = await serveOutside((_request, response) =>
      answerJson(response, { id: 'r', state: 'submitted' }, 201),
    )
    const tools = await openDesk(service, [createRefund])
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    const input = { orderId: 'o', amount: 5 }

    await call(tools, 'create_refund', input, { traceparent })
    await call(tools, 'create_refund', input)

    expect(service.seen.map(({ headers }) => headers.traceparent)).toEqual([traceparent, undefined])
  })

  it('of a write has the body, and the key where it belongs', async () => {
    const service = await serveOutside((_request, response) =>
      answerJson(response, { id: 'r', state: 'submitted', secretNote: 'x' }, 201),
    )
    const tools = await openDesk(service, [createRefund])

    const output = await call(tools, 'create_refund', { orderId: 'o', amount: 5 })

    // What the document does not name is not taken over.
    expect(output).toEqual({ id: 'r', state: 'submitted' })
    const [seen] = service.seen
    expect(JSON.parse(seen?.body ?? '')).toEqual({ orderId: 'o', amount: 5 })
    expect(seen?.headers).toMatchObject({
      'idempotency-key': 'key-1',
      'content-type': 'application/json',
    })
    expect(tools.get('create_refund')?.contract).toMatchObject({
      effect: 'write',
      idempotent: true,
    })
  })

  it('may have its key in a field of the body', async () => {
    const service = await serveOutside((_request, response) => void response.writeHead(204).end())
    const key = { field: 'reference', repeat: false }
    const tools = await openDesk(service, [
      { ...createRefund, idempotency: key, input: ['orderId', 'amount', 'Idempotency-Key'] },
    ])
    const { contract } = tools.get('create_refund') ?? {}

    const input = { orderId: 'o', amount: 5, 'Idempotency-Key': 'mine' }
    expect(await call(tools, 'create_refund', input)).toEqual({})

    expect(JSON.parse(service.seen[0]?.body ?? '')).toEqual({
      orderId: 'o',
      amount: 5,
      reference: 'key-1',
    })
    expect(Object.keys(Object(contract?.input.properties))).not.toContain('reference')
    expect(contract?.idempotent).toBe(false)
  })

  it('may be answered with a text', async () => {
    const service = await serveOutside((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end('hällo')
    })
    const tools = await openDesk(service, [
      { operation: 'GET /note', tool: 'note', effect: 'read' },
    ])

    expect(await call(tools, 'note', {})).toBe('hällo')
  })

  it.each(['..', '.', '', '../refunds', '..%2f', 'a/../../b', '%2e%2e'])(
    'never leads to another path: %s',
    async (orderId) => {
      const service = await serveOutside((_request, response) => answerJson(response, {}))
      const tools = await openDesk(service, [getOrder], {
        credentials: { header: { name: 'X-Api-Key', secret: 'PATH' } },
      })

      const { result } = await outcome(tools, 'get_order', { orderId })

      const paths = service.seen.map(({ path }) => path)
      expect(paths).toEqual(
        result === 'refused' ? [] : [`/api/orders/${encodeURIComponent(orderId)}`],
      )
    },
  )
})

describe('what came of a call', () => {
  it.each<[number, string, string]>([
    [400, 'refused', 'answered 400: (BAD) not like that'],
    [401, 'refused', 'answered 401'],
    [404, 'refused', 'answered 404'],
    [409, 'refused', 'answered 409'],
    [422, 'refused', 'answered 422'],
    [408, 'failed', 'answered 408'],
    [429, 'failed', 'answered 429'],
    [302, 'unknown', 'answered 302'],
    [500, 'unknown', 'answered 500'],
    [503, 'unknown', 'answered 503'],
    [206, 'unknown', 'answered 206, which is not described'],
  ])('is told by the status: %i is %s', async (status, result, message) => {
    const service = await serveOutside((_request, response) => {
      response.setHeader('location', 'http://169.254.169.254/')
      answerJson(response, { code: 'BAD', message: 'not like that' }, status)
    })
    const tools = await openDesk(service, [createRefund])

    const came = await outcome(tools, 'create_refund', { orderId: 'o', amount: 5 })

    expect(came).toMatchObject({ result, message: expect.stringContaining(message) })
    expect(service.seen).toHaveLength(1)
  })

  it.each<[string, (response: import('node:http').ServerResponse) => void, string]>([
    [
      'another content type',
      (response) => response.writeHead(201, { 'content-type': 'text/html' }).end('<p>'),
      'and no JSON',
    ],
    ['no content type', (response) => response.writeHead(201).end('{}'), 'no content type'],
    [
      'malformed JSON',
      (response) => response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":'),
      'malformed JSON',
    ],
    [
      'one name twice',
      (response) =>
        response
          .writeHead(201, { 'content-type': 'application/json' })
          .end('{"id":"1","state":"done","id":"2"}'),
      'malformed JSON',
    ],
    [
      'too much',
      (response) => answerJson(response, { id: 'x'.repeat(5_000_000), state: 'done' }, 201),
      'more than',
    ],
    [
      'half of it',
      (response) =>
        response
          .writeHead(201, { 'content-type': 'application/json', 'content-length': '100' })
          .write('{', () => response.destroy()),
      'cut off',
    ],
    ['nothing', (response) => response.destroy(), 'gave no answer'],
    ['nothing in time', () => {}, 'time limit'],
  ])('is unknown where it is answered with %s', async (_what, answer, message) => {
    const service = await serveOutside((_request, response) => answer(response))
    const tools = await openDesk(service, [{ ...createRefund, timeout: '1s' }])

    const came = await outcome(tools, 'create_refund', { orderId: 'o', amount: 5 })

    expect(came).toMatchObject({ result: 'unknown', message: expect.stringContaining(message) })
  })

  it('is failed where nobody listens', async () => {
    const service = await serveOutside(() => {})
    const tools = await openDesk(service, [createRefund])
    await service.stop()

    const came = await outcome(tools, 'create_refund', { orderId: 'o', amount: 5 })

    expect(came).toMatchObject({
      result: 'failed',
      message: expect.stringContaining('not reached'),
    })
  })

  it('is told without what a service should not have said', async () => {
    vi.stubEnv('DESK_TOKEN', 'a-very-secret-token')
    const service = await serveOutside((request, response) => {
      const { authorization = '' } = request.headers
      const text = `bad token\u0000 ${authorization}\n\u001b[31m${'x'.repeat(5_000)}`
      if (request.path.includes('done')) answerJson(response, { id: authorization })
      else answerJson(response, { error: { code: 'AUTH', message: text } }, 403)
    })
    const tools = await openDesk(service, [{ ...getOrder, input: ['orderId', 'X-Api-Key'] }], {
      credentials: { bearer: { secret: 'DESK_TOKEN' } },
    })

    const { message = '' } = await outcome(tools, 'get_order', { orderId: 'o', 'X-Api-Key': 'k' })
    const output = await call(tools, 'get_order', { orderId: 'done', 'X-Api-Key': 'k' })

    expect(service.seen[0]?.headers.authorization).toBe('Bearer a-very-secret-token')
    expect(message).toContain('(AUTH) bad token Bearer [secret] ')
    expect(message.length).toBeLessThan(400)
    expect(message).not.toMatch(/\p{C}/u)
    expect(output).toEqual({ id: 'Bearer [secret]' })
  })
})

describe('a write whose outcome is unknown', () => {
  const lookup = {
    operation: 'findRefunds',
    key: 'reference',
    list: 'items',
    within: '5s',
  } as const
  const declared = {
    ...createRefund,
    idempotency: { field: 'reference', repeat: false },
    input: ['orderId', 'amount', 'Idempotency-Key'],
    lookup,
  }
  const input = { orderId: 'o', amount: 5, 'Idempotency-Key': 'k' }

  it('is done when the service, back again, knows of it', async () => {
    const made: string[] = []
    const service = await serveOutside((request, response) => {
      if (request.method === 'POST') {
        made.push(JSON.parse(request.body).reference)
        // Ended in the middle of it, after the act and before the answer.
        void service.stop().then(() => setTimeout(() => void service.start(), 500))
        return
      }
      const { searchParams } = new URL(request.path, service.url)
      const reference = searchParams.get('reference')
      const items = made
        .filter((one) => one === reference)
        .map((id) => ({ id, state: 'done', other: 1 }))
      answerJson(response, { items })
    })
    const tools = await openDesk(service, [declared])

    expect(await call(tools, 'create_refund', input)).toEqual({ id: 'key-1', state: 'done' })
    expect(service.seen.filter(({ method }) => method === 'POST')).toHaveLength(1)
    expect(tools.get('create_refund')?.contract.timeoutMs).toBe(35_000)
  })

  it.each<[string, unknown, string]>([
    [
      'does not know it',
      { items: [] },
      'nothing of it was found, which does not show that it was not done',
    ],
    [
      'knows two',
      {
        items: [
          { id: '1', state: 'done' },
          { id: '2', state: 'done' },
        ],
      },
      '2 were found',
    ],
    ['answers with something else', { items: [{ id: 1 }] }, 'does not fit the output'],
    ['has no such list', {}, "no list 'items'"],
  ])('stays unknown when the service %s', async (_what, answer, message) => {
    const service = await serveOutside((request, response) => {
      if (request.method === 'POST') response.destroy()
      else answerJson(response, answer)
    })
    const tools = await openDesk(service, [{ ...declared, lookup: { ...lookup, within: '1s' } }])

    const came = await outcome(tools, 'create_refund', input)

    expect(came).toMatchObject({ result: 'unknown', message: expect.stringContaining(message) })
    expect(service.seen.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it('is not looked up when it was certainly not made', async () => {
    const service = await serveOutside((_request, response) => answerJson(response, {}, 422))
    const tools = await openDesk(service, [declared])

    expect(await outcome(tools, 'create_refund', input)).toMatchObject({ result: 'refused' })
    expect(service.seen).toHaveLength(1)
  })

  it.each<[string, unknown, object]>([
    [
      'done when that is with itself',
      { items: [{ id: 'r', state: 'done' }] },
      { result: 'done', output: { id: 'r', state: 'done' } },
    ],
    ['refused when it is with another', { items: [] }, { result: 'refused' }],
  ])('in conflict is %s', async (_what, answer, expected) => {
    const service = await serveOutside((request, response) => {
      if (request.method === 'POST') answerJson(response, { message: 'exists' }, 409)
      else answerJson(response, answer)
    })
    const tools = await openDesk(service, [declared])

    expect(await outcome(tools, 'create_refund', input)).toMatchObject(expected)
  })

  it('is looked for no longer than its step lasts', async () => {
    const service = await serveOutside((request, response) => {
      if (request.method === 'POST') response.destroy()
      else answerJson(response, { items: [] })
    })
    const tools = await openDesk(service, [declared])
    const abort = new AbortController()
    const running = tools.get('create_refund')?.run(input, contextOf(abort.signal))
    const settled = expect(running).rejects.toThrow('gave no answer')
    await expect.poll(() => service.seen.length).toBeGreaterThan(1)

    abort.abort()

    await settled
  })
})
