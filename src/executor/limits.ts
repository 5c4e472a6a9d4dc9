import type { ExecutionStart, StepRow } from '../domain/execution.ts'
import { isJsonObject } from '../domain/json.ts'
import { type LimitUse, usesOf } from '../domain/tool-limit.ts'
import { wasNotMade } from './attempt.ts'
import type { Plan } from './plan.ts'

const none: readonly LimitUse[] = []

/**
 * What the attempt that a running row is about to make takes of its tool's limits. A step is counted once: its later
 * attempts only where all before them were certainly not made, and so were given back.
 */
export function usesOfIntent(plan: Plan, start: ExecutionStart, row: StepRow): readonly LimitUse[] {
  const contract = row.tool === null ? undefined : plan.tools.get(row.tool)?.contract
  if (contract === undefined || contract.limits.length === 0) return none
  if (!isJsonObject(row.input) || row.attempts?.every(wasNotMade) === false) return none
  const subjects = { customer: start.customerId ?? '', procedure: plan.definition.key }
  return usesOf(contract, row.input, subjects, intentAt(row))
}

/** What is given back once the last attempt of a row was certainly not made: what was counted for it. */
export function usesGivenBack(
  plan: Plan,
  start: ExecutionStart,
  row: StepRow,
): readonly LimitUse[] {
  const last = row.attempts?.at(-1)
  // Of a step that completed in the end, what stands last in its log is of an attempt before.
  if (last?.attempt !== row.attempt || !wasNotMade(last) || last.code === 'limit_exceeded') {
    return none
  }
  return usesOfIntent(plan, start, { ...row, attempts: row.attempts?.slice(0, -1) ?? null })
}

/** The recorded instant that an attempt follows from, so that anyone can count again from the record. */
function intentAt({ startedAt, attempts, exchange }: StepRow): number {
  const confirmed = exchange?.findLast(({ kind }) => kind === 'approved')
  return Math.max(startedAt, confirmed?.at ?? startedAt, attempts?.at(-1)?.endedAt ?? startedAt)
}
