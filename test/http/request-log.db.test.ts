import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { keyFor, openTestDoor } from '../support/http.ts'

const lines: Record<string, unknown>[] = []
const logStream = { write: (line: string) => void lines.push(JSON.parse(line)) }
const { app } = await openTestApp({ logStream }, {}, 'debug')
const door = await openTestDoor(app)
let key = ''

beforeAll(async () => {
  await seedProcedures(app)
  key = await keyFor(app, 'kim', ['agent'])
})

beforeEach(() => {
  lines.length = 0
})

/** The lines that say of a request that it was answered, once there are so many. */
const answered = (count = 1) =>
  expect
    .poll(() => lines.filter(({ msg }) => msg === 'a request was answered'))
    .toHaveLength(count)
    .then(() => lines.filter(({ msg }) => msg === 'a request was answered'))

const levels = { debug: 20, info: 30, warn: 40, error: 50 }

describe('the line of a request', () => {
  it('says what was asked by whom, how it went, and which run that was about', async () => {
    const ticket = { text: 'I was charged twice for TXN-DUP-002' }
    const headers = { 'x-request-id': 'order-7.1' }
    const { headers: came, body } = await door.call('POST /v1/resolve', {
      ...{ key, body: { ticket }, headers },
    })

    expect(came.get('x-request-id')).toBe('order-7.1')
    expect(await answered()).toEqual([
      {
        level: levels.info,
        time: expect.any(String),
        requestId: 'order-7.1',
        method: 'POST',
        route: '/v1/resolve',
        status: 200,
        durationMs: expect.any(Number),
        tenantId: 'default',
        principalId: 'kim',
        executionId: body.execution.id,
        msg: 'a request was answered',
      },
    ])
  })

  it('has the run that a path names, and no more of it', async () => {
    await door.call('GET /v1/executions/exec_0123456789abcdefghjkm?secret=1', { key })

    const [line] = await answered()

    expect(line).toMatchObject({
      route: '/v1/executions/{executionId}',
      executionId: 'exec_0123456789abcdefghjkm',
    })
    expect(JSON.stringify(line)).not.toContain('secret')
  })

  it.each([
    ['GET /v1/me', 'key', 200, 'info'],
    ['GET /v1/keys', 'key', 403, 'warn'],
    ['GET /v1/me', undefined, 401, 'warn'],
    ['GET /v1/procedures/NOT_THERE', 'key', 404, 'info'],
    ['GET /healthz', undefined, 200, 'debug'],
  ] as const)(
    'of %s with %s, answered %i, is at level %s after it',
    async (request, who, status, level) => {
      await door.call(request, who === undefined ? {} : { key })

      expect(await answered()).toMatchObject([{ status, level: levels[level] }])
    },
  )

  it('has an id of ours where that of the client could not stand in a log', async () => {
    for (const id of ['a b', 'x'.repeat(65), '{"a":1}', 'ü']) {
      const headers = { 'x-request-id': Buffer.from(id).toString('latin1') }
      const { headers: came } = await door.call('GET /healthz', { headers })
      expect(came.get('x-request-id')).toMatch(/^req_/)
    }
  })

  it('is there for a client that went away before it was answered', async () => {
    const started = new Promise<void>((resolve) => {
      const request = httpRequest(`${door.url}/v1/procedures`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          'content-length': 100,
        },
      })
      request.on('error', () => {})
      request.write('{', () =>
        setTimeout(() => {
          request.destroy()
          resolve()
        }, 100),
      )
    })
    await started

    expect(await answered()).toMatchObject([
      { route: '/v1/procedures', status: 499, tenantId: 'default' },
    ])
  })

  it('is the one of its stream of events, when that ends', async () => {
    const body = {
      procedureKey: 'DUPLICATE_CHARGE_PLAYBOOK',
      input: { transactionId: 'TXN-DUP-002' },
    }
    const { body: run } = await door.call('POST /v1/executions', { key, body })
    await door.call(`GET /v1/executions/${run.execution.id}/events`, { key })

    expect((await answered(2))[1]).toMatchObject({
      ...{ route: '/v1/executions/{executionId}/events', status: 200 },
      ...{ principalId: 'kim', executionId: run.execution.id },
    })
  })
})

it('what fails behind an answer has the ids of the request in its line', async () => {
  const { app: own } = await openTestApp(
    {
      logStream,
      replyModel: {
        name: 'gpt-test',
        timeouts: { replyMs: 1_000, inputMs: 1_000 },
        answer: () => Promise.reject(new Error('no')),
      },
    },
    {},
    'warn',
  )
  await seedProcedures(own)
  const other = await openTestDoor(own)
  const ticket = { text: 'I was charged twice for TXN-DUP-002' }
  const { body } = await other.call('POST /v1/resolve', {
    ...{ key: await keyFor(own, 'lee', ['agent']), body: { ticket } },
    headers: { 'x-request-id': 'order-8' },
  })

  expect(lines).toContainEqual(
    expect.objectContaining({
      msg: 'the reply model gave no answer',
      ...{ requestId: 'order-8', tenantId: 'default', executionId: body.execution.id },
    }),
  )
})

it('a client that goes away while it sends is no failure of the service', async () => {
  const url = new URL(door.url)
  const socket = connect(Number(url.port), url.hostname)
  socket.write(
    `POST /v1/search HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"issue":`,
  )
  await new Promise((resolve) => setTimeout(resolve, 100))
  socket.destroy()

  const [line] = await answered()

  expect(line).toMatchObject({ route: '/v1/search', status: 499, level: levels.info })
  expect(lines.filter(({ level }) => Number(level) > levels.info)).toEqual([])
})
