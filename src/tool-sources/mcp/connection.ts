import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  type CallToolResult,
  CallToolResultSchema,
  ListToolsResultSchema,
  type Tool as McpTool,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { hashOf } from '../../domain/canonical.ts'
import type { JsonObject } from '../../domain/json.ts'
import { ToolFailed, ToolRefused } from '../../domain/tool.ts'

/** How long a server may take to start and to say what it offers. */
const startTimeoutMs = 20_000
/** Servers list their tools in pages; one that never comes to an end is left. */
const maxPages = 100

/** A server, connected to when it is needed, and again when it went away. */
export interface McpConnection {
  /** The tools that it offered when it was first asked. */
  readonly listTools: () => Promise<ReadonlyMap<string, McpTool>>
  /**
   * Calls a tool once. Whatever it throws before the call was sent is `ToolFailed` or `ToolRefused`; a tool that is not
   * what it was when it was first listed is refused.
   */
  readonly call: (
    tool: string,
    input: JsonObject,
    options: {
      readonly signal: AbortSignal
      readonly timeoutMs: number
      readonly traceparent?: string | undefined
    },
  ) => Promise<CallToolResult>
  /** Lets go of a connection that is of no use any more: the next call makes another. */
  readonly forget: () => Promise<void>
  readonly close: () => Promise<void>
}

interface Connected {
  readonly client: Client
  readonly transport: Transport
  /** What the server offers now; absent when it said that this has changed. */
  tools: ReadonlyMap<string, McpTool> | undefined
}

/** `open` makes a transport that was not started yet. */
export function createConnection(name: string, open: () => Transport): McpConnection {
  let first: ReadonlyMap<string, McpTool> | undefined
  let current: Promise<Connected> | undefined

  const connect = async (): Promise<Connected> => {
    const transport = open()
    const client = new Client({ name: 'stepwarden', version: '1' })
    const connected: Connected = { client, transport, tools: undefined }
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      connected.tools = undefined
    })
    try {
      await client.connect(transport, { timeout: startTimeoutMs })
      connected.tools = await listAll(client)
      return connected
    } catch (error) {
      await client.close().catch(() => {})
      throw error
    }
  }

  const connection = async (): Promise<Connected> => {
    if (current === undefined) {
      const opening = connect()
      current = opening
      // Whatever ends it, the next call connects anew.
      const forget = () => {
        if (current === opening) current = undefined
      }
      opening.then(({ client }) => {
        client.onclose = forget
      }, forget)
    }
    return current
  }

  return {
    async listTools() {
      const { tools } = await connection()
      first ??= tools ?? new Map()
      return first
    },
    async call(tool, input, { signal, timeoutMs, traceparent }) {
      const { client } = await readyFor(tool)
      // Where the protocol has a place for it, whatever the transport is.
      const meta = traceparent === undefined ? undefined : { _meta: { traceparent } }
      return client.request(
        { method: 'tools/call', params: { name: tool, arguments: { ...input }, ...meta } },
        CallToolResultSchema,
        { signal, timeout: timeoutMs },
      )
    },
    async forget() {
      const open = await takeOpen()
      await open?.client.close()
    },
    async close() {
      const open = await takeOpen()
      // Tells a server of HTTP that the session is over; one that is gone needs not know.
      if (open?.transport instanceof StreamableHTTPClientTransport) {
        await open.transport.terminateSession().catch(() => {})
      }
      await open?.client.close()
    },
  }

  async function takeOpen(): Promise<Connected | undefined> {
    const open = current
    current = undefined
    return open?.catch(() => undefined)
  }

  async function readyFor(tool: string): Promise<Connected> {
    let connected: Connected
    try {
      connected = await connection()
      connected.tools ??= await listAll(connected.client)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new ToolFailed(`${name} was not reached: ${reason}`, { cause: error })
    }
    const now = connected.tools.get(tool)
    const then = first?.get(tool)
    if (now === undefined || then === undefined || hashOf(now) !== hashOf(then)) {
      throw new ToolRefused(
        `'${tool}' of ${name} is not what it was when this process started; restart it to read it anew`,
      )
    }
    return connected
  }
}

async function listAll(client: Client): Promise<ReadonlyMap<string, McpTool>> {
  const tools = new Map<string, McpTool>()
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const listed = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, {
      timeout: startTimeoutMs,
    })
    for (const tool of listed.tools) tools.set(tool.name, tool)
    cursor = listed.nextCursor
    if (cursor === undefined) return tools
  }
  throw new Error(`it lists its tools in more than ${maxPages} pages`)
}
