import { defaultMaxItems } from '../domain/defaults.ts'
import { pathOf } from '../domain/expression/reads.ts'
import { anyType, membersOf, unionOf } from '../domain/expression/type.ts'
import { listType, type Type } from '../domain/expression.ts'
import type { Step } from '../domain/step.ts'
import type { DefinitionCheck, Place } from './check.ts'
import { momentType } from './condition-checks.ts'
import { DueRules } from './due-rules.ts'
import type { Split } from './expression-flow.ts'
import type { Path } from './findings.ts'
import { mentionedIn } from './node-key.ts'
import type { InnerList, StepEntry } from './step-table.ts'
import { walkKind } from './walk-kind.ts'
import {
  firstWorld,
  statusBits,
  type World,
  withoutValues,
  withStatus,
  withStatuses,
} from './worlds.ts'

/**
 * The walk through a definition as a run would take it, in all worlds at once: what each step reads is checked in the
 * worlds that reach it. See worlds.ts.
 */
export class Walk {
  readonly check: DefinitionCheck
  readonly rules: DueRules
  /** The worlds in which the run is about to resolve. */
  resolving: readonly World[] = []

  constructor(check: DefinitionCheck) {
    this.check = check
    this.rules = new DueRules(check)
  }

  /** Walks the preconditions and all steps. */
  run(): void {
    const { check } = this
    let worlds: readonly World[] = [firstWorld(check.table.size)]
    const place: Place = { before: 0, loops: [] }
    const from = check.definition.due?.from
    if (from !== undefined) check.value(from, ['due', 'from'], worlds, place, momentType)
    for (const [index, { when }] of (check.definition.preconditions ?? []).entries()) {
      if (when === undefined) continue
      worlds = this.holding(when, ['preconditions', index, 'when'], worlds, place).yes
    }
    worlds = this.rules.atStart(worlds)
    if (worlds.length === 0) {
      const message =
        'nothing comes here: an escalation rule that is tested before the first step always holds; correct that rule'
      check.add('unreachable-step', ['steps', 0], message)
    }
    const rest = this.list({ steps: check.definition.steps, path: ['steps'] }, worlds, {
      loops: [],
    })
    this.resolve(rest)
  }

  /** Notes worlds in which the run is about to resolve. */
  resolve(worlds: readonly World[]): void {
    this.resolving = this.check.trim([...this.resolving, ...worlds])
  }

  /** Splits the worlds by a condition that is there to hold. One that never does is told, and passed over. */
  holding(source: string, path: Path, worlds: readonly World[], place: Place): Split {
    const split = this.check.condition(source, path, worlds, place)
    if (worlds.length === 0 || split.yes.length > 0) return split
    const message =
      'this can never hold here, given what comes before; correct it, or take it away with what it stands before'
    this.check.add('never-holds', path, message)
    return { yes: worlds, no: worlds }
  }

  /** Walks a list of steps and gives the worlds that come to its end. */
  list(
    { steps, path }: InnerList,
    worlds: readonly World[],
    around: Omit<Place, 'before'>,
  ): readonly World[] {
    let going = worlds
    let isDead = worlds.length === 0
    for (const [index, step] of steps.entries()) {
      const entry = this.check.table.get(step.key)
      if (entry === undefined) continue
      if (going.length === 0 && !isDead) {
        isDead = true
        const before = steps[index - 1]?.key ?? ''
        const message = `nothing comes here: every way through '${before}' before it ends the run, by an end or by a rule; take one of the two away, or guard the end with 'when'`
        this.check.add('unreachable-step', [...path, index], message)
      }
      going = this.#step(entry, going, { ...around, before: entry.place })
    }
    return going
  }

  /** The worlds that go on after a step has ended as one of these statuses, and the rules have been tested. */
  ended(entry: StepEntry, worlds: readonly World[], status: number): readonly World[] {
    const ended = worlds.map((world) => withStatus(world, entry.place, status))
    return this.rules.after(entry.place, ended)
  }

