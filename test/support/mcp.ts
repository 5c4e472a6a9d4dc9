import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { afterAll } from 'vitest'
import type { AppContext } from '../../src/context.ts'
import { createMcpHandler, type McpHandler, type McpHandlerOptions } from '../../src/mcp/http.ts'
import { createMcpServer, type Identify, type McpServerOptions } from '../../src/mcp/server.ts'

/** What a failed call carries for programs. */
export interface ToldFailure {
  readonly code: string
  readonly kind: string
  readonly message: string
  readonly retryable: boolean
}

/** A client of the SDK, connected to a server in this process. It has read the list of tools, so it checks every answer. */
export async function connectInProcess(
  app: AppContext,
  identify: Identify,
  options?: McpServerOptions,
): Promise<Client> {
  const [own, other] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1' })
  await createMcpServer(app, identify, options).connect(other)
  await client.connect(own)
  await client.listTools()
  return client
}

/** Where a handler is served, on a port of this machine, until the last test of the file. */
export interface ServedMcp {
  readonly url: URL
  readonly handler: McpHandler
}

/** `reads`: whoever mounts the handler reads the body, and hands it over parsed. */
export async function serveMcp(
  app: AppContext,
  { reads = false, ...options }: McpHandlerOptions & { readonly reads?: boolean } = {},
): Promise<ServedMcp> {
  const handler = createMcpHandler(app, options)
  const server = createServer(async (request, response) => {
    const body = reads && request.method === 'POST' ? await json(request) : undefined
    await handler.handle(request, response, body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(async () => {
    await handler.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port }: AddressInfo = Object(server.address())
  return { url: new URL(`http://127.0.0.1:${port}/mcp`), handler }
}

/** A client of the SDK that sends a key with everything. */
export async function connectHttp({ url }: Pick<ServedMcp, 'url'>, key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { Authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  await client.listTools()
  return client
}

/** Calls a tool. */
export async function call(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
  options: Parameters<Client['callTool']>[2] = {},
): Promise<CallToolResult> {
  // What the SDK answers here is of this type unless an older schema is given to it.
  return (await client.callTool({ name, arguments: input }, undefined, options)) as CallToolResult
}

export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** The failure that a call has answered; undefined for one that went well. */
export function failureOf({ isError, _meta }: CallToolResult): ToldFailure | undefined {
  return isError === true ? Object(_meta?.['stepwarden/error']) : undefined
}
