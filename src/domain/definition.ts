import { hashOf } from './canonical.ts'
import type { JsonObject, JsonSchema } from './json.ts'
import type {
  Condition,
  DurationText,
  EscalateTo,
  ExpressionText,
  Step,
  TemplateText,
} from './step.ts'

/** A condition that is tested before step 1. */
export interface Precondition extends Condition {
  /** Default `escalated`. */
  readonly otherwise?: 'declined'
}

/** A rule that hands the run to a person when it holds. */
export interface EscalationRule extends Condition {
  readonly escalateTo?: EscalateTo
}

/**
 * What a version says, in normal form: the one document that is written as YAML, sent as JSON, stored as JSONB and
 * shown in the console. Field by field in docs/language.md.
 */
export interface Definition {
  readonly key: string
  readonly name: string
  readonly description: string
  /** Default `general`. */
  readonly category?: string
  /** Customer wordings that this procedure is for; default none. */
  readonly issuePatterns?: readonly string[]
  /** Routing tests. */
  readonly examples?: { readonly match?: readonly string[]; readonly noMatch?: readonly string[] }
  /** JSON Schema 2020-12 of an object; default: an object of anything. */
  readonly input?: JsonSchema
  /** Named constants. */
  readonly policy?: JsonObject
  readonly preconditions?: readonly Precondition[]
  readonly steps: readonly Step[]
  readonly completionConditions?: readonly Condition[]
  readonly escalationRules?: readonly EscalationRule[]
  readonly escalateTo?: EscalateTo
  readonly successCriteria?: string
  readonly metadata?: JsonObject
  /** Running time, waiting not counted; default `1h`. */
  readonly timeLimit?: DurationText
  /** For the whole case, waiting included; flags, never ends a run. */
  readonly due?: {
    readonly after: DurationText
    readonly from?: ExpressionText
    readonly warn?: DurationText
  }
  /** Named expressions, evaluated at the end; the execution's `result`. */
  readonly output?: { readonly [name: string]: ExpressionText }
  /** Approved wording for the customer, by outcome. */
  readonly replies?: {
    readonly resolved?: TemplateText
    readonly declined?: TemplateText
    readonly escalated?: TemplateText
  }
  /** Not found by search, only called. Default false. */
  readonly internal?: true
}

/**
 * The definition hash: SHA-256 over the canonical JSON of the normal form, in lower-case hex. Two documents that mean
 * the same by key order, `sequence` or explicit defaults have one hash.
 */
export function definitionHash(definition: Definition): string {
  return hashOf(definition)
}
