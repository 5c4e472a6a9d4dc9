import type { Difference, EndFacts, RunEnd, StepDifference } from '../domain/backtest.ts'
import { canonicalJson } from '../domain/canonical.ts'
import type { ExecutionEnd, StepRow } from '../domain/execution.ts'
import { placeOf } from '../domain/scenario.ts'
import type { StepKind } from '../domain/step.ts'

export function runEndOf({ status, outcome }: Pick<ExecutionEnd, 'status' | 'outcome'>): RunEnd {
  return status === 'completed' ? (outcome ?? 'resolved') : status
}

/** An end without any value of its run: of its reason the text only where it is one of `texts`. */
export function endFactsOf(end: ExecutionEnd, texts: ReadonlySet<string>): EndFacts {
  const { code = null, text } = end.reason ?? {}
  return {
    end: runEndOf(end),
    reason: code,
    text: text !== undefined && texts.has(text) ? text : null,
  }
}

/**
 * In what two ends are not the same. A reason is its code, its text, its fields and where it hands over to, not the step
 * (which may have another name) nor the message (which is wording).
 */
export function differencesOf(
  before: ExecutionEnd,
  after: ExecutionEnd,
  hasSameWrites: boolean,
): readonly Difference[] {
  const differs: Difference[] = []
  if (runEndOf(before) !== runEndOf(after)) differs.push('end')
  if (!isSameValue(reasonOf(before), reasonOf(after))) differs.push('reason')
  if (!isSameValue(before.result, after.result)) differs.push('result')
  if (!hasSameWrites) differs.push('writes')
  return differs
}

function reasonOf({ reason }: ExecutionEnd): unknown {
  if (reason === null) return null
  const { code, text, fields, escalateTo } = reason
  return { code, text, fields, escalateTo }
}

/** Whether two values have the same canonical form. Most that are the same are one. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return one === other || canonicalJson(one) === canonicalJson(other)
}

/** Kinds whose output is decided, and not observed. */
const decidedKinds: ReadonlySet<StepKind> = new Set(['compute', 'require', 'choose', 'end'])

/**
 * The first step at which two runs are not the same, of as many as both have where `isPrefix` (the second one stopped);
 * null where there is none.
 */
export function findStepDifference(
  before: readonly StepRow[],
  after: readonly StepRow[],
  isPrefix: boolean,
): StepDifference | null {
  const length = isPrefix ? after.length : Math.max(before.length, after.length)
  for (let index = 0; index < length; index += 1) {
    const [then, now] = [before[index], after[index]]
    if (then !== undefined && now !== undefined && isSameStep(then, now)) continue
    return {
      position: index + 1,
      before: then === undefined ? null : placeOf(then),
      after: now === undefined ? null : placeOf(now),
    }
  }
  return null
}

function isSameStep(then: StepRow, now: StepRow): boolean {
  const { kind, status, tool } = now
  if (placeOf(then) !== placeOf(now) || then.kind !== kind || then.tool !== tool) return false
  // A run that was ended from outside, or stopped, has left it open.
  if (then.endedAt === null || now.endedAt === null) return true
  if (then.status !== status || then.error?.code !== now.error?.code) return false
  if (kind === 'tool') return isSameValue(then.input, now.input)
  return !decidedKinds.has(kind) || isSameValue(then.output, now.output)
}
