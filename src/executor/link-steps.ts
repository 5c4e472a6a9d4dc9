import { durationMs, durationOf } from '../domain/duration.ts'
import { compileExpression, type Expression } from '../domain/expression.ts'
import { compileSchema } from '../domain/json-schema.ts'
import { type Condition, type Step, stepKind } from '../domain/step.ts'
import { compileTemplate } from '../domain/template.ts'
import {
  type BlockNode,
  type ChooseNode,
  type Loops,
  loopDepth,
  type PlanNode,
  type PlannedCondition,
  type RequireNode,
} from './plan-nodes.ts'

const defaultMaxItems = 100

/** Compiles a list of steps and all that is in them, each linked to what follows it; answers the first. */
export function linkSteps(
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
    depth: depthInside(parent),
    loops: loopsOf(step),
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
    const node: BlockNode = add({ ...base, kind: 'steps', step, inner: [] })
    const before = nodes.size
    const first = linkSteps(step.steps, node, nodes)
    if (first !== undefined) node.first = first
    node.inner = [...nodes.keys()].slice(before)
    return node
  }
  if ('ask' in step) {
    return add({
      ...base,
      kind: 'ask',
      step,
      message: compileTemplate(step.message),
      answer: compileSchema(step.answer),
      ...(step.deadline !== undefined && { deadline: durationOf(step.deadline) }),
      ...(step.remind !== undefined && { remind: durationOf(step.remind) }),
    })
  }
  if ('approval' in step) {
    return add({
      ...base,
      kind: 'approval',
      step,
      show: compileTemplate(step.show),
      ...(step.deadline !== undefined && { deadline: durationOf(step.deadline) }),
    })
  }
  if ('call' in step) {
    return add({ ...base, kind: 'call', step, input: compileTemplate(step.with ?? {}) })
  }
  if ('wait' in step) {
    const { wait } = step
    const until = 'for' in wait ? durationOf(wait.for) : compileExpression(wait.until)
    return add({ ...base, kind: 'wait', step, until })
  }
  step satisfies never
  throw new TypeError(`step kind ${stepKind(step)} has a branch above`)
}

function depthInside(parent: PlanNode | undefined): number {
  if (parent === undefined) return 0
  return parent.kind === 'steps' ? parent.depth + loopDepth(parent) : parent.depth
}

function loopsOf(step: Step): Loops {
  const poll = 'poll' in step ? step.poll : undefined
  const rounds = poll ?? ('repeat' in step ? step.repeat : undefined)
  return {
    ...('forEach' in step &&
      step.forEach !== undefined && {
        each: {
          list: compileExpression(step.forEach),
          maxItems: step.maxItems ?? defaultMaxItems,
        },
      }),
    ...(rounds !== undefined && {
      rounds: {
        until: compileExpression(rounds.until),
        atMost: rounds.atMost,
        otherwise: rounds.otherwise ?? 'escalated',
        everyMs: poll === undefined ? 0 : durationMs(poll.every),
      },
    }),
  }
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

export function planCondition<C extends Condition>(condition: C): PlannedCondition<C> {
  return {
    condition,
    ...(condition.when !== undefined && { when: compileExpression(condition.when) }),
  }
}

export function namedExpressions(
  named: Readonly<Record<string, string>>,
): readonly (readonly [string, Expression])[] {
  return Object.entries(named).map(([name, source]) => [name, compileExpression(source)])
}
