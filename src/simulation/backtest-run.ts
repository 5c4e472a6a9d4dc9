import type { EndFacts, Need, RunVerdict, StepDifference } from '../domain/backtest.ts'
import { canonicalValue } from '../domain/canonical.ts'
import type { Definition } from '../domain/definition.ts'
import type { ExecutionRecord, ExecutionStart, Pin } from '../domain/execution.ts'
import type { Calendar } from '../domain/expression.ts'
import { fillInput } from '../domain/fill-input.ts'
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts'
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
}

/** What is the same for all runs of a past version. */
interface PastVersion {
  /** Whether it asks for the same input. */
  readonly hasSameInput: boolean
  readonly texts: ReadonlySet<string>
}

/** A called run is never started: its end is taken from the record, whatever version it was of. */
const anyPin: Pin = {
  versionId: 'ver_000000000000000000000',
  versionNumber: 1,
  definitionHash: '0'.repeat(64),
}

/**
 * Says of finished runs what would have come of each under another version, by what was observed in it. Nothing is called,
 * and nothing is assumed: where the version asks for what nobody has observed, that is the answer. No verdict holds a value
 * of a run.
 *
 * @see docs/decisions/0015-backtest.md
 */
export function createBacktest(version: BacktestedVersion): (past: PastRun) => RunVerdict {
  const { plan } = version
  const texts = fixedTexts(plan.definition)
  const pastVersions = new Map<Plan, PastVersion>()
  const pastVersionOf = ({ definition }: Plan): PastVersion => ({
    hasSameInput: isSameValue(plan.definition.input ?? {}, definition.input ?? {}),
    texts: fixedTexts(definition),
  })
  return (past) => {
    const known = pastVersions.get(past.plan) ?? pastVersionOf(past.plan)
    pastVersions.set(past.plan, known)
    return verdictOn(version, texts, past, known)
  }
}

function verdictOn(
  { plan, hasTool, calendar }: BacktestedVersion,
  texts: ReadonlySet<string>,
  past: PastRun,
  { hasSameInput, texts: pastTexts }: PastVersion,
): RunVerdict {
  const { record } = past
  const { end, rows } = record
  if (end === null) throw new TypeError('only runs that have ended are looked at')
  const before = endFactsOf(end, pastTexts)
  const input = hasSameInput ? record.start.input : inputFor(plan, record.start)
  const unasked = hasSameInput ? undefined : findUnasked(plan, past.plan, input)
  if (unasked !== undefined) {
    return unknown(before, { why: 'input_unknown', step: null, what: unasked }, null)
  }
  const world = new RecordedWorld(plan, past, hasTool)
  const run = simulate(plan, startFor(plan, record.start, input, calendar), world)
  if (isFromOutside(end) && reachesEnd(run, record)) return { kind: 'same' }
  const step = findStepDifference(rows, run.rows, run.end === null)
  const { stop } = run
  if (run.end === null) {
    const need = stop === null || stop.kind === 'too_long' ? undefined : world.needAt(stop)
    const tooLong: Need = { why: 'too_long', step: stop?.stepKey ?? null, what: null }
    return unknown(before, need ?? tooLong, step)
  }
  const { reason } = run.end
  if (reason?.code === 'tool_unknown') {
    const what = run.rows.at(-1)?.tool ?? null
    return unknown(before, { why: 'tool_gone', step: reason.stepKey ?? null, what }, step)
  }
  const differs = differencesOf(end, run.end, world.hasSameWrites)
  if (differs.length === 0) return { kind: 'same' }
  return { kind: 'different', before, after: endFactsOf(run.end, texts), differs, step }
}

function unknown(before: EndFacts, need: Need, step: StepDifference | null): RunVerdict {
  return { kind: 'unknown', before, need, step }
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

/** The recorded input, with what the ticket's text has of what is asked for now, as at a start. */
function inputFor({ definition: { input: schema } }: Plan, start: ExecutionStart): JsonObject {
  const { input, ticket } = start
  const filled = canonicalValue(fillInput({ schema, input, text: ticket?.text }).input)
  return isJsonObject(filled) ? filled : input
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

/** The texts of a definition's conditions and ends as they stand there: one into which a value was put is none of them. */
function fixedTexts(definition: Definition): ReadonlySet<string> {
  const texts = new Set<string>()
  const visit = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(visit)
    if (!isJsonObject(value)) return
    for (const [name, member] of Object.entries(value)) {
      if (name === 'text' && typeof member === 'string') texts.add(member)
      visit(member)
    }
  }
  visit(canonicalValue(definition))
  return texts
}
