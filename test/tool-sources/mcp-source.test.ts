import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import { certainFailure, type Tool } from '../../src/domain/tool.ts'
import { openSources } from '../../src/tool-sources/open-sources.ts'
import { createMcpDesk } from '../support/mcp-desk.ts'
import { serveListener } from '../support/outside-service.ts'

const serverFile = new URL('../support/mcp-desk-process.ts', import.meta.url).pathname
const tsx = new URL('../../node_modules/tsx/dist/cli.mjs', import.meta.url).pathname

const operations = [
  { operation: 'get_order', tool: 'get_order', effect: 'read', timeout: '5s', input: ['orderId'] },
  { operation: 'say', tool: 'say', effect: 'read' },
  {
    operation: 'create_refund',
    tool: 'create_refund',
    effect: 'write',
    idempotency: { field: 'reference', repeat: false },
    lookup: { operation: 'find_refunds', key: 'reference', list: 'items', within: '20s' },
  },
] as const

async function newLedger(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stepwarden-mcp-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'ledger')
}

async function open(source: object): Promise<ReadonlyMap<string, Tool>> {
  const opened = await openSources([{ name: 'desk', operations, ...source }], 'test', {
    folder: '.',
    isRunning: true,
  })
  onTestFinished(opened.close)
  return new Map(opened.tools.map((tool) => [tool.contract.name, tool]))
}

function command(ledger: string) {
  vi.stubEnv('DESK_TOKEN', 'a-very-secret-token')
  return {
    mcp: {
      command: process.execPath,
      args: [tsx, serverFile, ledger],
      env: { DESK_TOKEN: { secret: 'DESK_TOKEN' } },
    },
  }
}

