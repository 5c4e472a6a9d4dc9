import { canonicalJson } from '../domain/canonical.ts'
import type { StepRow } from '../domain/execution.ts'
import type { Scope } from '../domain/expression.ts'
import type { Json } from '../domain/json.ts'
import type { ExecutionState } from '../executor/apply.ts'
import type { Plan } from '../executor/plan.ts'
import { saysNo } from '../reply/claims.ts'
import type { RecordedValue, Unsayable } from '../reply/facts.ts'
import { findLaterWrites, type ToolCall } from '../reply/tool-call.ts'
import type { OpenedRun } from './sensitive-run.ts'
import { findUnsayable } from './unsayable.ts'

/** What a run recorded that a reply may draw on, in the order of the record. */
export interface RunRecord {
  /** What facts may be taken from. */
  readonly values: readonly RecordedValue[]
  /** Every call of a tool, whatever came of it; a run that was called is a write of nobody knows what. */
  readonly calls: readonly ToolCall[]
  /** What no reply may show, the approved wording included. */
  readonly unsayable: readonly Unsayable[]
  /** Sensitive values of the run, which reach neither a model nor a reply. */
  readonly sensitive: readonly Json[]
}

/** What a tool said longer than this before the last step ended may no longer be so: others act on the same things. */
const freshMs = 10 * 60_000

/**
 * The validated input and the outputs of calls that completed. Left out is what may no longer be so, since a later write
 * or a run that was called later may have changed it, or much time has passed, as it does where a run waits; what a write
 * says that says itself that it did nothing; and what was computed, of which nobody can tell by its name what it is.
 */
export function recordedValues(
  plan: Plan,
  state: ExecutionState,
  { record: { rows }, values: stored }: Pick<OpenedRun, 'record' | 'values'>,
  scope: Scope,
): RunRecord {
  const { input } = state.start
  const values: RecordedValue[] = []
  if (plan.input.problems(input).length === 0) {
    values.push({ value: input, schema: plan.definition.input ?? {}, call: null })
  }
  const all = rows.flatMap((row) => toolCall(plan, row))
  const calls = all.map(({ call }) => call)
  const laterWrites = findLaterWrites(calls)
  const inputs = inputsByTool(calls)
  const isStale = ({ endedAt }: StepRow): boolean => state.lastEndedAt - (endedAt ?? 0) > freshMs
  const lastRow = new Map(rows.map((row) => [row.stepKey, row]))
  for (const { row, call } of all) {
    const contract = plan.tools.get(call.tool)?.contract
    if (contract === undefined || row.status !== 'completed') continue
    const isDenied = call.effect === 'write' && saysNo(call.output)
    if (lastRow.get(row.stepKey) !== row || isDenied || laterWrites(call).length > 0) continue
    if (isStale(row)) continue
    const { tool, effect } = call
    const isOneOfSeveral = (inputs.get(tool)?.size ?? 0) > 1
    const { output: schema, states } = contract
    const made = { stepKey: row.stepKey, tool, effect, input: call.input, states, isOneOfSeveral }
    values.push({ value: call.output, schema, call: made })
  }
  // What is put together of several values may hold some that are no secrets; those that are stand apart as well.
  const apart = stored.flatMap(({ value, isWhole }): readonly Json[] =>
    isWhole && !/^[[{]/.test(value) ? [JSON.parse(value)] : [],
  )
  return { values, calls, ...findUnsayable(plan, rows, scope, apart) }
}

/** The different inputs that each tool was called with, as canonical JSON. */
function inputsByTool(calls: readonly ToolCall[]): ReadonlyMap<string, ReadonlySet<string>> {
  const inputs = new Map<string, Set<string>>()
  for (const { tool, input } of calls) {
    const known = inputs.get(tool) ?? new Set()
    inputs.set(tool, known.add(canonicalJson(input)))
  }
  return inputs
}

function toolCall(
  plan: Plan,
  row: StepRow,
): readonly { readonly row: StepRow; readonly call: ToolCall }[] {
  const { tool, status, attempt, input, output } = row
  if (row.kind === 'call' && status !== 'skipped') return [{ row, call: anyWrite }]
  if (tool === null || status === 'skipped' || attempt === 0) return []
  // What is not known to be a read may have changed anything.
  const effect = plan.tools.get(tool)?.contract.effect ?? 'write'
  return [{ row, call: { tool, effect, input, output, result: resultOf(row) } }]
}

/** A run that was called: what it wrote stands in a record of its own, so it may have been anything. */
const anyWrite: ToolCall = {
  tool: '',
  effect: 'write',
  input: null,
  output: null,
  result: 'unknown',
}

/** An attempt of which nobody knows what it did leaves the whole call unknown, also when a later one completed. */
function resultOf({ status, output, attempts }: StepRow): ToolCall['result'] {
  const results = (attempts ?? []).map(({ result }) => result)
  const isCertain = results.every((result) => result === 'refused' || result === 'failed')
  if (status === 'completed') return isCertain ? 'done' : 'unknown'
  return status === 'failed' && isCertain && results.length > 0 && output === null
    ? 'not_done'
    : 'unknown'
}
