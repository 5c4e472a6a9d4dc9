import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type CallToolResult, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import type { Json, JsonObject } from '../../domain/json.ts'
import { certainFailure, ToolFailed, ToolRefused } from '../../domain/tool.ts'
import { OutboundFailure } from '../../outbound/failure.ts'
import type { Mask } from '../credentials.ts'
import { failureError, oneLine, statusError } from '../outcome.ts'
import type { McpConnection } from './connection.ts'

export interface McpAsking {
  /** What the server is called in messages. */
  readonly name: string
  readonly connection: McpConnection
  readonly mask: Mask
}

export interface McpCall {
  readonly tool: string
  readonly input: JsonObject
  /** Whether the tool says what its answers look like; else they are text. */
  readonly isStructured: boolean
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Absent where the call is not traced. */
  readonly traceparent?: string | undefined
}

/** What a server says to a call that it does not take. Of any other error nobody knows what was done. */
const refusals: readonly number[] = [
  ErrorCode.InvalidRequest,
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidParams,
]

/**
 * Calls a tool of a server once. What the server itself marks as an error is a refusal.
 *
 * @throws ToolRefused, ToolFailed when it certainly came to nothing; any other error when nobody knows.
 */
export async function callServer(asking: McpAsking, call: McpCall): Promise<Json> {
  const { name, mask } = asking
  const result = await request(asking, call)
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  if (result.isError === true) {
    const said = oneLine(texts.join(' '), mask)
    throw new ToolRefused(`'${call.tool}' of ${name} answered with an error: ${said}`)
  }
  if (!call.isStructured) return { text: mask(texts.join('\n')) }
  if (result.structuredContent !== undefined) {
    return JSON.parse(mask(JSON.stringify(result.structuredContent)))
  }
  throw new Error(`'${call.tool}' of ${name} answered without the structured content it promises`)
}

async function request(asking: McpAsking, call: McpCall): Promise<CallToolResult> {
  const { connection } = asking
  try {
    return await connection.call(call.tool, call.input, call)
  } catch (error) {
    // Whatever the server has against the request, the session may be the reason.
    if (error instanceof StreamableHTTPError) await connection.forget()
    if (!isSessionGone(error)) throw outcomeOf(error, asking)
  }
  // The server has forgotten the session, and did not look at the call.
  try {
    return await connection.call(call.tool, call.input, call)
  } catch (error) {
    throw outcomeOf(error, asking)
  }
}

function isSessionGone(error: unknown): boolean {
  return error instanceof StreamableHTTPError && error.code === 404
}

function outcomeOf(error: unknown, { name, mask }: McpAsking): unknown {
  if (certainFailure(error) !== undefined) return error
  if (error instanceof OutboundFailure) return failureError(name, error)
  if (error instanceof StreamableHTTPError && error.code !== undefined && error.code >= 300) {
    return statusError(name, error.code, '')
  }
  const message = oneLine(error instanceof Error ? error.message : String(error), mask)
  if (error instanceof McpError && refusals.includes(error.code)) {
    return new ToolRefused(`${name} refused the call: ${message}`)
  }
  // Said before anything is written to a server that is gone.
  if (message === 'Not connected') return new ToolFailed(`${name} was not reached: it is gone`)
  return new Error(`${name} gave no answer: ${message}`, { cause: error })
}
