import { canonicalJson } from '../domain/canonical.ts'
import type { ExecutionRecord, Said, StepRow } from '../domain/execution.ts'
import { isJsonObject } from '../domain/json.ts'
import { placeOf } from '../domain/scenario.ts'
import { wasNotMade } from '../executor/attempt.ts'
import type { Plan } from '../executor/plan.ts'
import { hasAnswer } from '../executor/replay.ts'

/** A row of a record into which something came from outside. */
export interface Observed {
  readonly row: StepRow
  readonly question: string
  /** How many writes had been made before it was begun. */
  readonly writesBefore: number
}

/** All that came into a recorded run from outside, for one simulation: each observation is taken once. */
export class Observations {
  /** What each write of the run was, in order. */
  readonly writes: readonly string[]
  readonly #byPlace = new Map<string, Observed>()
  readonly #used = new Set<Observed>()

  /** `plan`: that of the version that was run. */
  constructor(plan: Plan, { rows }: ExecutionRecord) {
    const writes: string[] = []
    for (const row of rows) {
      if (!isObserved(row)) continue
      const question = questionOf(row)
      this.#byPlace.set(placeOf(row), { row, question, writesBefore: writes.length })
      if (isWrite(plan, row)) writes.push(question)
    }
    this.writes = writes
  }

  /**
   * The observation that answers a question after so many writes that are the recorded ones: the one of the same place,
   * else the first that is left. Nobody else gets it.
   */
  take(row: StepRow, writesBefore: number): Observed | undefined {
    const question = questionOf(row)
    const fits = (one: Observed): boolean =>
      one.question === question && one.writesBefore === writesBefore && !this.#used.has(one)
    const inPlace = this.#byPlace.get(placeOf(row))
    const found =
      inPlace !== undefined && fits(inPlace) ? inPlace : this.#asked(question).find(fits)
    if (found !== undefined) this.#used.add(found)
    return found
  }

  /** How many observations of a question are left; undefined where nobody ever asked it. */
  leftOf(row: StepRow): number | undefined {
    const asked = this.#asked(questionOf(row))
    return asked.length === 0 ? undefined : asked.filter((one) => !this.#used.has(one)).length
  }

  /** Whether a tool or a procedure was called at all, whatever the input. */
  wasCalled({ kind, tool, input }: StepRow): boolean {
    const name = calledName(input)
    return [...this.#byPlace.values()].some(({ row }) =>
      kind === 'tool' ? row.tool === tool : row.kind === kind && calledName(row.input) === name,
    )
  }

  /** Looked for only where a question has no answer in its own place. */
  #asked(question: string): readonly Observed[] {
    return [...this.#byPlace.values()].filter((one) => one.question === question)
  }
}

/** Who or what is asked what, as one comparable text: not when, and not by which step. */
export function questionOf({ kind, tool, input }: StepRow): string {
  if (kind === 'tool') return canonicalJson([kind, tool, input])
  const { from, message, show, procedure, input: given } = isJsonObject(input) ? input : {}
  return canonicalJson([kind, { from, message, show, procedure, given }])
}

function calledName(input: StepRow['input']): unknown {
  return isJsonObject(input) ? input.procedure : undefined
}

/** Whether what was said settles something: a reminder, and words that do not fit, leave a wait as it is. */
export function isWord(said: Said): boolean {
  return said.kind === 'answered' || said.kind === 'approved' || said.kind === 'denied'
}

function isObserved({ kind, status, attempt, input, attempts, ...row }: StepRow): boolean {
  if (kind === 'ask' || kind === 'approval' || kind === 'call') {
    // A loop of them has no attempt of its own, and one that could not be asked has no input.
    return attempt > 0 && status !== 'skipped' && isJsonObject(input)
  }
  if (kind !== 'tool' || !isJsonObject(input) || row.tool === null) return false
  const isAnswered = attempt > 0 && hasAnswer({ kind, status, attempt, input, attempts, ...row })
  return isAnswered || (attempts ?? []).length > 0 || row.exchange?.some(isWord) === true
}

/**
 * Whether a row may have changed anything outside: a call of a tool that writes, unless it was certainly not made, and a
 * run that was called, of which nobody here knows what it did.
 */
function isWrite(plan: Plan, row: StepRow): boolean {
  if (row.kind === 'call') return true
  if (row.tool === null || plan.tools.get(row.tool)?.contract.effect !== 'write') return false
  return hasAnswer(row) || (row.attempts ?? []).some((attempt) => !wasNotMade(attempt))
}