async function outcome(
  tools: ReadonlyMap<string, Tool>,
  name: string,
  input: JsonObject,
  signal = new AbortController().signal,
  traceparent?: string,
) {
  const context = {
    idempotencyKey: 'key-1',
    signal,
    tenantId: 'default',
    executionId: newId('execution', 0),
    principal: { id: 'kim', kind: 'human', roles: ['agent'], groups: [], tenantId: 'default' },
    ...(traceparent !== undefined && { traceparent }),
  } as const
  try {
    return { result: 'done', output: await tools.get(name)?.run(input, context) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { result: certainFailure(error) ?? 'unknown', message }
  }
}

describe('a server that is a command', () => {
  it('offers what is listed, and is called', async () => {
    const tools = await open(command(await newLedger()))

    expect([...tools.keys()]).toEqual(['get_order', 'say', 'create_refund'])
    expect(tools.get('get_order')?.contract).toMatchObject({
      description: 'Looks an order up.',
      input: {
        type: 'object',
        properties: { orderId: { type: 'string' } },
        required: ['orderId'],
        additionalProperties: false,
      },
      output: {
        properties: { id: { type: 'string' }, total: { type: 'number' } },
        additionalProperties: false,
      },
      origin: { kind: 'mcp', server: 'desk', tool: 'get_order' },
    })
    expect(tools.get('create_refund')?.contract).toMatchObject({
      idempotent: false,
      input: { properties: { orderId: {} }, required: ['orderId'] },
    })
    expect(await outcome(tools, 'get_order', { orderId: 'o' })).toEqual({
      result: 'done',
      output: { id: 'o', total: 3 },
    })
    expect(await outcome(tools, 'say', { text: 'a' })).toEqual({
      result: 'done',
      output: { text: 'said a' },
    })
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    expect(await outcome(tools, 'say', { text: 'a' }, undefined, traceparent)).toEqual({
      result: 'done',
      output: { text: `said a in ${traceparent}` },
    })
    expect(await outcome(tools, 'create_refund', { orderId: 'o' })).toEqual({
      result: 'done',
      output: { id: 'key-1', state: 'done' },
    })
  })

  it('says no, and no secret of what it says is kept', async () => {
    const tools = await open(command(await newLedger()))

    expect(await outcome(tools, 'get_order', { orderId: 'none' })).toEqual({
      result: 'refused',
      message:
        "'get_order' of desk answered with an error: no such order, asked with [secret] [31m",
    })
    expect(await outcome(tools, 'get_order', { orderId: 3 })).toMatchObject({ result: 'refused' })
  })

  it('that goes away in the middle of a read is started again for the next', async () => {
    const tools = await open(command(await newLedger()))

    expect(await outcome(tools, 'get_order', { orderId: 'exit' })).toMatchObject({
      result: 'unknown',
      message: expect.stringContaining('Connection closed'),
    })
    expect(await outcome(tools, 'get_order', { orderId: 'o' })).toMatchObject({ result: 'done' })
  })

  it('that goes away in the middle of a write is asked what became of it', async () => {
    const ledger = await newLedger()
    const tools = await open(command(ledger))

    expect(await outcome(tools, 'create_refund', { orderId: 'exit' })).toEqual({
      result: 'done',
      output: { id: 'key-1', state: 'done' },
    })
    expect(await readFile(ledger, 'utf8')).toBe('key-1\n')
  })

  it('that takes too long leaves the outcome unknown', async () => {
    const tools = await open(command(await newLedger()))
    const signal = AbortSignal.timeout(300)

    expect(await outcome(tools, 'get_order', { orderId: 'hang' }, signal)).toMatchObject({
      result: 'unknown',
    })
    expect(await outcome(tools, 'get_order', { orderId: 'o' })).toMatchObject({ result: 'done' })
  })

  it('that has other tools after a restart is not called', async () => {
    const ledger = await newLedger()
    const tools = await open(command(ledger))
    await writeFile(`${ledger}.changed`, '')
    await outcome(tools, 'get_order', { orderId: 'exit' })

    expect(await outcome(tools, 'get_order', { orderId: 'o' })).toEqual({
      result: 'refused',
      message:
        "'get_order' of desk is not what it was when this process started; restart it to read it anew",
    })
    expect(await outcome(tools, 'say', { text: 'a' })).toMatchObject({ result: 'done' })
  })

  it('that does not start is unavailable, and says why', async () => {
    const { mcp } = command(await newLedger())

    await expect(open({ mcp: { ...mcp, env: {} } })).rejects.toMatchObject({
      code: 'SOURCE_UNAVAILABLE',
      message: expect.stringContaining('this desk needs a DESK_TOKEN'),
    })
    await expect(open({ mcp: { command: 'no-such-command' } })).rejects.toMatchObject({
      code: 'SOURCE_UNAVAILABLE',
    })
  })
})

/** The same server over HTTP, with sessions. Stopped and started again it knows none of them. */
async function serveMcp(ledger: string) {
  let sessions = new Map<string, StreamableHTTPServerTransport>()
  const seen: IncomingMessage['headers'][] = []
  const service = await serveListener(
    async (request: IncomingMessage, response: ServerResponse) => {
      seen.push(request.headers)
      if (request.headers.authorization !== 'Bearer a-very-secret-token') {
        return void response.writeHead(401).end()
      }
      const { 'mcp-session-id': id } = request.headers
      const known = typeof id === 'string' ? sessions.get(id) : undefined
      if (id !== undefined && known === undefined) return void response.writeHead(404).end()
      let transport = known
      if (transport === undefined) {
        const created = new StreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          onsessioninitialized: (session) => void sessions.set(session, created),
        })
        // Its types say `undefined` where they mean absent.
        await createMcpDesk({ ledger }).connect(
          created as Parameters<ReturnType<typeof createMcpDesk>['connect']>[0],
        )
        transport = created
      }
      await transport.handleRequest(request, response)
    },
  )
  const forgetSessions = () => {
    sessions = new Map()
  }
  return { ...service, seen, forgetSessions }
}

