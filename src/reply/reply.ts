import type { Json } from '../domain/json.ts'

/** A value of the record that stands in a reply. A type and no interface, so that it is `Json` as it stands. */
export type ReplyFact = {
  /** As the template writes it: `steps.check_refund.output.state`. */
  readonly path: string
  readonly value: Json
  /** The step that the value came from; null for what came in with the run, such as its input. */
  readonly stepKey: string | null
}

/** One draft that a model was asked for. */
export type ReplyAttempt = {
  /** `refused`: it said what the record does not show. `failed`: there was no draft. */
  readonly result: 'sent' | 'refused' | 'failed'
  /** Why, for support agents. Holds no word of the draft. */
  readonly findings: readonly string[]
}

/** What a model was asked for in the making of a reply. */
export type ModelRecord = {
  readonly name: string
  readonly attempts: readonly ReplyAttempt[]
}

/** What a model was asked to read in the ticket before the run. */
export type InputRecord = {
  readonly model: string
  /** The properties that it was asked for, and those of which its reading was taken. */
  readonly asked: readonly string[]
  readonly taken: readonly string[]
  readonly findings: readonly string[]
}

/** What was found about a reply before it was sent. */
export type ReplyVerification = {
  /** False when the approved wording could not be used, and the default wording took its place. */
  readonly ok: boolean
  /** Why, for support agents. Names paths and steps, and no value of the run. */
  readonly findings: readonly string[]
  /** Absent when no model was asked to write it. */
  readonly model?: ModelRecord
  /** Absent when no model was asked to read the ticket. */
  readonly input?: InputRecord
}

/** What is sent to the customer, and why it may be. */
export interface Reply {
  readonly text: string
  readonly source: 'built_in' | 'model'
  /** In the order of the text. */
  readonly facts: readonly ReplyFact[]
  readonly verification: ReplyVerification
}
