import type { AttemptRecord, AttemptResult, StepRow } from '../domain/execution.ts'
import type { FailureKind } from '../domain/failure.ts'
import type { Json } from '../domain/json.ts'
import type { ToolNode } from './plan.ts'

/** What came into a run from a call: the tool's output, or why there is none. Recorded, never decided. */
export type ToolObservation =
  | { readonly result: 'done'; readonly output: Json; readonly endedAt: number }
  | {
      readonly result: Exclude<AttemptResult, 'done'>
      readonly code: string
      readonly message: string
      readonly endedAt: number
    }

/** What is to be done after attempts that did not complete the step. */
export type NextAttempt =
  | { readonly kind: 'again'; readonly notBefore: number }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      readonly failure: FailureKind
    }

/** What a step fails with whose last attempt came to this. */
const failureKinds: { readonly [R in AttemptRecord['result']]: FailureKind } = {
  refused: 'refused',
  failed: 'failed',
  error: 'unknown',
  timeout: 'timeout',
  interrupted: 'unknown',
  invalid: 'invalid',
}

/** The longest wait between two attempts, whatever the factor makes of it. */
const maxRetryDelayMs = 10 * 60_000

/** The running row with what came of its attempt in its log. */
export function recordAttempt(
  row: StepRow,
  observation: Exclude<ToolObservation, { readonly result: 'done' }>,
): StepRow {
  const { result, code, message, endedAt } = observation
  const record: AttemptRecord = { attempt: row.attempt, result, code, message, endedAt }
  return { ...row, attempts: [...(row.attempts ?? []), record] }
}

/** The attempt that a running row says was begun, where nothing says how it went. */
export function isAttemptOpen(row: StepRow): boolean {
  return (
    row.status === 'running' && row.kind === 'tool' && row.attempt > (row.attempts?.length ?? 0)
  )
}

/** Whether an attempt came to nothing for certain. */
export function wasNotMade({ result }: Pick<AttemptRecord, 'result'>): boolean {
  return result === 'refused' || result === 'failed'
}

/**
 * Whether it is open, after the attempts of a row that has not completed, if a write was made. What a later attempt came to
 * settles nothing of an earlier one.
 */
export function isOutcomeOpen(
  { effect }: { readonly effect: 'read' | 'write' },
  { attempts }: Pick<StepRow, 'attempts'>,
): boolean {
  return effect === 'write' && attempts?.some(isUnknown) === true
}

function isUnknown({ result }: AttemptRecord): boolean {
  return result === 'interrupted' || result === 'error' || result === 'timeout'
}

/**
 * Decides what follows the last attempt of a running row, by invariant 8: an unknown outcome of a write is repeated
 * only if the tool is idempotent; a refusal is never repeated; an attempt that a crash cut off does not count against
 * `maxAttempts` (take-overs have a limit of their own). A write of which any attempt is unknown completes, or its outcome
 * is unknown (`semanticsVersion` 1 looked at the last attempt alone).
 *
 * @see docs/executor.md
 */
export function nextAttempt(
  node: ToolNode,
  contract: { readonly effect: 'read' | 'write'; readonly idempotent: boolean },
  row: StepRow,
  version?: number,
): NextAttempt {
  const next = afterLast(node, contract, row)
  if (next.kind === 'again' || version === 1 || !isOutcomeOpen(contract, row)) return next
  const unknown = row.attempts?.find(isUnknown)
  if (unknown === undefined || next.code === 'outcome_unknown') return next
  return unknownOutcome(unknown, next.message)
}

function afterLast(
  node: ToolNode,
  contract: { readonly effect: 'read' | 'write'; readonly idempotent: boolean },
  row: StepRow,
): NextAttempt {
  const last = row.attempts?.at(-1)
  if (last === undefined) throw new TypeError(`step ${row.stepKey} has no attempt to go on from`)
  const mayRepeat = contract.effect === 'read' || contract.idempotent
  const used = row.attempts?.filter(({ result }) => result !== 'interrupted').length ?? 0
  const attemptsLeft = mayRepeat && used < node.retry.maxAttempts
  const failed: NextAttempt = {
    kind: 'failed',
    code: last.code,
    message: last.message,
    failure: failureKinds[last.result],
  }
  const again: NextAttempt = {
    kind: 'again',
    notBefore: last.endedAt + retryDelayMs(node.retry, used),
  }
  switch (last.result) {
    case 'interrupted':
      return mayRepeat ? { kind: 'again', notBefore: last.endedAt } : unknownOutcome(last)
    case 'refused':
      return failed
    case 'failed':
      return attemptsLeft ? again : failed
    case 'error':
    case 'timeout':
      if (attemptsLeft) return again
      return contract.effect === 'write' ? unknownOutcome(last) : failed
    case 'invalid':
      return contract.effect === 'read' && attemptsLeft ? again : failed
    default:
      return last.result satisfies never
  }
}

function unknownOutcome(last: AttemptRecord, later?: string): NextAttempt {
  return {
    kind: 'failed',
    code: 'outcome_unknown',
    message:
      `Attempt ${last.attempt} ended without an answer: ${last.message}` +
      (later === undefined ? '' : ` What came after says nothing of it: ${later}`),
    failure: 'unknown',
  }
}

function retryDelayMs(retry: ToolNode['retry'], used: number): number {
  return Math.min(retry.delayMs * retry.backoff ** Math.max(0, used - 1), maxRetryDelayMs)
}
