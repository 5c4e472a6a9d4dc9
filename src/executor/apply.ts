import { type ExecutionStart, isStepEnded, type StepRow } from '../domain/execution.ts'
import type { Json, JsonObject } from '../domain/json.ts'
import type { Plan } from './plan.ts'

/**
 * All that deciding needs to know of a run: what was fixed at its start, and the fold of its rows. A run that was
 * loaded and one that was live have equal states, because both were built by `apply` from equal rows.
 */
export interface ExecutionState {
  readonly start: ExecutionStart
  /** What expressions see under `steps`: every key of the definition, from `pending` on. */
  readonly steps: Readonly<Record<string, JsonObject>>
  /** The row applied last; it says where the run stands. */
  readonly last: StepRow | undefined
  /** Blocks that were entered and not yet left, outermost first. */
  readonly openBlocks: readonly StepRow[]
  readonly nextOrdinal: number
  /** When the last step ended; before the first, when the run started. Never goes backwards. */
  readonly lastEndedAt: number
  /** Names of the tools that completed in this run. */
  readonly completedTools: readonly string[]
  /** Output of the step that completed last; the result of a run whose definition names none. */
  readonly lastOutput: Json
}

/** The state of a run of which nothing is recorded but its start. */
export function initialState(plan: Plan, start: ExecutionStart): ExecutionState {
  const steps: Record<string, JsonObject> = Object.create(null)
  for (const key of plan.nodes.keys()) steps[key] = { status: 'pending', attempts: 0 }
  return {
    start,
    steps,
    last: undefined,
    openBlocks: [],
    nextOrdinal: 1,
    lastEndedAt: start.startedAt,
    completedTools: [],
    lastOutput: null,
  }
}

/** The state after a row. Rows come in the order in which they were written; a row replaces one of its ordinal. */
export function apply(state: ExecutionState, row: StepRow): ExecutionState {
  const ended = isStepEnded(row.status)
  const completed = row.status === 'completed'
  const completesTool = completed && row.tool !== null && !state.completedTools.includes(row.tool)
  return {
    ...state,
    steps: { ...state.steps, [row.stepKey]: stepView(row) },
    last: row,
    openBlocks: openBlocksAfter(state.openBlocks, row),
    nextOrdinal: Math.max(state.nextOrdinal, row.ordinal + 1),
    lastEndedAt: ended ? Math.max(state.lastEndedAt, row.endedAt ?? 0) : state.lastEndedAt,
    completedTools: completesTool ? [...state.completedTools, row.tool] : state.completedTools,
    lastOutput: completed && row.kind !== 'steps' ? row.output : state.lastOutput,
  }
}

function stepView(row: StepRow): JsonObject {
  return {
    status: row.status,
    attempts: row.attempt,
    ...(row.status === 'completed' && { output: row.output }),
    ...(row.error !== null && { error: { code: row.error.code, message: row.error.message } }),
  }
}

function openBlocksAfter(open: readonly StepRow[], row: StepRow): readonly StepRow[] {
  if (row.kind !== 'steps') return open
  if (row.status === 'running') return [...open, row]
  return open.filter((block) => block.ordinal !== row.ordinal)
}
