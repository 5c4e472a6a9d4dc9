import { isStepEnded, type StepRow } from '../domain/execution.ts'
import { isJsonObject } from '../domain/json.ts'
import { isEachRow, isLoopRow, ownDepth } from '../executor/iteration.ts'
import type { Plan, PlanNode } from '../executor/plan.ts'
import type { SimulatedRun } from './simulate.ts'

/** One way on that the author of a playbook wrote down; `step` is null for an escalation rule. */
export interface Branch {
  readonly step: string | null
  readonly branch: string
}

/** How much of a playbook some runs have reached. */
export interface Coverage {
  readonly steps: { readonly total: number; readonly reached: number }
  readonly branches: { readonly total: number; readonly reached: number }
  /** In the order of the definition. */
  readonly unreached: { readonly steps: readonly string[]; readonly branches: readonly Branch[] }
}

/**
 * Which steps and branches of a plan were reached by at least one of the runs. docs/scenarios.md says what counts as a
 * branch.
 */
export function coverageOf(plan: Plan, runs: readonly SimulatedRun[]): Coverage {
  const reached = new Set<string>()
  for (const run of runs) noteRun(plan, run, (branch) => reached.add(nameOf(branch)))
  const steps = [...plan.nodes.keys()]
  const branches = branchesOf(plan)
  const unreached = {
    steps: steps.filter((step) => !reached.has(nameOf({ step, branch: ran }))),
    branches: branches.filter((branch) => !reached.has(nameOf(branch))),
  }
  return {
    steps: { total: steps.length, reached: steps.length - unreached.steps.length },
    branches: { total: branches.length, reached: branches.length - unreached.branches.length },
    unreached,
  }
}

const ran = ''
const whenHolds = 'when holds'
const whenFails = 'when does not hold'
const otherwise = 'otherwise'
const withItems = 'a list with items'
const empty = 'an empty list'

const holds = (text: string) => `'${text}' holds`
const fails = (text: string) => `'${text}' does not hold`
const chosen = (text: string) => `'${text}' is chosen`
const matches = (text: string) => `rule '${text}' matches`
const clear = (text: string) => `rule '${text}' does not match`
const after = (field: string, what: string) => `${field}: ${what}`

function nameOf({ step, branch }: Branch): string {
  return `${step ?? ''}\n${branch}`
}

function branchesOf(plan: Plan): readonly Branch[] {
  const rules = plan.rules.flatMap(({ condition: { text }, when }) =>
    when === undefined
      ? []
      : [matches(text), clear(text)].map((branch) => ({ step: null, branch })),
  )
  const ofSteps = [...plan.nodes.values()].flatMap((node) =>
    branchNames(node).map((branch) => ({ step: node.key, branch })),
  )
  return [...ofSteps, ...rules]
}

function branchNames(node: PlanNode): readonly string[] {
  return [
    ...(node.when === undefined ? [] : [whenHolds, whenFails]),
    ...(node.loops.each === undefined ? [] : [withItems, empty]),
    ...kindBranches(node),
    ...[...failureFields(node)].map(([field, what]) => after(field, what)),
  ]
}

function kindBranches(node: PlanNode): readonly string[] {
  if (node.kind === 'choose') {
    const choices = node.choices.map(({ text }) => chosen(text))
    // Without one it escalates what nobody foresaw, and often nothing is left to foresee.
    return node.step.otherwise === undefined ? choices : [...choices, otherwise]
  }
  if (node.kind !== 'require') return []
  return node.conditions.flatMap(({ condition: { text }, when }) =>
    when === undefined ? [] : [holds(text), fails(text)],
  )
}

/** The failures that a step says how to go on from, by the code that they have. */
function failureFields(node: PlanNode): ReadonlyMap<string, 'continue' | 'declined'> {
  const step: { readonly [field: string]: unknown } = { ...node.step }
  const fields = new Map<string, 'continue' | 'declined'>()
  const note = (field: string, value: unknown) => {
    if (value === 'continue' || value === 'declined') fields.set(field, value)
  }
  for (const field of ['onError', 'onDeadline', 'onDenied']) note(field, step[field])
  for (const field of ['poll', 'repeat']) {
    const loop = step[field]
    if (isJsonObject(loop)) note(`${field}.otherwise`, loop.otherwise)
  }
  return fields
}

function noteRun(plan: Plan, { rows, end }: SimulatedRun, note: (branch: Branch) => void): void {
  for (const row of rows) {
    const node = plan.nodes.get(row.stepKey)
    if (node === undefined) continue
    const reach = (branch: string) => note({ step: node.key, branch })
    noteRow(node, row, reach)
    // The end says of the last failure whether it ended the run otherwise than its step wants.
    const isLast = row === rows.at(-1)
    const ended = isLast && end?.status === 'escalated' && end.reason?.code === row.error?.code
    if (row.error !== null && !ended) noteFailure(node, row, reach)
  }
  for (const { kind, text, verdict } of end?.conditions ?? []) {
    if (kind !== 'rule') continue
    if (verdict === 'matched') note({ step: null, branch: matches(text) })
    if (verdict === 'clear') note({ step: null, branch: clear(text) })
  }
}

function noteRow(node: PlanNode, row: StepRow, reach: (branch: string) => void): void {
  if (row.status === 'skipped') {
    reach(whenFails)
    return
  }
  reach(ran)
  const isUnknown = row.error?.code === 'expression_failed'
  if (node.when !== undefined && isWhenTested(node, row) && !isUnknown) reach(whenHolds)
  if (isLoopRow(node, row)) {
    if (!isEachRow(node, row) || !isJsonObject(row.input)) return
    const { items } = row.input
    reach(Array.isArray(items) && items.length > 0 ? withItems : empty)
    return
  }
  if (!isStepEnded(row.status) || !isJsonObject(row.output)) return
  if (node.kind === 'choose') {
    reach(typeof row.output.chosen === 'string' ? chosen(row.output.chosen) : otherwise)
  }
  if (node.kind === 'require') noteConditions(node, row.output.unmet, reach)
}

/** A `when` is tested for each item of a list, of all else before the first round. */
function isWhenTested(node: PlanNode, row: StepRow): boolean {
  return ownDepth(node, row) === (node.loops.each === undefined ? 0 : 1)
}

function noteConditions(
  { conditions }: Extract<PlanNode, { readonly kind: 'require' }>,
  unmet: unknown,
  reach: (branch: string) => void,
): void {
  // In order, up to the first that does not hold.
  for (const [index, { condition, when }] of conditions.entries()) {
    if (when === undefined) continue
    const isUnmet = index === unmet
    reach(isUnmet ? fails(condition.text) : holds(condition.text))
    if (isUnmet) return
  }
}

function noteFailure(node: PlanNode, { error }: StepRow, reach: (branch: string) => void): void {
  for (const [field, what] of failureFields(node)) {
    if (isFieldOf(field, error?.code)) reach(after(field, what))
  }
}

function isFieldOf(field: string, code: string | undefined): boolean {
  if (field === 'onDeadline') return code === 'deadline_passed'
  if (field === 'onDenied') return code === 'approval_denied'
  if (field === 'onError') return code !== 'loop_exhausted'
  return code === 'loop_exhausted'
}
