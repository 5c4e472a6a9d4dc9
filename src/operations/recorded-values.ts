import type { StepRow } from '../domain/execution.ts'
import type { Path } from '../domain/expression.ts'
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts'
import { scalarsOf } from '../domain/scalars.ts'
import type { ExecutionState } from '../executor/apply.ts'
import type { ComputeNode, Plan } from '../executor/plan.ts'
import { type RecordedValue, sensitiveValues } from '../reply/facts.ts'

/** What a run recorded that a reply may draw on, in the order of the record. */
export interface RunRecord {
  readonly values: readonly RecordedValue[]
  /** Sensitive values of the run, which reach neither a model nor a reply. */
  readonly sensitive: readonly Json[]
}

/**
 * The validated input and the outputs of completed steps. Of a computed value everything is left out that was computed
 * from what is sensitive.
 */
export function recordedValues(
  plan: Plan,
  state: ExecutionState,
  rows: readonly StepRow[],
): RunRecord {
  const { input } = state.start
  const schema = plan.definition.input ?? {}
  const ofInput = recorded(null, '', input, schema)
  const values = plan.input.problems(input).length === 0 ? [ofInput] : []
  const sensitive = [...sensitiveValues([ofInput])]
  const tainted: Path[] = sensitivePaths(['input'], ofInput)

  for (const row of lastRows(rows)) {
    const node = plan.nodes.get(row.stepKey)
    if (node === undefined || state.steps[row.stepKey]?.status !== 'completed') continue
    const root: Path = ['steps', row.stepKey, 'output']
    if (node.kind === 'compute') {
      const output = withoutTainted(node, row.output, root, tainted)
      const properties = Object.fromEntries(node.values.map(([name]) => [name, {}]))
      values.push(recorded(row.stepKey, row.stepKey, output, { properties }))
      continue
    }
    const tool = node.kind === 'tool' ? plan.tools.get(node.step.tool) : undefined
    if (tool === undefined) continue
    const { contract } = tool
    const value = {
      ...recorded(row.stepKey, contract.name, row.output ?? null, contract.output),
      states: contract.states,
      calledWith: row.input,
    }
    values.push(value)
    tainted.push(...sensitivePaths(root, value))
    const sent = recorded(row.stepKey, contract.name, row.input ?? null, contract.input)
    sensitive.push(...sensitiveValues([value, sent]))
  }
  return { values, sensitive }
}

function recorded(
  stepKey: string | null,
  subject: string,
  value: Json,
  schema: JsonObject,
): RecordedValue {
  return { stepKey, subject, value, schema, states: [], calledWith: null }
}

/** The last row of each step: what `steps.KEY.output` reads at the end. */
function lastRows(rows: readonly StepRow[]): readonly StepRow[] {
  const last = new Map(rows.map((row) => [row.stepKey, row]))
  return rows.filter((row) => last.get(row.stepKey) === row)
}

function sensitivePaths(root: Path, { value, schema }: RecordedValue): Path[] {
  return scalarsOf(value, schema).flatMap(({ path, isSensitive }): Path[] =>
    isSensitive ? [[...root, ...path]] : [],
  )
}

/** Leaves out the values whose expressions read what is tainted, and taints them in turn. */
function withoutTainted(node: ComputeNode, output: Json, root: Path, tainted: Path[]): JsonObject {
  const isTainted = new Set(
    node.values.flatMap(([name, { reads }]) =>
      reads.paths.some(({ path }) => tainted.some((other) => overlap(path, other))) ? [name] : [],
    ),
  )
  tainted.push(...[...isTainted].map((name): Path => [...root, name]))
  const members = isJsonObject(output) ? Object.entries(output) : []
  return Object.fromEntries(members.filter(([name]) => !isTainted.has(name)))
}

/** Whether one path leads to the other or into it. */
function overlap(a: Path, b: Path): boolean {
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a]
  return shorter.every((link, index) => longer[index] === link)
}
