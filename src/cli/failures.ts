import { type ErrorKind, isServiceError, ServiceError } from '../domain/errors.ts'
import { createLogger } from '../logger.ts'
import type { Terminal } from './terminal.ts'

/** What the exit code of the process says. `stepwarden --help` lists them, from here. */
export const exitCodes = {
  done: [0, 'done; of a run: it was carried out, however it ended'],
  internal: [
    1,
    'something failed inside Stepwarden; of `check`: it found errors, of `simulate`: not all is as expected',
  ],
  invalid: [2, 'the command or what was given to it is not valid'],
  notFound: [3, 'what was named does not exist'],
  conflict: [4, 'it does not fit the state of things, or they have changed meanwhile'],
  forbidden: [5, 'you may not do this, or have not shown who you are'],
  unavailable: [6, 'the database or the data folder cannot be used now'],
  disagrees: [
    7,
    '`doctor`, `audit verify` or `webhooks test` found a failure, or a replay does not agree with its record',
  ],
  interrupted: [130, 'interrupted; no run is lost by that'],
} as const satisfies Record<string, readonly [code: number, meaning: string]>

/** The one table from what sort of failure it was to the exit code. */
const codeOfKind: Readonly<Record<ErrorKind, number>> = {
  invalid: exitCodes.invalid[0],
  too_large: exitCodes.invalid[0],
  method_not_allowed: exitCodes.invalid[0],
  unsupported_media: exitCodes.invalid[0],
  unprocessable: exitCodes.invalid[0],
  not_found: exitCodes.notFound[0],
  conflict: exitCodes.conflict[0],
  stale: exitCodes.conflict[0],
  precondition_required: exitCodes.conflict[0],
  forbidden: exitCodes.forbidden[0],
  unauthenticated: exitCodes.forbidden[0],
  unavailable: exitCodes.unavailable[0],
  rate_limited: exitCodes.unavailable[0],
  internal: exitCodes.internal[0],
}

/**
 * Says on standard error what went wrong, and answers the exit code. With `--json` it is one line of JSON with `code`,
 * `message` and `details`. What is no error of ours is logged, once.
 */
export function reportFailure(terminal: Terminal, error: unknown): number {
  if (!isServiceError(error)) logUnknown(error)
  const known = isServiceError(error) ? error : new ServiceError('INTERNAL', {})
  const { code, message, details, kind } = known
  if (terminal.json) terminal.noticeJson({ code, message, details })
  else terminal.notice(`${terminal.style('bad', 'error')} ${message}`)
  return codeOfKind[kind]
}

/** A command that was not called as it must be. */
export function usageError(problem: string, nextMove: string): ServiceError<'USAGE_INVALID'> {
  return new ServiceError('USAGE_INVALID', { problem, nextMove })
}

function logUnknown(error: unknown): void {
  const isDebug = process.env.STEPWARDEN_LOG_LEVEL === 'debug'
  const problem = error instanceof Error ? error.message : String(error)
  // The stack is for those who asked for it.
  createLogger('error').error(isDebug ? { err: error } : { problem }, 'an unexpected error')
}
