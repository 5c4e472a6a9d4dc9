import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import type { AppContext } from '../context.ts'
import { type ErrorKind, isServiceError, ServiceError } from '../domain/errors.ts'

/** Turns what a driver said into one of the service's own errors, where it is known; else leaves it as it is. */
export type Explain = (error: unknown) => unknown

/** What a model does about each sort of failure. Only what has failed for now is worth the same call again. */
const nextMoves: Readonly<Record<ErrorKind, string>> = {
  invalid: 'Correct what is named above, and call again.',
  too_large: 'Send less, and call again.',
  method_not_allowed: 'Correct what is named above, and call again.',
  unsupported_media: 'Correct what is named above, and call again.',
  unprocessable: 'Correct what is named above, and call again.',
  not_found: 'Take the id or key from an earlier answer; do not guess one.',
  conflict:
    'Look how it stands now (get_execution, list_waiting_steps) before you do anything else.',
  stale: 'It has changed meanwhile: look at it again, and decide anew.',
  precondition_required: 'Look at it first, and name what you have seen.',
  forbidden: 'Do not try again: it is not for you to do. Leave it to a person.',
  unauthenticated:
    'Do not try again: whoever set up this connection has to give it a key that works.',
  rate_limited: 'Wait as long as it says, and call again with the same arguments.',
  unavailable: 'Wait a moment, and call again with the same arguments.',
  internal:
    'It is no mistake of yours. If it fails again, tell a person: the log of the service has the cause.',
}

const whenRepeated =
  'With the same `idempotencyKey`, nothing is done twice. Without one, look first whether it was done.'

/** What a failed call answers, in the protocol's form of a tool that has failed. */
export interface ToolFailure {
  readonly [key: string]: unknown
  readonly isError: true
  readonly content: { type: 'text'; text: string }[]
  readonly _meta: { [key: string]: unknown }
}

/** Where programs find the code of a failure, and what belongs to it. */
const failureKey = 'stepwarden/error'

/** An error as one of the service's own; anything else is logged here, once, and told as `INTERNAL`. */
export function toServiceError(
  app: AppContext,
  thrown: unknown,
  what: string,
  explain: Explain = (error) => error,
): ServiceError {
  const error = explain(thrown)
  if (!isServiceError(error)) {
    app.log.error({ err: error, what }, 'a call at the MCP door has failed')
    return new ServiceError('INTERNAL', {})
  }
  if (isOfDeployment(error)) app.log.warn({ err: error, what }, 'a call at the MCP door has failed')
  return error
}

/** What is wrong with the database names hosts, users and folders, which are nobody's business outside. */
function isOfDeployment({ code, kind }: ServiceError): boolean {
  return kind === 'unavailable' && /^(DATA|SCHEMA)/.test(code)
}

/** An error as a caller at this door is told of it: never a stack, and nothing of a cause. */
export function told(error: ServiceError) {
  const { code, kind, message, details, retryable } = error
  return isOfDeployment(error)
    ? { code, kind, retryable, details: {}, message: 'The service cannot use its database now.' }
    : { code, kind, retryable, details, message }
}

/** A failure for a model: code, message, and what to do next. */
export function toolFailure(error: ServiceError): ToolFailure {
  const facts = told(error)
  const { code, kind, message, retryable } = facts
  const again = retryable && kind !== 'invalid' ? ` ${whenRepeated}` : ''
  return {
    isError: true,
    content: [{ type: 'text', text: `${code}: ${message}\n\nNext: ${nextMoves[kind]}${again}` }],
    _meta: { [failureKey]: facts },
  }
}

/** An error of the protocol. The SDK's own class puts its number into the message, and so does the client's. */
export class ProtocolError extends Error {
  readonly code: number
  readonly data: Readonly<Record<string, unknown>> | undefined

  constructor(code: number, message: string, data?: Readonly<Record<string, unknown>>) {
    super(message)
    this.name = 'ProtocolError'
    this.code = code
    this.data = data
  }
}

/** A failure where the protocol has no answer that has failed: for lists and resources. */
export function protocolError(error: ServiceError): ProtocolError {
  const { message, ...facts } = told(error)
  const number = error.code === 'INTERNAL' ? ErrorCode.InternalError : ErrorCode.InvalidParams
  return new ProtocolError(number, message, facts)
}
