import { storedValue } from '../domain/canonical.ts'
import { type ExecutionStart, isStepEnded, type StepRow } from '../domain/execution.ts'
import type { Scope } from '../domain/expression.ts'
import { type Json, type JsonObject, setMember, withoutPrototype } from '../domain/json.ts'
import type { Plan } from './plan.ts'

/**
 * All that deciding needs to know of a run: what was fixed at its start, and the fold of its rows. A run that was
 * loaded and one that was live have equal states, because both were built by `apply` from equal rows.
 */
export interface ExecutionState {
  readonly start: ExecutionStart
  /** What expressions see of the start, in the form in which they see it. */
  readonly seen: Pick<Scope, 'input' | 'ticket' | 'execution'>
  /** What expressions see under `steps`: every key of the definition, from `pending` on. Made anew at each read. */
  readonly steps: Readonly<Record<string, JsonObject>>
  /** The same, each at the place of its step in the plan: a list is copied in no time, however many steps there are. */
  readonly views: readonly JsonObject[]
  readonly places: Plan['places']
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
  const { executionId, startedAt, input, ticket } = start
  return new State({
    start,
    seen: {
      input,
      ticket: ticket === null ? {} : storedValue(ticket),
      execution: { id: executionId, startedAt: new Date(startedAt).toISOString() },
    },
    views: Array.from(plan.nodes, () => pending),
    places: plan.places,
    last: undefined,
    openBlocks: [],
    nextOrdinal: 1,
    lastEndedAt: startedAt,
    completedTools: [],
    lastOutput: null,
  })
}

/** The state after a row. Rows come in the order in which they were written; a row replaces one of its ordinal. */
export function apply(state: ExecutionState, row: StepRow): ExecutionState {
  const ended = isStepEnded(row.status)
  const completed = row.status === 'completed'
  const completesTool = completed && row.tool !== null && !state.completedTools.includes(row.tool)
  return new State({
    start: state.start,
    seen: state.seen,
    views: state.views.with(placeOf(state, row.stepKey), stepView(row)),
    places: state.places,
    last: row,
    openBlocks: openBlocksAfter(state.openBlocks, row),
    nextOrdinal: Math.max(state.nextOrdinal, row.ordinal + 1),
    lastEndedAt: ended ? Math.max(state.lastEndedAt, row.endedAt ?? 0) : state.lastEndedAt,
    completedTools: completesTool ? [...state.completedTools, row.tool] : state.completedTools,
    lastOutput: completed && row.kind !== 'steps' ? row.output : state.lastOutput,
  })
}

/** What expressions see of one step; undefined for a key that the definition has not. */
export function findStepView(
  { places, views }: Pick<ExecutionState, 'places' | 'views'>,
  key: string,
): JsonObject | undefined {
  return Object.hasOwn(places, key) ? views[places[key] ?? -1] : undefined
}

const pending: JsonObject = { status: 'pending', attempts: 0 }

class State implements ExecutionState {
  readonly start
  readonly seen
  readonly views
  readonly places
  readonly last
  readonly openBlocks
  readonly nextOrdinal
  readonly lastEndedAt
  readonly completedTools
  readonly lastOutput

  constructor(fields: Omit<ExecutionState, 'steps'>) {
    this.start = fields.start
    this.seen = fields.seen
    this.views = fields.views
    this.places = fields.places
    this.last = fields.last
    this.openBlocks = fields.openBlocks
    this.nextOrdinal = fields.nextOrdinal
    this.lastEndedAt = fields.lastEndedAt
    this.completedTools = fields.completedTools
    this.lastOutput = fields.lastOutput
  }

  get steps(): Readonly<Record<string, JsonObject>> {
    return allStepViews(this)
  }
}

/** The views of all steps by their keys. */
export function allStepViews({
  places,
  views,
}: Pick<ExecutionState, 'places' | 'views'>): Readonly<Record<string, JsonObject>> {
  const steps: Record<string, JsonObject> = {}
  for (const [key, place] of Object.entries(places)) setMember(steps, key, views[place] ?? pending)
  return withoutPrototype(steps)
}

function placeOf({ places }: ExecutionState, key: string): number {
  const place = Object.hasOwn(places, key) ? places[key] : undefined
  if (place === undefined) throw new TypeError(`step ${key} is not in the definition`)
  return place
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
