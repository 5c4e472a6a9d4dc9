import { storedValue } from '../domain/canonical.ts'
import {
  type Calendar,
  type Expression,
  ExpressionFailed,
  findInstant,
  type Scope,
  type StepwiseScope,
} from '../domain/expression.ts'
import type { Json } from '../domain/json.ts'
import { type Template, TemplateUnresolved } from '../domain/template.ts'
import { allStepViews, type ExecutionState, findStepView, itemsOf } from './apply.ts'
import { depthOf, roundAt } from './iteration.ts'
import type { Plan } from './plan.ts'

/** What expressions and templates of a run see at an instant (epoch milliseconds). */
export function scopeOf(plan: Plan, state: ExecutionState, now: number, at: Place = {}): Scope {
  return new RunScope(plan, state, now, at)
}

/** Where in a run something is read. */
interface Place {
  /** The round that it belongs to; `item` and `index` are those of the innermost list around it. */
  readonly iteration?: string
  /** The step's own output, in `expect` and `until`. */
  readonly output?: Json
}

/** `steps` is put together only where something beside the language reads it. */
class RunScope implements StepwiseScope {
  readonly input: Json
  readonly ticket: Json
  readonly policy: Json
  readonly execution: Json
  readonly now: number
  readonly output?: Json
  readonly item?: Json
  readonly index?: number
  readonly calendar?: Calendar
  readonly #state: ExecutionState

  constructor({ policy }: Plan, state: ExecutionState, now: number, place: Place) {
    this.input = state.seen.input
    this.ticket = state.seen.ticket
    this.policy = policy
    this.execution = state.seen.execution
    this.now = now
    if (place.output !== undefined) this.output = place.output
    const { calendar } = state.start
    if (calendar !== undefined) this.calendar = calendar
    const found = place.iteration ? findItem(state, place.iteration) : undefined
    if (found !== undefined) {
      this.item = found.item
      this.index = found.index
    }
    this.#state = state
  }

  get steps(): Scope['steps'] {
    return allStepViews(this.#state)
  }

  findStep(key: string): Json | undefined {
    return findStepView(this.#state, key)
  }
}

function findItem(
  { frames }: ExecutionState,
  iteration: string,
): { readonly item: Json; readonly index: number } | undefined {
  const depth = depthOf(iteration)
  for (const { row } of frames.toReversed()) {
    const items = itemsOf(row)
    const outer = depthOf(row.iteration)
    if (items === undefined || outer >= depth) continue
    const index = roundAt(iteration, outer)
    return { item: items[index] ?? null, index }
  }
  return undefined
}

/** A value, or the failure that became of it. A failure is never a value, least of all `false`. */
export type Evaluated<T, Code = FailureCode> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: Code; readonly message: string }

export type FailureCode = 'expression_failed' | 'template_unresolved'

function evaluate(expression: Expression, scope: Scope): Evaluated<Json> {
  try {
    return { ok: true, value: expression.evaluate(scope) }
  } catch (error) {
    if (!(error instanceof ExpressionFailed)) throw error
    return { ok: false, code: 'expression_failed', message: error.message }
  }
}

/** Evaluates a condition. Anything but true or false is a failure. */
export function evaluateCondition(expression: Expression, scope: Scope): Evaluated<boolean> {
  const result = evaluate(expression, scope)
  if (!result.ok) return result
  if (typeof result.value === 'boolean') return { ok: true, value: result.value }
  // Names the kind and not the value, which may be sensitive.
  const found = Array.isArray(result.value) ? 'list' : typeof result.value
  return {
    ok: false,
    code: 'expression_failed',
    message: `'${expression.source}' gave a ${found}, and a condition must give true or false`,
  }
}

/** Evaluates what a loop is to go through. */
export function evaluateList(
  expression: Expression,
  scope: Scope,
): Evaluated<readonly Json[], FailureCode | 'loop_invalid'> {
  const result = evaluate(expression, scope)
  if (!result.ok) return result
  if (Array.isArray(result.value)) return { ok: true, value: result.value.map(storedValue) }
  const found = result.value === null ? 'null' : typeof result.value
  const message = `'${expression.source}' gave ${found}, and forEach needs a list`
  return { ok: false, code: 'loop_invalid', message }
}

/** Evaluates a time: RFC 3339 text, or a date, which means its midnight UTC. Epoch milliseconds. */
export function evaluateInstant(expression: Expression, scope: Scope): Evaluated<number> {
  const result = evaluate(expression, scope)
  if (!result.ok) return result
  const at = typeof result.value === 'string' ? findInstant(result.value) : undefined
  if (at !== undefined) return { ok: true, value: at }
  const message = `'${expression.source}' gave no time; a wait needs one, such as "2026-12-24T08:00:00Z"`
  return { ok: false, code: 'expression_failed', message }
}

export function evaluateAll(
  named: readonly (readonly [name: string, value: Expression])[],
  scope: Scope,
): Evaluated<Json> {
  const values: Record<string, Json> = Object.create(null)
  for (const [name, expression] of named) {
    const result = evaluate(expression, scope)
    if (!result.ok) return result
    values[name] = result.value
  }
  return { ok: true, value: storedValue(values) }
}

export function resolve(template: Template, scope: Scope): Evaluated<Json> {
  try {
    return { ok: true, value: template.resolve(scope) }
  } catch (error) {
    if (!(error instanceof TemplateUnresolved)) throw error
    return { ok: false, code: 'template_unresolved', message: error.message }
  }
}
