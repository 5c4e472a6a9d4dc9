import type { Severity } from '../domain/finding.ts'

/** What one rule is about: how serious it is, and what it finds, as the list of rules says it. */
export interface Rule {
  readonly severity: Severity
  readonly finds: string
}

function error(finds: string): { readonly severity: 'error'; readonly finds: string } {
  return { severity: 'error', finds }
}

function warning(finds: string): { readonly severity: 'warning'; readonly finds: string } {
  return { severity: 'warning', finds }
}

/**
 * Every rule that a finding can name. Ids are for ever: findings are stored with versions and named in reviews. An entry
 * of docs/checks.md, with a wrong and a right example, belongs to each, and a test holds the two equal.
 */
export const rules = {
  'document-invalid': error('a text that is not YAML or JSON as it is read here'),
  'definition-invalid': error('a field that is unknown, missing or of a wrong form'),
  'expression-syntax': error('an expression that cannot be parsed'),
  'template-syntax': error('a template that cannot be parsed'),
  'expression-type': error('an operand, an argument or a result of a wrong type'),
  'unknown-reference': error('a name that does not exist'),
  'impossible-value': error('a comparison with a text that the value never is'),
  'missing-field': error('an argument that a tool or procedure requires and is not given'),
  'unknown-field': error('an argument that a tool or procedure does not take'),
  'tool-unknown': error('a tool that is not registered'),
  'tool-order': error('a tool that may run without the tools that it requires'),
  'later-step': error('a read of a step that has not ended by then'),
  'unguarded-step': error('a read of a step that may have been skipped, failed or never reached'),
  'inside-loop': error('a read of a step inside a loop from outside of it'),
  'unreachable-step': error('a step that can never run'),
  'unreachable-choice': error('a choice that can never be taken'),
  'rule-never-due': error('an escalation rule that is never tested'),
  'rule-never-matches': error('an escalation rule that can never hold'),
  'choice-repeated': error('two choices of one step with the same text'),
  'retry-not-idempotent': error('`retry` on a write that must not be repeated'),
  'poll-of-write': error('`poll` on a tool that writes'),
  'loop-until': error('an `until` that no round can change'),
  'continue-required': error('`continue` on a required step'),
  'not-by': error('`notBy` that names no step of a person before it'),
  'reminder-late': error('a reminder or warning that does not come before its deadline'),
  'call-unknown': error('a call of a procedure that has no active version'),
  'call-cycle': error('procedures that call each other in a circle'),
  'call-depth': error('calls of more than 8 levels'),
  'caller-broken': error('a change that breaks an active version that calls this'),
  'secret-literal': error('a text that looks like a password, key or token'),
  'unsayable-value': error('wording for the customer that reads what is never sent'),
  'unguarded-value': warning('a value that may be absent or null, read without asking first'),
  untyped: warning('a value that no schema describes'),
  'never-holds': warning('a condition that can never hold'),
  'never-resolves': warning('a playbook that no way leads through to its end'),
  'call-unchecked': warning('a call of a procedure that is not among what was given'),
  'choice-missing': warning('a `choose` over listed values that leaves one of them out'),
  'unguarded-write': warning('a write that is not idempotent, and that no condition guards'),
  'text-sourced-guard': warning('a guard of a write that the customer’s text could satisfy'),
  'no-deadline': warning('an ask or approval that may wait for ever'),
  'approval-shows-nothing': warning('an approval that shows nothing of the case'),
  'loop-bound': warning('a list that may have more items than its loop may walk'),
  'no-completion-condition': warning('a playbook that resolves whenever its steps end'),
  'prose-only': warning('a condition without `when`'),
  'few-patterns': warning('fewer than four issue patterns'),
  'loose-pattern': warning('an issue pattern that fits far more than it should'),
  'example-contradicted': warning('an example that is both for and not for the playbook'),
  'example-routed-elsewhere': error('an example that search would send to another procedure'),
  'no-match-routed-here': error('a counter-example that search would send here'),
  'example-taken-away': error('an example of another active procedure that this would take away'),
  'unused-policy': warning('a policy constant that nothing reads'),
  'unused-input': warning('a required input that nothing reads'),
  'too-complex': warning('a definition that is too large to be proved in full'),
} as const satisfies { readonly [id: string]: Rule }

export type RuleId = keyof typeof rules
