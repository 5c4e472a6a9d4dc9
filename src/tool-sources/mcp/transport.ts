import {
  getDefaultEnvironment,
  StdioClientTransport,
} from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Outbound, OutboundRequest } from '../../outbound/create-outbound.ts'

/** The most that is read of an answer. What is recorded of it has a limit of its own. */
export const maxAnswerBytes = 4 * 1024 * 1024
/** What is kept of what a server writes beside its answers, to say why it did not start. */
const maxComplaint = 1_000

/** A server that is a process of this machine, spoken to over its standard streams. */
export function commandTransport(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  folder: string,
): { readonly transport: StdioClientTransport; readonly complaint: () => string } {
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    // Of this process's own environment it sees what every program needs, and no secret.
    env: { ...getDefaultEnvironment(), ...environment },
    cwd: folder,
    stderr: 'pipe',
    maxBufferSize: maxAnswerBytes,
  })
  let complaint = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString()}`.slice(-maxComplaint)
  })
  return { transport, complaint: () => complaint.trim() }
}

/** A server that is asked over HTTP (streamable HTTP). Every request goes through the client for other services. */
export function httpTransport(
  url: string,
  headers: Readonly<Record<string, string>>,
  outbound: Outbound,
): Transport {
  // Its types say `undefined` where they mean absent.
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: guardedFetch(headers, outbound),
  }) as Transport
}

const withoutBody = [204, 205, 304]

function guardedFetch(headers: Readonly<Record<string, string>>, outbound: Outbound): FetchLike {
  return async (url, init = {}) => {
    const method = readMethod(init.method)
    // A stream of what the server has to say by itself, which is not listened to.
    if (method === undefined) return new Response(null, { status: 405 })
    const answer = await outbound.send({
      url: String(url),
      method,
      headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers },
      ...(typeof init.body === 'string' && { body: init.body }),
      ...(init.signal && { signal: init.signal }),
    })
    const body = withoutBody.includes(answer.status) ? null : new Uint8Array(answer.body)
    return new Response(body, { status: answer.status, headers: answer.headers })
  }
}

function readMethod(method: string | undefined): OutboundRequest['method'] | undefined {
  return method === 'POST' || method === 'DELETE' ? method : undefined
}
