import type { Definition, EscalationRule, Precondition } from '../domain/definition.ts'
import { durationMs, durationOf } from '../domain/duration.ts'
import { compileExpression, type Expression } from '../domain/expression.ts'
import type { JsonObject } from '../domain/json.ts'
import { compileSchema, type SchemaValidator } from '../domain/json-schema.ts'
import type { EscalateTo } from '../domain/step.ts'
import type { ToolContract } from '../domain/tool.ts'
import { linkSteps, namedExpressions, planCondition } from './link-steps.ts'
import type { DueRule, PlanNode, PlannedCondition, PlannedDue } from './plan-nodes.ts'
import { findSensitivity, type Sensitivity } from './sensitivity.ts'

export type * from './plan-nodes.ts'

/** A tool as a version pinned it: what was approved, ready to be checked against. */
export interface PinnedTool {
  readonly contract: ToolContract
  readonly contractHash: string
  readonly input: SchemaValidator
  readonly output: SchemaValidator
}

/**
 * A definition made ready to run: every expression, template and schema compiled once, every step linked to what
 * follows it. A plan holds nothing of a run and is shared by all runs of its version.
 */
export interface Plan {
  readonly definition: Definition
  readonly first: PlanNode
  readonly nodes: ReadonlyMap<string, PlanNode>
  /** Where each key stands in the order of `nodes`. */
  readonly places: { readonly [key: string]: number }
  readonly input: SchemaValidator
  readonly policy: JsonObject
  readonly tools: ReadonlyMap<string, PinnedTool>
  readonly preconditions: readonly PlannedCondition<Precondition>[]
  readonly rules: readonly PlannedCondition<EscalationRule>[]
  /** The rules that are due before step 1: those that read no step. */
  readonly firstRules: readonly DueRule[]
  /** By step key, the rules that the end of the step can make due; no entry where there is none. */
  readonly rulesAfter: ReadonlyMap<string, readonly DueRule[]>
  readonly completion: readonly PlannedCondition[]
  readonly output?: readonly (readonly [name: string, value: Expression])[]
  readonly timeLimitMs: number
  readonly due?: PlannedDue
  /** Keys of the procedures that it calls. */
  readonly calls: readonly string[]
  /** Whether what it does depends on the working days of its tenant. */
  readonly countsWorkdays: boolean
  /** What of its runs is sensitive, apart from what the runs that it calls hand back; absent where nothing is. */
  readonly sensitivity?: Sensitivity
}

/**
 * Compiles a definition that has passed its checks, with the contracts that its version pinned. Cost is linear in the
 * definition; callers cache by definition hash.
 */
export function compilePlan(
  definition: Definition,
  contracts: ReadonlyMap<
    string,
    { readonly contract: ToolContract; readonly contractHash: string }
  >,
): Plan {
  const nodes = new Map<string, PlanNode>()
  const first = linkSteps(definition.steps, undefined, nodes)
  if (first === undefined) throw new TypeError('a checked definition has at least one step')
  const rules = (definition.escalationRules ?? []).map(planCondition)
  const dueRules = rules.flatMap(({ condition, when }, index) =>
    when === undefined ? [] : [{ index, condition, when }],
  )
  const plan: Plan = {
    definition,
    first,
    nodes,
    places: Object.fromEntries(Array.from(nodes.keys(), (key, place) => [key, place])),
    input: compileSchema(definition.input ?? { type: 'object' }),
    policy: definition.policy ?? {},
    tools: new Map([...contracts].map(([name, pinned]) => [name, pinTool(pinned)])),
    preconditions: (definition.preconditions ?? []).map(planCondition),
    rules,
    firstRules: dueRules.filter(({ when }) => when.reads.steps.size === 0),
    rulesAfter: rulesByStep(dueRules, nodes.keys()),
    completion: (definition.completionConditions ?? []).map(planCondition),
    ...(definition.output && { output: namedExpressions(definition.output) }),
    timeLimitMs: durationMs(definition.timeLimit ?? '1h'),
    ...(definition.due && { due: planDue(definition.due) }),
    calls: [
      ...new Set(
        [...nodes.values()].flatMap((node) => (node.kind === 'call' ? [node.step.call] : [])),
      ),
    ],
    // A word too many only pins a calendar that nobody asks for.
    countsWorkdays: /workday/i.test(JSON.stringify(definition)),
  }
  const sensitivity = findSensitivity(plan, new Map())
  return sensitivity === undefined ? plan : { ...plan, sensitivity }
}

function planDue({ after, from, warn }: Definition['due'] & {}): PlannedDue {
  return {
    after: durationOf(after),
    ...(from !== undefined && { from: compileExpression(from) }),
    ...(warn !== undefined && { warn: durationOf(warn) }),
  }
}

/** A step makes due the rules that read it, and those that read `now`. */
function rulesByStep(
  rules: readonly DueRule[],
  keys: Iterable<string>,
): ReadonlyMap<string, readonly DueRule[]> {
  const after = new Map<string, readonly DueRule[]>()
  for (const key of keys) {
    const due = rules.filter(({ when: { reads } }) => reads.now || reads.steps.has(key))
    if (due.length > 0) after.set(key, due)
  }
  return after
}

/** The nearest `escalateTo` that applies at a step: its own, then those of the steps around it, then the definition's. */
export function escalateToOf(plan: Plan, node: PlanNode | undefined): EscalateTo | undefined {
  for (let at = node; at !== undefined; at = at.parent) {
    if (at.step.escalateTo !== undefined) return at.step.escalateTo
  }
  return plan.definition.escalateTo
}

function pinTool(pinned: {
  readonly contract: ToolContract
  readonly contractHash: string
}): PinnedTool {
  return {
    ...pinned,
    input: compileSchema(pinned.contract.input),
    output: compileSchema(pinned.contract.output),
  }
}
