import type { Definition, EscalationRule, Precondition } from '../domain/definition.ts'
import { durationMs } from '../domain/duration.ts'
import { compileExpression, type Expression } from '../domain/expression.ts'
import type { JsonObject } from '../domain/json.ts'
import { compileSchema, type SchemaValidator } from '../domain/json-schema.ts'
import {
  type BlockStep,
  type ChooseStep,
  type ComputeStep,
  type Condition,
  type EndStep,
  type EscalateTo,
  type RequireStep,
  type Step,
  type StepKind,
  stepKind,
  type ToolStep,
} from '../domain/step.ts'
import { compileTemplate, type Template } from '../domain/template.ts'
import type { ToolContract } from '../domain/tool.ts'

/** A tool as a version pinned it: what was approved, ready to be checked against. */
export interface PinnedTool {
  readonly contract: ToolContract
  readonly contractHash: string
  readonly input: SchemaValidator
  readonly output: SchemaValidator
}

export interface PlannedCondition<C extends Condition = Condition> {
  readonly condition: C
  /** Absent for prose, which is shown and not enforced. */
  readonly when?: Expression
}

/** An escalation rule that can become due. */
export interface DueRule {
  /** Its place among all rules of the definition. */
  readonly index: number
  readonly condition: EscalationRule
  readonly when: Expression
}

interface NodeBase {
  readonly key: string
  readonly kind: StepKind
  readonly when?: Expression
  /** The list that this step stands in belongs to this node; absent at the top. */
  readonly parent?: PlanNode
  /** The next step of the same list; absent for the last. */
  next?: PlanNode
}

export interface ToolNode extends NodeBase {
  readonly kind: 'tool'
  readonly step: ToolStep
  readonly input: Template
  readonly expect?: Expression
  readonly timeoutMs?: number
  readonly retry: {
    readonly maxAttempts: number
    readonly delayMs: number
    readonly backoff: number
  }
}

export interface ComputeNode extends NodeBase {
  readonly kind: 'compute'
  readonly step: ComputeStep
  readonly values: readonly (readonly [name: string, value: Expression])[]
}

export interface RequireNode extends NodeBase {
  readonly kind: 'require'
  readonly step: RequireStep
  readonly conditions: readonly PlannedCondition[]
  /** First step of `otherwise`, where that is a list. */
  otherwise?: PlanNode
}

export interface ChooseNode extends NodeBase {
  readonly kind: 'choose'
  readonly step: ChooseStep
  choices: readonly { readonly text: string; readonly when: Expression; readonly first: PlanNode }[]
  otherwise?: PlanNode
}

export interface BlockNode extends NodeBase {
  readonly kind: 'steps'
  readonly step: BlockStep
  first?: PlanNode
}

export interface EndNode extends NodeBase {
  readonly kind: 'end'
  readonly step: EndStep
  readonly text?: Template
}

/** A kind that can be written and checked, and that this service does not run. */
export interface OtherNode extends NodeBase {
  readonly kind: 'ask' | 'approval' | 'call' | 'wait'
  readonly step: Step
}

export type PlanNode =
  | ToolNode
  | ComputeNode
  | RequireNode
  | ChooseNode
  | BlockNode
  | EndNode
  | OtherNode

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
  return {
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

function linkSteps(
  steps: readonly Step[],
  parent: PlanNode | undefined,
  nodes: Map<string, PlanNode>,
): PlanNode | undefined {
  let first: PlanNode | undefined
  let before: PlanNode | undefined
  for (const step of steps) {
    const node = planStep(step, parent, nodes)
    if (before === undefined) first = node
    else before.next = node
    before = node
  }
  return first
}

function planStep(
  step: Step,
  parent: PlanNode | undefined,
  nodes: Map<string, PlanNode>,
): PlanNode {
  const base = {
    key: step.key,
    ...(step.when !== undefined && { when: compileExpression(step.when) }),
    ...(parent !== undefined && { parent }),
  }
  const add = <N extends PlanNode>(node: N): N => {
    nodes.set(node.key, node)
    return node
  }
  if ('tool' in step) {
    return add({
      ...base,
      kind: 'tool',
      step,
      input: compileTemplate(step.with ?? {}),
      ...(step.expect !== undefined && { expect: compileExpression(step.expect) }),
      ...(step.timeout !== undefined && { timeoutMs: durationMs(step.timeout) }),
      retry: {
        maxAttempts: step.retry?.maxAttempts ?? 1,
        delayMs: durationMs(step.retry?.delay ?? '1s'),
        backoff: step.retry?.backoff ?? 2,
      },
    })
  }
  if ('compute' in step) {
    return add({ ...base, kind: 'compute', step, values: namedExpressions(step.compute) })
  }
  if ('require' in step) {
    const node: RequireNode = add({
      ...base,
      kind: 'require',
      step,
      conditions: step.require.map(planCondition),
    })
    linkOtherwise(node, step.otherwise, nodes)
    return node
  }
  if ('choose' in step) {
    const node: ChooseNode = add({ ...base, kind: 'choose', step, choices: [] })
    node.choices = step.choose.map(({ text, when, steps }) => {
      const first = linkSteps(steps, node, nodes)
      if (first === undefined) throw new TypeError('a parsed choice has at least one step')
      return { text, when: compileExpression(when), first }
    })
    linkOtherwise(node, step.otherwise, nodes)
    return node
  }
  if ('end' in step) {
    return add({
      ...base,
      kind: 'end',
      step,
      ...(step.text !== undefined && { text: compileTemplate(step.text) }),
    })
  }
  if ('steps' in step) {
    const node: BlockNode = add({ ...base, kind: 'steps', step })
    const first = linkSteps(step.steps, node, nodes)
    if (first !== undefined) node.first = first
    return node
  }
  const kind = stepKind(step)
  if (kind !== 'ask' && kind !== 'approval' && kind !== 'call' && kind !== 'wait') {
    throw new TypeError(`step kind ${kind} has a branch above`)
  }
  return add({ ...base, kind, step })
}

function linkOtherwise(
  node: RequireNode | ChooseNode,
  otherwise: string | readonly Step[] | undefined,
  nodes: Map<string, PlanNode>,
): void {
  if (typeof otherwise !== 'object') return
  const first = linkSteps(otherwise, node, nodes)
  if (first !== undefined) node.otherwise = first
}

function planCondition<C extends Condition>(condition: C): PlannedCondition<C> {
  return {
    condition,
    ...(condition.when !== undefined && { when: compileExpression(condition.when) }),
  }
}

function namedExpressions(
  named: Readonly<Record<string, string>>,
): readonly (readonly [string, Expression])[] {
  return Object.entries(named).map(([name, source]) => [name, compileExpression(source)])
}
