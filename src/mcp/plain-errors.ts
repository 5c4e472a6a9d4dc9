import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

/** What the SDK has found wrong with a request, as it puts it into the message of an internal error. */
const issues = z
  .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
  .min(1)

/**
 * Has a request of the wrong form answered as what it is: the SDK reports it as a failure of the server, with the findings of
 * its parser as JSON for a message.
 */
export function tellingPlainly<T extends Transport>(transport: T): T {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => send(plain(message), options)
  return transport
}

function plain(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || message.error.code !== ErrorCode.InternalError) return message
  const problems = findProblems(message.error.message)
  if (problems === undefined) return message
  const list = problems.map(({ path, message: problem }) => `${path}: ${problem}`).join('; ')
  const error = {
    code: ErrorCode.InvalidParams,
    message: `The request does not have the form that the protocol gives it. ${list}. Send it as the Model Context Protocol says.`,
    data: { code: 'REQUEST_INVALID', problems },
  }
  return { ...message, error }
}

function findProblems(text: string) {
  if (!text.startsWith('[')) return undefined
  try {
    const found = issues.safeParse(JSON.parse(text))
    return found.data?.map(({ path, message }) => ({
      path: path.join('.'),
      message: message.replace(/^Invalid input: /, ''),
    }))
  } catch {
    // A message that begins so, and is none of the parser's.
    return undefined
  }
}
