import type { Due, ExecutionStart } from '../domain/execution.ts'
import { initialState } from './apply.ts'
import { evaluateInstant, scopeOf } from './evaluate.ts'
import type { Plan } from './plan.ts'
import { instantAfter } from './waits.ts'

/**
 * When a case is to be done, and from when on it is soon to be: counted from what the definition says, in the calendar of
 * the run. Where that gives no time, from its start: a late case is rather flagged late than never. Undefined where the
 * definition says nothing of it. Flags alone follow from it, never an end.
 */
export function dueOf(plan: Plan, start: ExecutionStart): Due | undefined {
  const { due } = plan
  if (due === undefined) return undefined
  const scope = scopeOf(plan, initialState(plan, start), start.startedAt)
  const from = due.from && evaluateInstant(due.from, scope)
  const at = from?.ok === true ? from.value : start.startedAt
  return {
    at: instantAfter(start, at, due.after),
    ...(due.warn !== undefined && { warnAt: instantAfter(start, at, due.warn) }),
  }
}
