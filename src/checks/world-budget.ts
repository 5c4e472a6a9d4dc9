import type { Liveness } from './liveness.ts'
import { isCondition, joinWorlds, mergeTo, type Relevance, type World } from './worlds.ts'

/**
 * Work, in copies of a value, up to which so many worlds are kept apart, each of which knows so much. Beyond it they are
 * merged sooner: then less is certain, and what is not certain is told.
 */
const stages = [
  { spent: 250_000, mostWorlds: 32, mostKnown: 64, keepsConditions: true },
  { spent: 400_000, mostWorlds: 4, mostKnown: 24, keepsConditions: true },
  // A value that is listed may still say which choices are left; a condition hardly stands there twice.
  { spent: Number.POSITIVE_INFINITY, mostWorlds: 1, mostKnown: 12, keepsConditions: false },
] as const

/** Work after which what repeats itself is left out; `too-complex` says so. */
const enough = 4_000_000

/** Bounds the work on one definition: what is kept of worlds becomes less, the more was done. */
export class WorldBudget {
  readonly #liveness: Liveness
  readonly #keys: readonly string[]
  #spent = 0
  #asked: Relevance & { readonly from: number } = {
    from: -1,
    steps: [],
    isValueAsked: () => true,
  }

  /** `keys` are those of all steps, by place. */
  constructor(liveness: Liveness, keys: readonly string[]) {
    this.#liveness = liveness
    this.#keys = keys
  }

  spend(count: number): void {
    this.#spent += count
  }

  get isExhausted(): boolean {
    return this.#spent > enough
  }

  /** Whether a value or condition is worth to be known to a world that knows so many already. */
  isKept(key: string, known: number): boolean {
    const { mostKnown, keepsConditions } = this.#stage
    return (
      known < mostKnown && (keepsConditions || !isCondition(key)) && this.#liveness.isRepeated(key)
    )
  }

  /** The worlds without those that nothing asked about at a place or after it tells apart, and not too many of them. */
  join(worlds: readonly World[], from: number): readonly World[] {
    if (worlds.length <= 1) return worlds
    if (from !== this.#asked.from) {
      const steps = this.#keys.flatMap((key, place) =>
        this.#liveness.isStepAsked(key, from) ? [place] : [],
      )
      this.#asked = { from, steps, isValueAsked: (key) => this.#liveness.isAsked(key, from) }
    }
    this.spend(worlds.length * (8 + this.#asked.steps.length) + 4 * knownTo(worlds))
    return joinWorlds(worlds, this.#asked, this.#stage.mostWorlds)
  }

  /** Not too many worlds. Within one expression it is not worth to look for those that are the same. */
  merge(worlds: readonly World[]): readonly World[] {
    const { mostWorlds } = this.#stage
    if (worlds.length <= 2 * mostWorlds) return worlds
    this.spend(worlds.length + 2 * knownTo(worlds))
    return mergeTo(worlds, mostWorlds)
  }

  get #stage(): (typeof stages)[number] {
    return stages.find(({ spent }) => this.#spent <= spent) ?? stages[2]
  }
}

function knownTo(worlds: readonly World[]): number {
  return worlds.reduce((sum, { values }) => sum + values.size, 0)
}
