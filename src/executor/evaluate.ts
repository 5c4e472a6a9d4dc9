import { storedValue } from '../domain/canonical.ts'
import {
  type Expression,
  ExpressionFailed,
  type Scope,
  type StepwiseScope,
} from '../domain/expression.ts'
import type { Json } from '../domain/json.ts'
import { type Template, TemplateUnresolved } from '../domain/template.ts'
import { allStepViews, type ExecutionState, findStepView } from './apply.ts'
import type { Plan } from './plan.ts'

/** What expressions and templates of a run see at an instant (epoch milliseconds). */
export function scopeOf(plan: Plan, state: ExecutionState, now: number, output?: Json): Scope {
  return new RunScope(plan, state, now, output)
}

/** `steps` is put together only where something beside the language reads it. */
class RunScope implements StepwiseScope {
  readonly input: Json
  readonly ticket: Json
  readonly policy: Json
  readonly execution: Json
  readonly now: number
  readonly output?: Json
  readonly #state: ExecutionState

  constructor({ policy }: Plan, state: ExecutionState, now: number, output: Json | undefined) {
    this.input = state.seen.input
    this.ticket = state.seen.ticket
    this.policy = policy
    this.execution = state.seen.execution
    this.now = now
    if (output !== undefined) this.output = output
    this.#state = state
  }

  get steps(): Scope['steps'] {
    return allStepViews(this.#state)
  }

  findStep(key: string): Json | undefined {
    return findStepView(this.#state, key)
  }
}

/** A value, or the failure that became of it. A failure is never a value, least of all `false`. */
export type Evaluated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: FailureCode; readonly message: string }

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
