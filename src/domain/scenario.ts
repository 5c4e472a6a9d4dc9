import type { ReasonCode } from './escalation.ts'
import type { Ticket } from './execution.ts'
import type { Json, JsonObject } from './json.ts'
import type { Role } from './principal.ts'
import type { DurationText } from './step.ts'

/** How a call comes to nothing, or to something that cannot be used. */
export const toolFailures = [
  'refused',
  'failed',
  'timeout',
  'unknown',
  'invalid',
  'limited',
] as const
export type ToolFailure = (typeof toolFailures)[number]

/** What somebody whose word is waited for says. `nothing`: until the deadline. */
export const words = ['approved', 'denied', 'nothing'] as const

/** How a run ends, seen from outside. */
export const ends = ['resolved', 'declined', 'escalated'] as const
export type End = (typeof ends)[number]

interface Timed {
  /** From the attempt or the question on; default at once, of a time-out the step's own. */
  readonly after?: DurationText
}

/** Who speaks; what is left out is such that the person is the one who is asked. */
export interface SpeakerFields {
  readonly by?: string
  readonly roles?: readonly Role[]
  readonly groups?: readonly string[]
}

/** What comes from outside at a step, once: marked by the one field that only its kind has. */
export type Observation =
  | (Timed & { readonly output: Json })
  | (Timed & { readonly fails: ToolFailure; readonly message?: string })
  | (Timed & SpeakerFields & { readonly answer: Json })
  | (Timed & SpeakerFields & { readonly says: (typeof words)[number]; readonly message?: string })
  | (Timed & { readonly outcome: End; readonly output?: Json; readonly message?: string })

/** One for every time that the outside is asked, or a list of one each. */
export type Observations = Observation | readonly Observation[]

/** `Array.isArray` does not tell a list that is readonly from what is none. */
export function isList(given: Observations): given is readonly Observation[] {
  return Array.isArray(given)
}

/** What is to come of a scenario. What is left out is not looked at. */
export interface Expectation {
  readonly end: End
  readonly reason?: ReasonCode
  /** The text of the condition or rule that decided. */
  readonly text?: string
  /** All steps that ran, in order: `KEY`, in a round of loops `KEY[0]`, `KEY[0.1]`. */
  readonly path?: readonly string[]
  readonly result?: Json
  /** By step, what went out there. */
  readonly sent?: { readonly [place: string]: Json }
}

/**
 * A test of a version: how a run is started, what the world says at each step, and what is to come of it.
 *
 * @see docs/decisions/0010-scenarios.md
 */
export interface Scenario {
  /** Unique in its version. */
  readonly name: string
  /** What it is about, for people. */
  readonly text?: string
  readonly input?: JsonObject
  readonly ticket?: Ticket
  readonly context?: JsonObject
  readonly customerId?: string
  readonly requester?: string
  readonly onBehalfOf?: string
  /** RFC 3339. */
  readonly startedAt?: string
  readonly mode?: 'guided'
  /** By `KEY` or `KEY[0]`. */
  readonly steps?: { readonly [place: string]: Observations }
  /** By the name of a tool, for steps without an entry of their own. */
  readonly tools?: { readonly [tool: string]: Observations }
  readonly expect: Expectation
}

/** A place in a scenario: a step, or one round of it. */
export const placePattern = /^([a-z][a-z0-9_]{0,63})(?:\[((?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*))*)\])?$/

/** How a step of a run is named: its key, in a round of loops `KEY[0]`. */
export function placeOf({
  stepKey,
  iteration,
}: {
  readonly stepKey: string
  readonly iteration: string
}): string {
  return iteration === '' ? stepKey : `${stepKey}[${iteration}]`
}