describe('a server at a URL', () => {
  const source = ({ url, host }: { url: string; host: string }) => {
    vi.stubEnv('DESK_TOKEN', 'a-very-secret-token')
    return {
      mcp: { url: `${url}/mcp` },
      allowPrivate: [host],
      credentials: { bearer: { secret: 'DESK_TOKEN' } },
    }
  }

  it('offers what is listed, and is called', async () => {
    const service = await serveMcp(await newLedger())
    const tools = await open(source(service))

    expect(tools.get('say')?.contract.origin).toMatchObject({ server: `${service.url}/mcp` })
    expect(await outcome(tools, 'get_order', { orderId: 'o' })).toEqual({
      result: 'done',
      output: { id: 'o', total: 3 },
    })
    expect(await outcome(tools, 'get_order', { orderId: 'none' })).toMatchObject({
      result: 'refused',
      message: expect.not.stringContaining('a-very'),
    })
  })

  it('that has forgotten the session is given another', async () => {
    const service = await serveMcp(await newLedger())
    const tools = await open(source(service))
    service.forgetSessions()

    expect(await outcome(tools, 'create_refund', { orderId: 'o' })).toMatchObject({
      result: 'done',
    })
  })

  it('that is gone was not reached, and is called again when it is back', async () => {
    const service = await serveMcp(await newLedger())
    const tools = await open(source(service))
    await service.stop()

    expect(await outcome(tools, 'get_order', { orderId: 'o' })).toMatchObject({ result: 'failed' })
    await service.start()
    expect(await outcome(tools, 'get_order', { orderId: 'o' })).toMatchObject({ result: 'done' })
  })

  it('that goes away in the middle of a call leaves it unknown', async () => {
    const service = await serveMcp(await newLedger())
    const tools = await open(source(service))
    const calls = service.seen.length

    const running = outcome(tools, 'get_order', { orderId: 'hang' })
    await expect.poll(() => service.seen.length).toBeGreaterThan(calls)
    await service.stop()

    expect(await running).toMatchObject({ result: 'unknown' })
  })

  it('that lets nobody in is unavailable', async () => {
    const service = await serveMcp(await newLedger())
    const { credentials: _none, ...open401 } = source(service)

    await expect(open(open401)).rejects.toMatchObject({ code: 'SOURCE_UNAVAILABLE' })
  })

  it('is asked at no other address', async () => {
    const service = await serveListener((_request, response) => {
      response.writeHead(307, { location: 'http://169.254.169.254/mcp' }).end()
    })

    await expect(open(source(service))).rejects.toMatchObject({ code: 'SOURCE_UNAVAILABLE' })
  })
})

test('everything that is wrong is told at once', async () => {
  const ledger = await newLedger()
  const { mcp } = command(ledger)
  const [getOrder] = operations
  const opening = openSources(
    [
      {
        name: 'a',
        mcp,
        operations: [
          { ...getOrder, operation: 'get_ordr' },
          { ...operations[2], idempotency: { header: 'Key' } },
          {
            ...operations[2],
            tool: 'b',
            lookup: { operation: 'find', key: 'k', with: { x: 'y' } },
          },
          { ...operations[2], tool: 'c', idempotency: { field: 'ref' } },
        ],
      },
      {
        name: 'b',
        mcp: { command: 'x', url: 'https://y.example' },
        operations: [{ ...getOrder, tool: 'd' }],
      },
      { name: 'c', mcp: { url: 'http://y.example' }, operations: [{ ...getOrder, tool: 'e' }] },
      {
        name: 'd',
        mcp: { command: 'x', env: { A: { secret: 'NOT_SET_HERE' } } },
        credentials: { bearer: { secret: 'PATH' } },
        operations: [{ ...getOrder, tool: 'f' }],
      },
    ],
    'test',
    { folder: '.', isRunning: true },
  )

  await expect(opening).rejects.toMatchObject({ code: 'SOURCES_INVALID' })
  for (const text of [
    "sources[0].operations[0].operation: the server has no tool 'get_ordr'. Did you mean 'get_order'?",
    'sources[0].operations[1].idempotency.header: a tool of MCP takes its key as an argument',
    "sources[0].operations[2].lookup.operation: the server has no tool 'find'.",
    "sources[0].operations[2].lookup.with.x: the operation's input has no 'y'.",
    "sources[0].operations[3]: #/properties the tool has no argument 'ref' that could take the idempotency key",
    'sources[1].mcp: names the command that starts the server, or the url where it is: one of them',
    "sources[2].mcp.url: http://y.example is not asked without TLS, unless y.example stands in 'allowPrivate'",
    'sources[3].mcp.env.A.secret: the environment has no NOT_SET_HERE',
    "sources[3].credentials: are sent over HTTP; give a command what it needs in 'env'",
  ]) {
    await expect(opening).rejects.toThrow(text)
  }
})
