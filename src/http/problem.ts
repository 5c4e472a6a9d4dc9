import type { ServiceError } from '../domain/errors.ts'
import { statusOfKind } from '../domain/http-status.ts'

export const problemType = 'application/problem+json'

/** An error as RFC 9457 has it, with the same `code` and `details` as at every door. */
export interface ProblemDocument {
  readonly type: string
  readonly title: string
  readonly status: number
  /** What was found, what was expected, and what to do next. */
  readonly detail: string
  readonly code: string
  readonly details: unknown
  /** True when the same request may succeed later without being changed. */
  readonly retryable: boolean
  readonly requestId: string
}

export function toProblem(error: ServiceError, requestId: string): ProblemDocument {
  const { code, kind, message, details, retryable } = error
  return {
    type: `urn:stepwarden:error:${code}`,
    title: titleOf(code),
    status: statusOfKind[kind],
    detail: message,
    code,
    details,
    retryable,
    requestId,
  }
}

/** `DRAFT_STALE` → `Draft stale`. */
function titleOf(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
