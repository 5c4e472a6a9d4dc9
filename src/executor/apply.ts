import { storedValue } from '../domain/canonical.ts'
import {
  type ExecutionStart,
  isStepEnded,
  type StepError,
  type StepRow,
} from '../domain/execution.ts'
import type { Scope } from '../domain/expression.ts'
import { failureKindOf } from '../domain/failure.ts'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  setMember,
  withoutPrototype,
} from '../domain/json.ts'
import { depthOf, isLoopRow, outerOf, ownDepth, roundAt } from './iteration.ts'
import { pausedWithin } from './pauses.ts'
import type { Plan, PlanNode } from './plan.ts'

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
  readonly nodes: Plan['nodes']
  /** The row applied last; it says where the run stands. */
  readonly last: StepRow | undefined
  /** Blocks and loops that were entered and not yet left, outermost first. */
  readonly frames: readonly Frame[]
  /** What waits for a person, another run or a time, in the order in which it was begun. */
  readonly waiting: readonly StepRow[]
  /** Since when something waits, and for how long something has waited before, in milliseconds. */
  readonly waitingSince: number | undefined
  readonly waitedMs: number
  readonly nextOrdinal: number
  /** When the last step ended; before the first, when the run started. Never goes backwards. */
  readonly lastEndedAt: number
  /** Names of the tools that completed in this run. */
  readonly completedTools: readonly string[]
  /** Output of the step that completed last; the result of a run whose definition names none. */
  readonly lastOutput: Json
}

/** A block or a loop that was entered and not yet left. */
export interface Frame {
  readonly row: StepRow
  /** Of a loop: how many rounds were begun, and what those that have ended came to. */
  readonly begun: number
  readonly ended: number
  readonly results: readonly (RoundResult | undefined)[]
  /** Of a block: what the step that completed in it last came to. */
  readonly output: Json
}

/** What a round of a loop came to. */
export type RoundResult = Pick<StepRow, 'status' | 'output' | 'error'>

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
    nodes: plan.nodes,
    last: undefined,
    frames: [],
    waiting: [],
    waitingSince: undefined,
    waitedMs: 0,
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
  const lastEndedAt = ended ? Math.max(state.lastEndedAt, row.endedAt ?? 0) : state.lastEndedAt
  const yields = completed && row.kind !== 'steps'
  const { waiting, waitingSince, waitedMs } = waitsAfter(state, row, lastEndedAt)
  return new State({
    start: state.start,
    seen: state.seen,
    views: viewsAfter(state, row),
    places: state.places,
    nodes: state.nodes,
    last: row,
    frames: framesAfter(state, row, yields),
    waiting,
    waitingSince,
    waitedMs,
    nextOrdinal: Math.max(state.nextOrdinal, row.ordinal + 1),
    lastEndedAt,
    completedTools: completesTool ? [...state.completedTools, row.tool] : state.completedTools,
    lastOutput: yields ? row.output : state.lastOutput,
  })
}

/** Outside a loop its step is seen as a whole; when a round of it begins, all that is inside is pending again. */
function viewsAfter(state: ExecutionState, row: StepRow): readonly JsonObject[] {
  if (row.iteration === '')
    return state.views.with(placeOf(state, row.stepKey), stepView(state, row))
  const node = nodeOf(state, row.stepKey)
  if (ownDepth(node, row) === 0) {
    return state.views.with(placeOf(state, row.stepKey), stepView(state, row))
  }
  const isNewRound = row.ordinal >= state.nextOrdinal && node.kind === 'steps'
  if (!isNewRound || isLoopRow(node, row)) return state.views
  const views = [...state.views]
  for (const key of node.inner) views[placeOf(state, key)] = pending
  return views
}

function framesAfter(state: ExecutionState, row: StepRow, yields: boolean): readonly Frame[] {
  let { frames } = state
  const node = nodeOf(state, row.stepKey)
  if (row.iteration === '' && frames.length === 0 && !isFrame(node, row)) return frames
  const ended = isStepEnded(row.status)
  if (ended) frames = frames.filter((frame) => frame.row.ordinal !== row.ordinal)
  if (yields) {
    frames = frames.map((frame) =>
      frame.row.kind === 'steps' ? { ...frame, output: row.output } : frame,
    )
  }
  if (ownDepth(node, row) > 0) {
    const outer = outerOf(row.iteration)
    const round = roundAt(row.iteration, depthOf(outer))
    frames = frames.map((frame) => {
      const { stepKey, iteration } = frame.row
      if (stepKey !== row.stepKey || iteration !== outer) return frame
      const { status, output, error } = row
      return {
        ...frame,
        begun: Math.max(frame.begun, round + 1),
        ...(ended && {
          ended: frame.ended + 1,
          results: withResult(frame.results, round, { status, output, error }),
        }),
      }
    })
  }
  const isOpen = !ended && isFrame(node, row)
  const isNew = row.ordinal >= state.nextOrdinal
  const frame: Frame = { row, begun: 0, ended: 0, results: [], output: null }
  return isOpen && isNew ? [...frames, frame] : frames
}

