import type { Expression } from '../domain/expression.ts'
import type { DefinitionCheck } from './check.ts'
import { endedBits, statusOf, type World, withStatus } from './worlds.ts'

interface DueRule {
  readonly index: number
  readonly expression: Expression
  /** Places of the steps that it reads. */
  readonly places: readonly number[]
  /** The worlds in which it is tested. */
  due: readonly World[]
}

/**
 * The escalation rules, tested in the walk as `decide` tests them in a run: after each step that they read, once all of
 * these have ended. Where one does not end the run it does not hold, and what follows knows that.
 */
export class DueRules {
  readonly #check: DefinitionCheck
  readonly #rules: DueRule[] = []

  constructor(check: DefinitionCheck) {
    this.#check = check
    for (const [index, { when }] of (check.definition.escalationRules ?? []).entries()) {
      const path = ['escalationRules', index, 'when']
      const expression = when === undefined ? undefined : check.parsed(when, path)
      if (expression === undefined) continue
      const places = [...expression.reads.steps].map((key) => check.table.get(key)?.place)
      // A rule that reads what does not exist is reported by the type check.
      const known = places.filter((place) => place !== undefined)
      if (known.length < places.length) continue
      this.#rules.push({ index, expression, places: known, due: [] })
    }
  }

  /** The worlds that go on before the first step. */
  atStart(worlds: readonly World[]): readonly World[] {
    return this.#test(
      this.#rules.filter(({ places }) => places.length === 0),
      worlds,
    )
  }

  /** The worlds that go on once the step at a place has ended. */
  after(place: number, worlds: readonly World[]): readonly World[] {
    if (worlds.length === 0) return worlds
    return this.#test(
      this.#rules.filter(
        ({ places, expression }) => expression.reads.now || places.includes(place),
      ),
      worlds,
    )
  }

  /** The worlds in which a rule is tested; undefined for one that could not be walked. */
  dueOf(index: number): readonly World[] | undefined {
    return this.#rules.find((rule) => rule.index === index)?.due
  }

  #test(rules: readonly DueRule[], worlds: readonly World[]): readonly World[] {
    let left = worlds
    for (const rule of rules) {
      // Without the test more worlds go on than can, which is the safe side; that it is tested somewhere is kept.
      if (this.#check.isExhausted && rule.due.length > 0) continue
      const going: World[] = []
      const due: World[] = []
      for (const world of left) {
        if (!rule.places.every((place) => (statusOf(world, place) & endedBits) !== 0)) {
          going.push(world)
          continue
        }
        const isCertain = rule.places.every((place) => (statusOf(world, place) & ~endedBits) === 0)
        if (isCertain) due.push(world)
        else {
          going.push(world)
          due.push(rule.places.reduce(withEnded, world))
        }
      }
      if (due.length === 0) continue
      rule.due = this.#check.trim([...rule.due, ...due])
      left = [...going, ...this.#check.split(rule.expression, due).no]
    }
    return left
  }
}

function withEnded(world: World, place: number): World {
  return withStatus(world, place, statusOf(world, place) & endedBits)
}
