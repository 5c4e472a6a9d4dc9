import type { StoppedBy } from '../kill-switch.ts'
import { type FileProblem, type Problem, placeText } from '../problem.ts'

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
  | 'unauthenticated'
  | 'too_large'
  | 'method_not_allowed'
  | 'unsupported_media'
  | 'unprocessable'
  | 'rate_limited'
  | 'unavailable'
  | 'internal'

export interface ErrorEntry<D> {
  readonly kind: ErrorKind
  /** True when the same request may succeed later without being changed. */
  readonly retryable: boolean
  readonly message: (details: D) => string
}

export function define<D>(
  kind: ErrorKind,
  message: (details: D) => string,
  options: { readonly retryable?: boolean } = {},
): ErrorEntry<D> {
  return { kind, message, retryable: options.retryable ?? false }
}

export function problemLines(
  problems: readonly Problem[],
  placeOf: (problem: Problem) => string = placeText,
): string {
  return problems
    .map((problem) => {
      const { path, message } = problem
      const place = placeOf(problem)
      return `\n  ${path === '' ? '' : `${path}: `}${message}${place}`
    })
    .join('')
}

/** One problem in a line as editors follow it: `FILE:LINE:COLUMN path: message`. */
export function fileProblemLines(problems: readonly FileProblem[]): string {
  return problems
    .map(({ file, path, message, line, column = 1 }) => {
      const place = line === undefined ? '' : `:${line}:${column}`
      return `\n  ${file}${place} ${path === '' ? '' : `${path}: `}${message}`
    })
    .join('')
}

export function count(problems: readonly Problem[]): string {
  return problems.length === 1 ? '1 problem' : `${problems.length} problems`
}

export function leftOutText(leftOut: number): string {
  return leftOut === 0
    ? ''
    : ` ${leftOut} more that do not are left out, because they stand there twice or another procedure has them as a match.`
}

export function unfinishedText(what: string, ids: readonly string[]): string {
  return ids.length === 0 ? '' : ` ${what}: ${ids.join(', ')}.`
}

export function stoppedText({ by, since, reason }: StoppedBy): string {
  return `was stopped by ${by} at ${since}: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`
}

export function allowText({ kind, name }: StoppedBy): string {
  return `an approver lifts that with 'stepwarden ${kind === 'tool' ? 'tools' : 'procedures'} allow ${name}'`
}

export type Problems = { readonly problems: readonly Problem[] }
