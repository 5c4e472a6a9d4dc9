import type { Contracts, Run } from './demonstration.ts'
import { broughtBy, isEqual, type Origin, type Source, valueAt } from './demonstration-arguments.ts'
import { learn, type Model, type Place, readingOf, withWays } from './demonstration-model.ts'
import { placedIn } from './demonstration-slots.ts'
import { type Column, holdsOf } from './fact-test.ts'

/** How well what was learned from one half of the runs foretells the other half. */
export interface Agreement {
  /** Runs that were learned from. */
  readonly trainedOn: number
  /** Runs that were held back. */
  readonly heldOut: number
  /**
   * Of those, the ones that would have gone the same way: a success by the same steps with the same values and not handed to
   * a person; a failure handed to a person.
   */
  readonly agreed: number
  readonly heldOutFailures: number
  readonly agreedFailures: number
}

const minRuns = 4

/** Learns from every second run and foretells the others; null where there are too few to hold any back. */
export function agreementOf(runs: readonly Run[], contracts: Contracts): Agreement | null {
  const successes = runs.filter(({ isSuccess }) => isSuccess)
  const failures = runs.filter(({ isSuccess }) => !isSuccess)
  const half = (some: readonly Run[], rest: number) => some.filter((_, at) => at % 2 === rest)
  const trained = [...half(successes, 0), ...half(failures, 0)]
  const held = [...half(successes, 1), ...half(failures, 1)]
  if (runs.length < minRuns || successes.length < 2) return null
  const foretold = foretell(learn(trained, contracts), held, contracts)
  const agreed = held.filter((_, at) => foretold[at])
  return {
    trainedOn: trained.length,
    heldOut: held.length,
    agreed: agreed.length,
    heldOutFailures: half(failures, 1).length,
    agreedFailures: agreed.filter(({ isSuccess }) => !isSuccess).length,
  }
}

/** For each run, whether a model would have had it end as it did. */
function foretell(model: Model, runs: readonly Run[], contracts: Contracts): readonly boolean[] {
  const told = withWays(runs, model, contracts)
  const placed = told.map((run) => placedIn(model.places, run))
  const { sources, columns } = readingOf(model, placed, contracts)
  return runs.map((run, at) => {
    const valueIn = ({ reference }: Column) => columns.get(reference)?.values[at]
    const isHandedOver = model.rules.some(({ column, test }) => holdsOf(test, valueIn(column)))
    if (!run.isSuccess) return isHandedOver
    const taken = model.places.filter((place) => isTaken(place, valueIn))
    const done = run.actions.map(({ tool }) => tool)
    const isSameWay =
      !model.places.some(({ when }) => when === 'asked') &&
      JSON.stringify(taken.map(({ tool }) => tool)) === JSON.stringify(done)
    return !isHandedOver && isSameWay && taken.every((place) => isGivenTheSame(place, at))
  })

  function isGivenTheSame(place: Place, at: number): boolean {
    const input = placed[at]?.[model.places.indexOf(place)]?.input
    return place.arguments.every(({ path, origin }) => {
      const expected = broughtBy(inThese(origin, sources), at)
      return input !== undefined && isEqual(expected, valueAt(input, path))
    })
  }
}

function isTaken({ when }: Place, valueIn: (column: Column) => Column['values'][number]): boolean {
  if (typeof when === 'string') return when === 'always'
  return holdsOf(when.test, valueIn(when.column))
}

function inThese(origin: Origin, sources: ReadonlyMap<string, Source>): Origin {
  const here = (source: Source): Source =>
    sources.get(source.reference) ?? { ...source, values: [] }
  if (origin.kind === 'source') return { kind: 'source', source: here(origin.source) }
  if (origin.kind === 'literal') return origin
  const parts = origin.parts.map((part) => (typeof part === 'string' ? part : here(part)))
  return { kind: 'text', parts }
}