  #step(entry: StepEntry, worlds: readonly World[], place: Place): readonly World[] {
    const { check } = this
    check.now = entry.place
    const after =
      'forEach' in entry.step && entry.step.forEach !== undefined
        ? this.#forEach(entry, entry.step.forEach, worlds, place)
        : this.#guarded(entry, worlds, place)
    // What was asked about up to here tells nothing apart any more.
    return check.trim(after, entry.last + 1)
  }

  #guarded(entry: StepEntry, worlds: readonly World[], place: Place): readonly World[] {
    const { step, path } = entry
    if (step.when === undefined) return walkKind(this, entry, worlds, place)
    const { yes, no } = this.check.condition(step.when, [...path, 'when'], worlds, place)
    // A step that is switched off in so many words is meant to be.
    if (worlds.length > 0 && yes.length === 0 && step.when !== 'false') {
      const message = `'${step.key}' never runs: its 'when' can never hold here, given what comes before; correct it or remove the step`
      this.check.add('unreachable-step', [...path, 'when'], message)
    }
    const skipped = this.ended(entry, no, statusBits.skipped)
    return [...walkKind(this, entry, yes, place), ...skipped]
  }

  /** A loop over a list: its rounds are walked once, for any of them; there may be none. */
  #forEach(
    entry: StepEntry,
    source: string,
    worlds: readonly World[],
    place: Place,
  ): readonly World[] {
    const { check } = this
    const path = [...entry.path, 'forEach']
    const list = check.value(source, path, worlds, place, listType(anyType))
    const item = itemOf(list)
    this.#checkBound(entry.step, source, path)
    // What a round gives is known once it was walked, and read only inside it until then.
    const inside = {
      ...place,
      loops: [entry, ...place.loops],
      item,
    }
    // Of what a round leaves behind nothing is certain afterwards: the list may be empty.
    this.#guarded(entry, this.newRound(entry, worlds), inside)
    check.types.declare(entry.step, check.types.roundOutputOf(entry.step), item)
    check.now = entry.last
    const over = worlds.map((world) => {
      const left = this.#forgotten(entry, world)
      return withStatuses(left, entry.place + 1, entry.last, anyStatus)
    })
    return this.ended(entry, over, statusBits.completed)
  }

  /** The worlds at the beginning of a round, in which nothing of the round before is seen. */
  newRound(entry: StepEntry, worlds: readonly World[]): readonly World[] {
    return worlds.map((world) => {
      const fresh = this.#forgotten(entry, world)
      const reset =
        entry.last > entry.place
          ? withStatuses(fresh, entry.place + 1, entry.last, statusBits.pending)
          : fresh
      return withStatus(reset, entry.place, statusBits.running)
    })
  }

  #forgotten(entry: StepEntry, world: World): World {
    return withoutValues(world, (key) => {
      for (const mentioned of mentionedIn(key)) {
        if (mentioned === 'item') return true
        const place = this.check.table.get(mentioned)?.place ?? -1
        if (place >= entry.place && place <= entry.last) return true
      }
      return false
    })
  }

  /** A list of the input whose own limit lies above that of the loop. */
  #checkBound(step: Step, source: string, path: Path): void {
    const node = this.check.parsed(source, path)?.node
    const [root, name, ...rest] = (node && pathOf(node)) ?? []
    const properties = Object(this.check.definition.input?.properties)
    const isInput = root === 'input' && rest.length === 0
    const most: unknown = isInput && Object(properties[name ?? '']).maxItems
    const bound = ('maxItems' in step ? step.maxItems : undefined) ?? defaultMaxItems
    if (typeof most !== 'number' || most <= bound) return
    const message = `${source} may have ${most} items, and the loop walks at most ${bound}: the run escalates with more; raise maxItems of the step, or lower that of the list`
    this.check.add('loop-bound', path, message)
  }
}

const anyStatus = 255

function itemOf(list: Type): Type {
  if (list.kind === 'any') return anyType
  return unionOf(membersOf(list).flatMap((one) => (one.kind === 'list' ? [one.of] : [])))
}
