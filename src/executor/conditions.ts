import { type Reason, reasonOf } from '../domain/escalation.ts'
import { type ConditionVerdict, isStepEnded, type StepStatus } from '../domain/execution.ts'
import type { EscalateTo } from '../domain/step.ts'
import { type ExecutionState, findStepView } from './apply.ts'
import { evaluateCondition, scopeOf } from './evaluate.ts'
import type { Plan, PlannedCondition } from './plan.ts'

/** How a run is to end, and which condition of the definition said so. */
export interface Ending {
  readonly kind: 'resolved' | 'declined' | 'escalated'
  readonly reason: Reason | null
  readonly decidedBy?: DecidedBy
  /** True when the completion conditions held and something after them ended the run otherwise. */
  readonly completionHeld?: true
  /** True when the last step had ended the run before the rules that it made due were tested. */
  readonly beforeRules?: true
}

interface DecidedBy {
  readonly kind: ConditionVerdict['kind']
  readonly index: number
  /** True when the expression could not be evaluated, as against: it was evaluated and decided. */
  readonly failed: boolean
}

/** Tests the preconditions in order; the first that does not hold ends the run. */
export function testPreconditions(plan: Plan, state: ExecutionState): Ending | undefined {
  const scope = scopeOf(plan, state, state.lastEndedAt)
  for (const [index, { condition, when }] of plan.preconditions.entries()) {
    if (when === undefined) continue
    const result = evaluateCondition(when, scope)
    const decidedBy: DecidedBy = { kind: 'precondition', index, failed: !result.ok }
    if (!result.ok) return conditionFailed(condition.text, result.message, decidedBy, plan)
    if (!result.value) {
      return {
        kind: condition.otherwise ?? 'escalated',
        reason: reasonOf('precondition_unmet', {
          text: condition.text,
          ...escalateTo(plan.definition.escalateTo),
        }),
        decidedBy,
      }
    }
  }
  return undefined
}

/**
 * Tests the escalation rules that are due: before step 1 those that read no step, after a step those that read it (or
 * `now`) once every step that they read has ended. The first that holds ends the run.
 */
export function testDueRules(plan: Plan, state: ExecutionState): Ending | undefined {
  const { last } = state
  if (last !== undefined && !isStepEnded(last.status)) return undefined
  const rules = last === undefined ? plan.firstRules : plan.rulesAfter.get(last.stepKey)
  if (rules === undefined) return undefined
  const scope = scopeOf(plan, state, state.lastEndedAt)
  for (const { index, condition, when } of rules) {
    if (!haveAllEnded(when.reads.steps, state)) continue
    const result = evaluateCondition(when, scope)
    const decidedBy: DecidedBy = { kind: 'rule', index, failed: !result.ok }
    if (!result.ok) return conditionFailed(condition.text, result.message, decidedBy, plan)
    if (result.value) {
      return {
        kind: 'escalated',
        reason: reasonOf('rule_matched', {
          text: condition.text,
          ...(state.last && { stepKey: state.last.stepKey }),
          ...escalateTo(condition.escalateTo ?? plan.definition.escalateTo),
        }),
        decidedBy,
      }
    }
  }
  return undefined
}

/** Tests what must hold for a run to resolve: every required step that was reached, then the completion conditions. */
export function testCompletion(plan: Plan, state: ExecutionState): Ending | undefined {
  for (const { key, step } of plan.nodes.values()) {
    const status = statusOf(state, key)
    if (step.required === false) continue
    if (status === 'failed' || status === 'expired' || status === 'denied') {
      return {
        kind: 'escalated',
        reason: reasonOf('completion_unmet', {
          stepKey: key,
          detail: `The required step '${key}' ended as ${status}.`,
          ...escalateTo(step.escalateTo ?? plan.definition.escalateTo),
        }),
      }
    }
  }
  const scope = scopeOf(plan, state, state.lastEndedAt)
  for (const [index, { condition, when }] of plan.completion.entries()) {
    if (when === undefined) continue
    const result = evaluateCondition(when, scope)
    const decidedBy: DecidedBy = { kind: 'completion', index, failed: !result.ok }
    if (!result.ok) return conditionFailed(condition.text, result.message, decidedBy, plan)
    if (!result.value) {
      return {
        kind: 'escalated',
        reason: reasonOf('completion_unmet', {
          text: condition.text,
          ...escalateTo(plan.definition.escalateTo),
        }),
        decidedBy,
      }
    }
  }
  return undefined
}

