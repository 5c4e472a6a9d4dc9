import { deployment } from './error-entries/deployment.ts'
import { documents } from './error-entries/documents.ts'
import { doors } from './error-entries/doors.ts'
import type { ErrorEntry, ErrorKind } from './error-entries/entry.ts'
import { executions } from './error-entries/executions.ts'
import { governance } from './error-entries/governance.ts'
import { learning } from './error-entries/learning.ts'
import { lessons } from './error-entries/lessons.ts'
import { procedures } from './error-entries/procedures.ts'
import { webhooks } from './error-entries/webhooks.ts'

export type { ErrorKind }

/**
 * Every error that can leave the service. Codes are stable: docs/errors.md has an entry for each, and a test holds
 * the two equal. A message names the thing, what was found, what was expected, and the next move.
 */
const registry = {
  ...documents,
  ...procedures,
  ...governance,
  ...executions,
  ...deployment,
  ...doors,
  ...webhooks,
  ...learning,
  ...lessons,
}

export type ErrorCode = keyof typeof registry
export type ErrorDetails<C extends ErrorCode> = Parameters<(typeof registry)[C]['message']>[0]

/** The registry seen code by code, so that an entry and its details stay together for a generic code. */
const entries: { readonly [C in ErrorCode]: ErrorEntry<ErrorDetails<C>> } = registry

/** The one error class. Whatever else is thrown becomes `INTERNAL` at the rim and is logged once. */
export class ServiceError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C
  readonly kind: ErrorKind
  readonly retryable: boolean
  readonly details: ErrorDetails<C>

  constructor(code: C, details: ErrorDetails<C>, options?: { readonly cause?: unknown }) {
    const entry = entries[code]
    // What is quoted may end in a full stop of its own, before that of the sentence.
    super(entry.message(details).replaceAll(/(?<!\.)\.\.(?=\s|$)/g, '.'), options)
    this.name = 'ServiceError'
    this.code = code
    this.kind = entry.kind
    this.retryable = entry.retryable
    this.details = details
  }
}

/** Narrows an unknown error to the service's own, optionally of one code. */
export function isServiceError<C extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: C,
): error is ServiceError<C> {
  return error instanceof ServiceError && (code === undefined || error.code === code)
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(registry, code)
}

/** An error as another process has told it, by its code and its details. */
export function restoreError(code: ErrorCode, details: unknown): ServiceError {
  return new ServiceError(code, Object(details) as ErrorDetails<ErrorCode>)
}

/** What is fixed for each code, for the documentation and the tests that hold it equal. */
export const errorCodes: ReadonlyMap<
  ErrorCode,
  { readonly kind: ErrorKind; readonly retryable: boolean }
> = new Map(
  Object.entries(registry).map(([code, { kind, retryable }]) => [
    code as ErrorCode,
    { kind, retryable },
  ]),
)