function withResult(
  results: Frame['results'],
  round: number,
  result: RoundResult,
): Frame['results'] {
  const copy = [...results]
  copy[round] = result
  return copy
}

function isFrame(node: PlanNode, row: StepRow): boolean {
  return node.kind === 'steps' || isLoopRow(node, row)
}

function waitsAfter(
  state: ExecutionState,
  row: StepRow,
  lastEndedAt: number,
): Pick<ExecutionState, 'waiting' | 'waitingSince' | 'waitedMs'> {
  const { waiting, waitingSince } = state
  const isWaiting = row.status === 'waiting' || waiting.length > 0
  if (!isWaiting && row.iteration === '') return state
  const waitedMs = state.waitedMs + pauseBefore(state, row)
  if (!isWaiting) return { waiting, waitingSince, waitedMs }
  const others = waiting.filter(({ ordinal }) => ordinal !== row.ordinal)
  if (row.status === 'waiting') {
    const at = others.findIndex(({ ordinal }) => ordinal > row.ordinal)
    const all = at === -1 ? [...others, row] : others.toSpliced(at, 0, row)
    return { waiting: all, waitingSince: waitingSince ?? row.startedAt, waitedMs }
  }
  if (others.length > 0) return { waiting: others, waitingSince, waitedMs }
  const since = waitingSince ?? lastEndedAt
  // Pauses are counted by themselves.
  const waited = lastEndedAt - since - pausedWithin(state.start.pauses, since, lastEndedAt)
  return { waiting: others, waitingSince: undefined, waitedMs: waitedMs + Math.max(0, waited) }
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
  readonly nodes
  readonly last
  readonly frames
  readonly waiting
  readonly waitingSince
  readonly waitedMs
  readonly nextOrdinal
  readonly lastEndedAt
  readonly completedTools
  readonly lastOutput

  constructor(fields: Omit<ExecutionState, 'steps'>) {
    this.start = fields.start
    this.seen = fields.seen
    this.views = fields.views
    this.places = fields.places
    this.nodes = fields.nodes
    this.last = fields.last
    this.frames = fields.frames
    this.waiting = fields.waiting
    this.waitingSince = fields.waitingSince
    this.waitedMs = fields.waitedMs
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

/** How long a poll has rested before a round of it. */
function pauseBefore(state: ExecutionState, row: StepRow): number {
  if (row.iteration === '' || row.ordinal < state.nextOrdinal) return 0
  const node = nodeOf(state, row.stepKey)
  const isPoll = node.loops.rounds !== undefined && node.loops.rounds.everyMs > 0
  return isPoll && !isLoopRow(node, row) ? row.startedAt - state.lastEndedAt : 0
}

function nodeOf({ nodes }: ExecutionState, key: string): PlanNode {
  const node = nodes.get(key)
  if (node === undefined) throw new TypeError(`step ${key} is not in the definition`)
  return node
}

function stepView(state: ExecutionState, row: StepRow): JsonObject {
  const completed = row.status === 'completed'
  return {
    status: row.status,
    attempts: row.attempt,
    ...(completed && { output: row.output }),
    ...(completed && row.attempt === 0 && itemsView(state, row)),
    ...(row.error !== null && { error: errorView(row.error) }),
  }
}

function errorView({ code, message, kind = failureKindOf(code) }: StepError): JsonObject {
  return { code, kind, message }
}

/** What became of each item of a list, once its loop is done. */
function itemsView(state: ExecutionState, row: StepRow): { readonly items?: Json } {
  const frame = state.frames.find(({ row: { ordinal } }) => ordinal === row.ordinal)
  const items = itemsOf(row)
  if (frame === undefined || items === undefined) return {}
  return {
    items: items.map((item, index) => {
      const result = frame.results[index]
      const output = result?.status === 'completed' ? result.output : null
      return { item, status: result?.status ?? 'pending', output }
    }),
  }
}

/** The list that a loop goes through; undefined for any other row. */
export function itemsOf({ input, attempt }: StepRow): readonly Json[] | undefined {
  if (attempt !== 0 || !isJsonObject(input) || !Array.isArray(input.items)) return undefined
  return input.items
}