/** What became of every condition and rule, given how the run ends. */
export function conditionVerdicts(
  plan: Plan,
  state: ExecutionState,
  ending: Pick<Ending, 'kind' | 'decidedBy' | 'completionHeld' | 'beforeRules'>,
): readonly ConditionVerdict[] {
  const { decidedBy } = ending
  const completionHeld = ending.kind === 'resolved' || ending.completionHeld === true
  const begun = state.last !== undefined || decidedBy?.kind === 'rule'
  const verdictOf = (
    kind: ConditionVerdict['kind'],
    { condition, when }: PlannedCondition,
    index: number,
    tested: boolean,
  ): ConditionVerdict => {
    const decided = decidedBy?.kind === kind ? decidedBy : undefined
    const verdict = (): ConditionVerdict['verdict'] => {
      if (when === undefined) return 'prose'
      if (decided?.index === index) {
        if (decided.failed) return 'failed'
        return kind === 'rule' ? 'matched' : 'unmet'
      }
      // Conditions are tested in order, so those before the one that decided held.
      const wasTested = kind !== 'rule' && decided !== undefined ? index < decided.index : tested
      if (!wasTested) return 'not_reached'
      return kind === 'rule' ? 'clear' : 'held'
    }
    return { kind, text: condition.text, verdict: verdict() }
  }
  return [
    ...plan.preconditions.map((planned, index) => verdictOf('precondition', planned, index, begun)),
    ...plan.rules.map((planned, index) => {
      return verdictOf('rule', planned, index, begun && wasTested(planned, index, state, ending))
    }),
    ...plan.completion.map((planned, index) =>
      verdictOf('completion', planned, index, completionHeld),
    ),
  ]
}

/**
 * Whether a rule was tested with what its steps came to. Those that the last step made due were not when it had ended the
 * run already, nor when they stand behind the one that decided.
 */
function wasTested(
  { when }: PlannedCondition,
  index: number,
  state: ExecutionState,
  { decidedBy, beforeRules }: Pick<Ending, 'decidedBy' | 'beforeRules'>,
): boolean {
  if (when === undefined) return true
  const { steps } = when.reads
  if (!haveAllEnded(steps, state)) return false
  const { last } = state
  const isDueNow = last === undefined ? steps.size === 0 : steps.has(last.stepKey)
  if (!isDueNow) return true
  return beforeRules !== true && (decidedBy?.kind !== 'rule' || index <= decidedBy.index)
}

function haveAllEnded(keys: ReadonlySet<string>, state: ExecutionState): boolean {
  for (const key of keys) if (!hasEnded(state, key)) return false
  return true
}

function hasEnded(state: ExecutionState, key: string): boolean {
  return isStepEnded(statusOf(state, key))
}

function statusOf(state: ExecutionState, key: string): StepStatus {
  // The views in a state are built by `apply` from rows, whose status is one of these.
  return (findStepView(state, key)?.status as StepStatus | undefined) ?? 'pending'
}

function conditionFailed(text: string, detail: string, decidedBy: DecidedBy, plan: Plan): Ending {
  return {
    kind: 'escalated',
    reason: reasonOf('expression_failed', {
      text,
      detail,
      ...escalateTo(plan.definition.escalateTo),
    }),
    decidedBy,
  }
}

function escalateTo(target: EscalateTo | undefined): { readonly escalateTo?: EscalateTo } {
  return target === undefined ? {} : { escalateTo: target }
}
