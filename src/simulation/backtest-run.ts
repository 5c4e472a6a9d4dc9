import type { Need, RunVerdict } from '../domain/backtest.ts'
import { canonicalValue } from '../domain/canonical.ts'
import type { ExecutionRecord, ExecutionStart, Pin } from '../domain/execution.ts'
import type { Calendar } from '../domain/expression.ts'
import { fillInput } from '../domain/fill-input.ts'
import { isJsonObject, type JsonObject } from '../domain/json.ts'
import { placeOf } from '../domain/scenario.ts'
import type { Plan } from '../executor/plan.ts'
import { isFromOutside } from '../executor/replay.ts'
import { differencesOf, endFactsOf, findStepDifference, isSameValue } from './compare-runs.ts'
import { type HasTool, type PastRun, RecordedWorld } from './recorded-world.ts'
import { type SimulatedRun, simulate } from './simulate.ts'

/** A version that past runs are held against. */
export interface BacktestedVersion {
  readonly plan: Plan
  readonly hasTool: HasTool
  /** The working days of its tenant; of a run that was started with others, those count. */
  readonly calendar: Calendar | undefined
  /** Whether a text of a reason may be shown: it holds no value of a run that is sensitive. */
  readonly isShown: (text: string) => boolean
}

/** A called run is never started: its end is taken from the record, whatever version it was of. */
const anyPin: Pin = {
  versionId: 'ver_000000000000000000000',
  versionNumber: 1,
  definitionHash: '0'.repeat(64),
}

/**
 * What would have come of a finished run under another version, by what was observed in it. Nothing is called, and nothing
 * is assumed: where the version asks for what nobody has observed, that is the answer.
 *
 * `shown`: the same run without its sensitive values, of which the reason's text is taken.
 *
 * @see docs/decisions/0015-backtest.md
 */
export function backtestRun(
  { plan, hasTool, calendar, isShown }: BacktestedVersion,
  past: PastRun,
  shown: PastRun['record'] = past.record,
): RunVerdict {
  const { record } = past
  const { end, rows } = record
  if (end === null || shown.end === null)
    throw new TypeError('only runs that have ended are looked at')
  const before = endFactsOf(shown.end, () => true)
  const unknown = (need: Need, step: Extract<RunVerdict, { kind: 'unknown' }>['step']) =>
    ({ kind: 'unknown', before, need, step }) as const
  const input = inputFor(plan, past)
  const unasked = findUnasked(plan, past.plan, input)
  if (unasked !== undefined) {
    return unknown({ why: 'input_unknown', step: null, what: unasked }, null)
  }
  const world = new RecordedWorld(plan, past, hasTool)
  const run = simulate(plan, startFor(plan, record.start, input, calendar), world)
  if (isFromOutside(end) && reachesEnd(run, record)) return { kind: 'same' }
  const step = findStepDifference(rows, run.rows, run.end === null)
  if (run.end === null) {
    const { stepKey = '', iteration = '', kind } = run.stop ?? {}
    const need = kind === 'too_long' ? undefined : world.needAt({ stepKey, iteration })
    return unknown(need ?? { why: 'too_long', step: stepKey, what: null }, step)
  }
  if (run.end.reason?.code === 'tool_unknown') {
    const { stepKey = null } = run.end.reason
    const what = run.rows.at(-1)?.tool ?? null
    return unknown({ why: 'tool_gone', step: stepKey, what }, step)
  }
  const differs = differencesOf(end, run.end, world.hasSameWrites)
  if (differs.length === 0) return { kind: 'same' }
  return { kind: 'different', before, after: endFactsOf(run.end, isShown), differs, step }
}

/**
 * Whether a run comes by the same steps to where something from outside has ended the recorded one, and is not past it by
 * then.
 */
function reachesEnd(
  { rows, stop }: SimulatedRun,
  { rows: recorded, end }: ExecutionRecord,
): boolean {
  const last = recorded.at(-1)
  const isAtLast =
    rows.length === recorded.length - 1 &&
    stop !== null &&
    last?.endedAt === null &&
    placeOf(stop) === placeOf(last)
  if (rows.length < recorded.length && !isAtLast) return false
  const isPast = recorded.some(({ endedAt }, index) => {
    const now = rows[index]?.endedAt ?? null
    return endedAt === null && now !== null && now < (end?.endedAt ?? 0)
  })
  return !isPast && findStepDifference(recorded, rows.slice(0, recorded.length), true) === null
}

/** Under the rules of today, and with something for each procedure that it may call. */
function startFor(
  plan: Plan,
  { semanticsVersion: _then, pins, ...start }: ExecutionStart,
  input: JsonObject,
  calendar: Calendar | undefined,
): ExecutionStart {
  const isCounted = plan.countsWorkdays && calendar !== undefined
  return {
    ...(isCounted && { calendar }),
    ...start,
    input,
    ...(plan.calls.length > 0 && {
      pins: { ...Object.fromEntries(plan.calls.map((key) => [key, anyPin])), ...pins },
    }),
  }
}

/** The recorded input; where another one is asked for, with what the ticket's text has of it, as at a start. */
function inputFor({ definition: { input: schema } }: Plan, { plan, record }: PastRun): JsonObject {
  const { input, ticket } = record.start
  if (isSameSchema(schema, plan.definition.input)) return input
  const filled = canonicalValue(fillInput({ schema, input, text: ticket?.text }).input)
  return isJsonObject(filled) ? filled : input
}

/** Schemas that were compared: all runs of a version have one. */
const compared = new WeakMap<JsonObject, WeakMap<JsonObject, boolean>>()
const anything: JsonObject = {}

function isSameSchema(one: JsonObject = anything, other: JsonObject = anything): boolean {
  const known = compared.get(one) ?? new WeakMap<JsonObject, boolean>()
  compared.set(one, known)
  const isSame = known.get(other) ?? isSameValue(one, other)
  known.set(other, isSame)
  return isSame
}

/** A property that is required and missing, and that the version of then did not know: who started it may have had it. */
function findUnasked(plan: Plan, then: Plan, input: JsonObject): string | undefined {
  const { required } = plan.definition.input ?? {}
  const known = then.definition.input?.properties
  if (!Array.isArray(required)) return undefined
  return required.find(
    (name): name is string =>
      typeof name === 'string' &&
      !Object.hasOwn(input, name) &&
      !(isJsonObject(known) && Object.hasOwn(known, name)),
  )
}
