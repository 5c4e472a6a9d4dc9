import { hashOf } from '../domain/canonical.ts'
import type { StepRow } from '../domain/execution.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import { type End, placeOf, type Scenario } from '../domain/scenario.ts'
import type { SimulatedRun } from './simulate.ts'

/** One thing in which a run is not as expected; null stands for what is not there. */
export interface Difference {
  readonly what: 'path' | 'end' | 'reason' | 'text' | 'result' | 'sent'
  /** The place in the run where it shows, if there is one. */
  readonly step: string | null
  /** Of a path, the position of the step, from 1. */
  readonly position?: number
  readonly expected: Json
  readonly found: Json
}

/** The steps that ran, in the order in which they were begun. */
export function pathOf(rows: readonly StepRow[]): readonly string[] {
  return rows.flatMap((row) => (row.status === 'skipped' ? [] : [placeOf(row)]))
}

/** How a run ended, as scenarios say it; null for one that did not. */
export function endOf({ end }: SimulatedRun): End | null {
  if (end === null) return null
  return end.outcome ?? 'escalated'
}

/** Everything in which a run is not as its scenario expects; of the path the first step only. */
export function findDifferences({ expect }: Scenario, run: SimulatedRun): readonly Difference[] {
  const { rows, end } = run
  const differences: Difference[] = []
  const compare = (
    what: Difference['what'],
    step: string | null,
    expected: Json | undefined,
    found: Json,
  ) => {
    if (expected === undefined || hashOf(expected) === hashOf(found)) return
    differences.push({ what, step, expected, found })
  }
  if (expect.path !== undefined) differences.push(...findPathDifference(expect.path, pathOf(rows)))
  for (const [place, expected] of Object.entries(expect.sent ?? {})) {
    const row = rows.findLast((one) => placeOf(one) === place && one.status !== 'skipped')
    compare('sent', place, expected, row === undefined ? null : sentAt(row))
  }
  compare('end', end?.reason?.stepKey ?? null, expect.end, endOf(run))
  compare('reason', end?.reason?.stepKey ?? null, expect.reason, end?.reason?.code ?? null)
  compare('text', end?.reason?.stepKey ?? null, expect.text, end?.reason?.text ?? null)
  compare('result', null, expect.result, end?.result ?? null)
  return differences
}

function findPathDifference(
  expected: readonly string[],
  found: readonly string[],
): readonly Difference[] {
  const length = Math.max(expected.length, found.length)
  for (let index = 0; index < length; index += 1) {
    const [wanted = null, met = null] = [expected[index], found[index]]
    if (wanted === met) continue
    return [
      { what: 'path', step: met ?? wanted, position: index + 1, expected: wanted, found: met },
    ]
  }
  return []
}

/** What went out at a step: the input of a tool or a called run, what a person was asked or shown. */
function sentAt({ kind, input }: StepRow): Json {
  if (!isJsonObject(input)) return input
  if (kind === 'ask') return input.message ?? null
  if (kind === 'approval') return input.show ?? null
  return kind === 'call' ? (input.input ?? null) : input
}
