import type { Problem } from './problem.ts'

/**
 * What sort of failure a code is. Each front door maps kinds, never single codes, to its own terms
 * (HTTP status, exit code, MCP error).
 */
export type ErrorKind =
  | 'invalid'
  | 'not_found'
  | 'conflict'
  | 'stale'
  | 'precondition_required'
  | 'forbidden'
  | 'too_large'
  | 'unavailable'
  | 'internal'

interface ErrorEntry<D> {
  readonly kind: ErrorKind
  /** True when the same request may succeed later without being changed. */
  readonly retryable: boolean
  readonly message: (details: D) => string
}

function define<D>(
  kind: ErrorKind,
  message: (details: D) => string,
  options: { readonly retryable?: boolean } = {},
): ErrorEntry<D> {
  return { kind, message, retryable: options.retryable ?? false }
}

function problemLines(problems: readonly Problem[]): string {
  return problems
    .map(({ path, message, line, column }) => {
      const place = line === undefined ? '' : ` (line ${line}, column ${column ?? 1})`
      return `\n  ${path === '' ? '' : `${path}: `}${message}${place}`
    })
    .join('')
}

function count(problems: readonly Problem[]): string {
  return problems.length === 1 ? '1 problem' : `${problems.length} problems`
}

type Problems = { readonly problems: readonly Problem[] }

/**
 * Every error that can leave the service. Codes are stable: docs/errors.md has an entry for each, and a test holds
 * the two equal. A message names the thing, what was found, what was expected, and the next move.
 */
const registry = {
  ID_INVALID: define<{ kind: string; prefix: string; found: string }>(
    'invalid',
    (d) => `'${d.found}' is not the id of a ${d.kind}. Expected '${d.prefix}_' and 21 characters.`,
  ),
  VALUE_INVALID: define<Problems>(
    'invalid',
    (d) => `The value has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  REQUEST_INVALID: define<Problems & { operation: string }>(
    'invalid',
    (d) => `${d.operation} was called with ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  INTERNAL: define<Record<string, never>>(
    'internal',
    () => 'Something failed inside the service. The log has the cause under this request id.',
  ),
} as const satisfies Record<string, ErrorEntry<never>>

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
    super(entry.message(details), options)
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

/** All codes with their kinds, for the documentation and the tests that hold it equal. */
export const errorCodes: ReadonlyMap<ErrorCode, ErrorKind> = new Map(
  Object.entries(registry).map(([code, entry]) => [code as ErrorCode, entry.kind]),
)
