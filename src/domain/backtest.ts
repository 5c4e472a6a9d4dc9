import { canonicalJson } from './canonical.ts'
import type { ReasonCode } from './escalation.ts'

/** How a run ended, or would end. */
export type RunEnd = 'resolved' | 'declined' | 'escalated' | 'cancelled'

/** An end without any value of the run. */
export interface EndFacts {
  readonly end: RunEnd
  readonly reason: ReasonCode | null
  /** The text of the condition or rule that decided; null where there is none, or where a value was put into it. */
  readonly text: string | null
}

/** The first step at which two runs are not the same; null stands for no step. */
export interface StepDifference {
  /** From 1, in the order in which steps were begun. */
  readonly position: number
  readonly before: string | null
  readonly after: string | null
}

/** In what an end is not the same. docs/decisions/0015-backtest.md says how each is compared. */
export const differences = ['end', 'reason', 'result', 'writes'] as const
export type Difference = (typeof differences)[number]

const needTexts = {
  input_unknown: 'the input has it no place for, so nobody was asked for it',
  never_made: 'no such call was made in this run',
  more_calls: 'it was not asked once more',
  other_input: 'it was called with another input',
  other_writes: 'it was asked after other writes than it would be now',
  other_contract: 'the run had another contract of it',
  tool_gone: 'this service does not have it any more',
  not_called: 'it was kept back: it was not the tool that had been approved',
  more_attempts: 'no further attempt was made',
  longer_timeout: 'it was not waited for so long',
  never_asked: 'nobody was asked just that',
  other_answer: 'what was answered does not have the form that is asked for now',
  no_answer: 'nobody had said more by then',
  other_people: 'who said it may not say it here',
  value_lost: 'a sensitive value of the run is gone',
  too_long: 'it takes more steps than a simulation does',
} as const

/** Why a run cannot be followed further: what would be needed was never observed. */
export type NeedCode = keyof typeof needTexts

export const needCodes = Object.keys(needTexts) as readonly NeedCode[]

/** An observation that was never made. */
export interface Need {
  readonly why: NeedCode
  /** The step that needs it, in a round `KEY[0]`; null: the start of the run. */
  readonly step: string | null
  /** The tool that would be called, the procedure, or the input property; null where nothing of the kind is missing. */
  readonly what: string | null
}

/** What a need means, for people. */
export function needText({ why, what }: Pick<Need, 'why' | 'what'>): string {
  return what === null ? needTexts[why] : `${what}: ${needTexts[why]}`
}

/** What comes of one past run under another version. */
export type RunVerdict =
  | { readonly kind: 'same' }
  | {
      readonly kind: 'different'
      readonly before: EndFacts
      readonly after: EndFacts
      readonly differs: readonly Difference[]
      /** Null where every step is the same, and only what follows from them is not. */
      readonly step: StepDifference | null
    }
  | {
      readonly kind: 'unknown'
      readonly before: EndFacts
      readonly need: Need
      /** Where it goes another way before it needs what nobody has observed; null where it does not. */
      readonly step: StepDifference | null
    }

export type VerdictKind = RunVerdict['kind']

/** Which past runs are looked at. */
export interface BacktestFilter {
  /** Begun at or after this instant, and before that one; RFC 3339, null for no bound. */
  readonly from: string | null
  readonly to: string | null
  readonly statuses: readonly ('completed' | 'escalated' | 'cancelled')[]
  readonly outcome: 'resolved' | 'declined' | null
  /** Runs of this version alone; null for all. */
  readonly againstVersion: number | null
  /** The newest so many. */
  readonly limit: number
}

/** How many runs came to what, grouped. */
export interface BacktestTally {
  readonly same: number
  readonly different: number
  readonly unknown: number
  /** Of those with another end: how many went from which end to which, the most frequent first. */
  readonly changes: readonly {
    readonly before: EndFacts
    readonly after: EndFacts
    readonly count: number
  }[]
  /** Of those that need an observation: how many need which, the most frequent first. */
  readonly needs: readonly (Need & { readonly count: number })[]
}

export const emptyTally: BacktestTally = {
  same: 0,
  different: 0,
  unknown: 0,
  changes: [],
  needs: [],
}

/** Rounds of a loop, and as many ends as a definition has texts: beyond this the rest counts in the totals alone. */
const maxGroups = 200

/** A tally with some verdicts more. */
export function addVerdicts(tally: BacktestTally, verdicts: readonly RunVerdict[]): BacktestTally {
  const of = (kind: VerdictKind) => verdicts.filter((one) => one.kind === kind).length
  return {
    same: tally.same + of('same'),
    different: tally.different + of('different'),
    unknown: tally.unknown + of('unknown'),
    changes: grouped(
      tally.changes,
      verdicts.flatMap((one) =>
        one.kind === 'different' ? [{ before: one.before, after: one.after }] : [],
      ),
    ),
    needs: grouped(
      tally.needs,
      verdicts.flatMap((one) =>
        one.kind === 'unknown' ? [{ ...one.need, step: stepKeyOf(one.need.step) }] : [],
      ),
    ),
  }
}

/** All rounds of a loop count together. */
function stepKeyOf(place: string | null): string | null {
  return place === null ? null : place.replace(/\[.*$/, '')
}

function grouped<T extends object>(
  counted: readonly (T & { readonly count: number })[],
  more: readonly T[],
): readonly (T & { readonly count: number })[] {
  if (more.length === 0) return counted
  const groups = new Map(
    counted.map((group) => {
      const { count: _count, ...facts } = group
      return [canonicalJson(facts), group] as const
    }),
  )
  for (const facts of more) {
    const key = canonicalJson(facts)
    const count = (groups.get(key)?.count ?? 0) + 1
    if (count > 1 || groups.size < maxGroups) groups.set(key, { ...facts, count })
  }
  return [...groups.values()].sort((a, b) => b.count - a.count)
}
