import type { LinkPath } from '../domain/expression/reads.ts'
import { positionOf } from '../domain/expression/syntax.ts'
import type { Expression } from '../domain/expression.ts'
import { didYouMean } from '../domain/nearest-name.ts'
import { pathText } from '../domain/problem.ts'
import type { Template } from '../domain/template.ts'
import { orList } from '../domain/value-text.ts'
import type { DefinitionCheck, Place } from './check.ts'
import type { Path, Position } from './findings.ts'
import { pathKey, stepOf } from './node-key.ts'
import { loopsAround, type StepEntry } from './step-table.ts'
import { tokenOf } from './tokens.ts'
import { statusBits, statusOf, type World } from './worlds.ts'

/** Finds what one expression or template reads of steps and may not; of each step that is told once. */
export class ReadReport {
  readonly #check: DefinitionCheck
  readonly #path: Path
  readonly #place: Place
  readonly #told = new Set<string>()

  constructor(check: DefinitionCheck, path: Path, place: Place) {
    this.#check = check
    this.#path = path
    this.#place = place
  }

  /** Steps that cannot be read at the place at all, in whatever way. */
  plainReads({ reads, source }: Expression, worlds: readonly World[]): void {
    for (const { path, at } of reads.paths) this.#plainRead(path, worlds, positionOf(source, at))
  }

  /** Reads of the output of a step, which is there only once the step has completed. */
  output(path: LinkPath, worlds: readonly World[], position: Position, inner = ''): void {
    const step = stepOf(path)
    const entry = step && this.#check.table.get(step.key)
    if (entry === undefined || this.#told.has(entry.step.key)) return
    const { key } = entry.step
    const missing = worlds.map((world) => statusOf(world, entry.place) & ~statusBits.completed)
    const bits = missing.reduce((all, one) => all | one, 0)
    if (bits !== 0) {
      const advice = `ask steps.${key}.status == 'completed' first, or run this only where it has`
      this.#add(
        'unguarded-step',
        key,
        `steps.${key} ${wordsFor(bits)} by then; ${advice}`,
        position,
        inner,
      )
      return
    }
    if ('call' in entry.step && path[3] === 'output') this.#declined(entry, worlds, position, inner)
  }

  /** One of the steps must have completed, whichever way the run has come. */
  firstOf(keys: readonly string[], worlds: readonly World[], position: Position): void {
    const entries = keys.flatMap((key) => this.#check.table.get(key) ?? [])
    if (entries.length < keys.length || entries.some(({ step }) => this.#told.has(step.key))) return
    const hasOne = (world: World): boolean =>
      entries.some(({ place }) => statusOf(world, place) === statusBits.completed)
    if (worlds.every(hasOne)) return
    const message = `none of ${keys.map((key) => `steps.${key}`).join(', ')} may have completed by then; add one that always has, or ask for their status first`
    this.#add('unguarded-step', keys.join(' '), message, position)
  }

  template(template: Template, worlds: readonly World[]): void {
    for (const { place, source, parts } of template.strings) {
      const inner = pathText(place)
      for (const part of parts) {
        if (typeof part === 'string') continue
        const position = positionOf(source, part.at)
        this.#plainRead(part.path, worlds, position, inner)
        const member = stepOf(part.path)?.member
        const isOutput = member === 'output' || member === 'items'
        if (isOutput && part.fallback === undefined) {
          this.output(part.path, worlds, position, inner)
        }
      }
    }
  }

  #plainRead(path: LinkPath, worlds: readonly World[], position: Position, inner = ''): void {
    const step = stepOf(path)
    const entry = step && this.#check.table.get(step.key)
    // A key that does not exist at all is reported by the type check.
    if (entry === undefined || worlds.length === 0) return
    const { key } = entry.step
    if (entry.place >= this.#place.before) {
      const before = [...this.#check.table.values()].filter(
        ({ place }) => place < this.#place.before,
      )
      const hint = didYouMean(
        key,
        before.map((one) => one.step.key),
      )
      const message = `steps.${key} comes later, or is this step itself, so there is nothing to read yet.${hint}`
      this.#add('later-step', key, message, position, inner)
      return
    }
    const loop = loopsAround(entry).find((around) => !this.#place.loops.includes(around))
    if (loop === undefined) return
    const { key: loopKey } = loop.step
    const message = `steps.${key} is one of many rounds of '${loopKey}'; outside of it read steps.${loopKey}.output or steps.${loopKey}.items`
    this.#add('inside-loop', key, message, position, inner)
  }

  /** What a child that declined answers is not what its `output` says. */
  #declined(entry: StepEntry, worlds: readonly World[], position: Position, inner: string): void {
    const { key } = entry.step
    const outcome: LinkPath = ['steps', key, 'output', 'outcome']
    const resolved = tokenOf('resolved')
    const isResolved = ({ values }: World): boolean => {
      const tokens = values.get(pathKey(outcome)) ?? this.#check.domain(outcome, this.#place)
      return tokens.every((token) => token === resolved)
    }
    if (worlds.every(isResolved)) return
    const message = `what steps.${key} called may have declined, and then has another result; ask steps.${key}.output.outcome == 'resolved' first`
    this.#add('unguarded-step', key, message, position, inner)
  }

  #add(
    rule: 'unguarded-step' | 'later-step' | 'inside-loop',
    key: string,
    message: string,
    position: Position,
    inner = '',
  ): void {
    if (this.#told.has(key)) return
    this.#told.add(key)
    this.#check.findings.add(rule, this.#path, message, position, inner)
  }
}

/** What may have become of a step that has not completed. */
function wordsFor(bits: number): string {
  const { failed, skipped, expired, denied, running } = statusBits
  if ((bits & running) !== 0) return 'is still running'
  const ways = [
    ...((bits & skipped) !== 0 ? ['been skipped'] : []),
    ...((bits & failed) !== 0 ? ['failed'] : []),
    ...((bits & expired) !== 0 ? ['gone unanswered'] : []),
    ...((bits & denied) !== 0 ? ['been denied'] : []),
    ...((bits & statusBits.pending) !== 0 ? ['never been reached'] : []),
  ]
  return `may have ${orList(ways)}`
}
