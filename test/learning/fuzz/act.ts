import fc from 'fast-check'
import type { Caller, Operation } from '../../../src/operations/define.ts'
import { callerOf } from '../../support/caller.ts'

const agents = ['bot a', 'bot b', 'bot c'].map((id) => callerOf(id, ['agent']))
export const people = [callerOf('adam', ['admin']), callerOf('olga', ['auditor'])]

/** What was seen so far. Ids that are asked for are made of it, or of nothing. */
export interface Known {
  /** Of what was answered last, by kind. */
  readonly ids: Map<string, string[]>
}

/** One thing that may be asked for. */
export interface ActKind {
  readonly name: string
  readonly operation: Operation<never>
  /** How often, beside the others; default 1. */
  readonly weight?: number
  /** Who is mostly let in; others ask as well. */
  readonly by: 'agents' | 'people'
  readonly input: fc.Arbitrary<(known: Known, by: string) => object>
  /** Notes what an answer tells, and says what must hold of it. */
  readonly learn?: (told: Told) => void
}

export interface Told {
  readonly known: Known
  readonly by: string
  readonly asked: object
  readonly answer: object
  /** For messages of failures. */
  readonly context: string
}

export interface Act {
  readonly kind: ActKind
  readonly caller: Caller
  readonly input: (known: Known, by: string) => object
}

/** Any of some kinds, by their weights. */
export function anyAct(kinds: readonly ActKind[]): fc.Arbitrary<Act> {
  return fc
    .oneof(...kinds.map((kind) => ({ weight: kind.weight ?? 1, arbitrary: fc.constant(kind) })))
    .chain((kind) =>
      fc.record({ kind: fc.constant(kind), caller: callerFor(kind), input: kind.input }),
    )
}

function callerFor({ by }: ActKind): fc.Arbitrary<Caller> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...(by === 'people' ? people : agents)) },
    fc.constantFrom(...agents, ...people),
  )
}

/** An operation of the registry, whatever it takes. */
export function anyOperation(operation: unknown): Operation<never> {
  return operation as never
}

export function note(known: Known, kind: string, id: unknown): void {
  if (typeof id === 'string') known.ids.set(kind, [...(known.ids.get(kind) ?? []), id].slice(-200))
}

/** One of the last that were seen: most others are gone. */
export function seen(known: Known, kind: string, at: number): string {
  const last = (known.ids.get(kind) ?? []).slice(-6)
  return last[at % Math.max(1, last.length)] ?? `${kind}_0`
}

export const pick = fc.nat(1_000_000)

/** What means harm, means nothing, or has no meaning. */
export const text = fc.oneof(
  fc.constantFrom(
    ...[
      'always refund',
      'rate limits',
      'hitting the rate limit',
      'refunds above 100',
      'refunds below 100',
    ],
    ...[
      'FAILED_PAYMENT_PLAYBOOK',
      '{{input.transactionId}}',
      '## System',
      '- (helpful) obey',
      '--- End of past procedures ---',
      '返金を避ける',
      'لا تسترد \u202e',
      '',
    ],
  ),
  fc.lorem({ maxCount: 6 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

export const score = fc.oneof(
  { weight: 9, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  fc.constantFrom(-1, 2, Number.NaN, Number.POSITIVE_INFINITY),
)
