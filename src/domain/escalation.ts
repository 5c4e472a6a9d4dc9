import { erasedText } from './erasure.ts'
import type { EscalateTo } from './step.ts'

/** Why a run did not simply resolve. Each says it to a support agent in words that need no knowledge of the engine. */
const reasonTexts = {
  missing_input: 'Information that the playbook needs is missing.',
  input_invalid: 'Information does not have the form that is needed.',
  precondition_unmet: 'A condition for using this playbook does not hold.',
  requirement_failed: 'A requirement of the playbook does not hold.',
  no_branch: 'The playbook has no path for this case.',
  no_procedure: 'No playbook fits this ticket.',
  procedure_stopped: 'The playbook that fits this ticket is stopped.',
  rule_matched: 'An escalation rule applies.',
  tool_unknown: 'A tool that the playbook uses is not available.',
  tool_changed: 'A tool has changed since the playbook was approved.',
  tool_order: 'A tool may not run before the checks that it requires.',
  tool_failed: 'A tool could not do its work.',
  tool_timeout: 'A tool did not answer in time.',
  output_invalid: 'A tool gave an answer that does not fit its contract.',
  output_too_large: 'A tool gave an answer that is too large to record.',
  expectation_failed: 'A tool answered, but not as the playbook expects.',
  expression_failed: 'A condition of the playbook could not be evaluated.',
  template_unresolved: 'A value that the playbook wants to use is not there.',
  completion_unmet: 'The steps ran, but a completion condition does not hold.',
  outcome_unknown: 'It is not known whether a change was made; check before anything is repeated.',
  limit_exceeded: 'A limit on this tool has been reached.',
  approval_denied: 'A person who had to approve said no.',
  recovery_exhausted: 'The run was interrupted too often.',
  loop_invalid: 'A list that the playbook wants to go through is not usable.',
  loop_exhausted: 'A repetition reached its limit without its goal.',
  deadline_passed: 'The time allowed for this has passed.',
  child_escalated: 'A playbook that this one calls was handed to a person.',
  ended_by_step: 'The playbook ends here by its own decision.',
  internal_error: 'The service failed while it ran the playbook.',
} as const

export type ReasonCode = keyof typeof reasonTexts

/** Why a run ended as it did, for people and machines. */
export interface Reason {
  readonly code: ReasonCode
  /** The step at which it was decided, where there is one. */
  readonly stepKey?: string
  /** The text of the condition or rule, where there is one. For staff: never sent to a customer as it is. */
  readonly text?: string
  /** One sentence or two that a support agent understands. */
  readonly message: string
  /** Names of missing or wrong input, for `missing_input` and `input_invalid`. */
  readonly fields?: readonly string[]
  /** Where the hand-over goes, as the nearest `escalateTo` of the definition says. */
  readonly escalateTo?: EscalateTo
}

/** The reason of a run as it is stored; of one that was erased only its code is left. */
export function readReason(stored: Partial<Reason> & Pick<Reason, 'code'>): Reason {
  return { ...stored, message: stored.message ?? erasedText }
}

export function isReasonCode(code: string): code is ReasonCode {
  return Object.hasOwn(reasonTexts, code)
}

/**
 * Builds a reason whose message begins with the standing text of its code and goes on with the particular. The message
 * is for people: no decision depends on it, and replay does not compare it.
 */
export function reasonOf(
  code: ReasonCode,
  facts: Omit<Reason, 'code' | 'message'> & { readonly detail?: string } = {},
): Reason {
  const { detail, ...rest } = facts
  const particular = detail ?? rest.text
  const standing = reasonTexts[code]
  const message =
    particular === undefined ? standing : `${standing.slice(0, -1)}: ${sentence(particular)}`
  return { code, ...rest, message }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
