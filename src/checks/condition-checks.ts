import { timestampType, unionOf } from '../domain/expression/type.ts'
import { objectType, stringType } from '../domain/expression.ts'
import type { Condition } from '../domain/step.ts'
import { atEnd, type DefinitionCheck } from './check.ts'
import type { Path } from './findings.ts'
import { checkReplyText } from './reply-checks.ts'
import type { Walk } from './walk.ts'
import type { World } from './worlds.ts'

/** A timestamp, or a text that is read as one. */
export const momentType = unionOf([timestampType, stringType])

export function checkProse(check: DefinitionCheck, path: Path, text: string): void {
  check.add('prose-only', path, `'${text}' has no 'when': it is shown and not enforced; add one`)
}

/** What is tested and evaluated when a run resolves, and the rules, in the worlds that the walk found for them. */
export function checkEnds(walk: Walk): void {
  const { check } = walk
  const {
    completionConditions,
    escalationRules = [],
    output = {},
    preconditions,
  } = check.definition
  checkWords(check, preconditions ?? [], ['preconditions'])
  let resolving = walk.resolving
  checkWords(check, completionConditions ?? [], ['completionConditions'])
  for (const [index, { when }] of (completionConditions ?? []).entries()) {
    if (when === undefined) continue
    resolving = walk.holding(when, ['completionConditions', index, 'when'], resolving, atEnd).yes
  }
  if (walk.resolving.length === 0) {
    const message =
      'no way through the steps comes to their end or to an end that is resolved, so every run is handed over or declined; see what ends it, also the escalation rules'
    check.add('never-resolves', ['steps'], message)
  }
  if (completionConditions === undefined) {
    const message =
      'no completion condition: the run counts as resolved whenever its steps come to an end; say what must hold then'
    check.add('no-completion-condition', ['completionConditions'], message)
  }
  checkWords(check, escalationRules, ['escalationRules'])
  for (const [index, { when }] of escalationRules.entries()) {
    if (when !== undefined) checkRule(walk, when, ['escalationRules', index, 'when'], index)
  }
  const results = Object.entries(output).map(([name, source]) => {
    return [name, check.value(source, ['output', name], resolving, atEnd)] as const
  })
  if (results.length > 0) check.resultType = objectType(Object.fromEntries(results))
}

function checkWords(check: DefinitionCheck, conditions: readonly Condition[], path: Path): void {
  for (const [index, { text, when, say }] of conditions.entries()) {
    if (when === undefined) checkProse(check, [...path, index], text)
    if (say !== undefined) checkReplyText(check, say, [...path, index, 'say'], [])
  }
}

function checkRule(walk: Walk, when: string, path: Path, index: number): void {
  const { check } = walk
  const worlds: readonly World[] = walk.rules.dueOf(index) ?? []
  const before = check.findings.count
  const { yes } = check.condition(when, path, worlds, atEnd)
  if (check.findings.count > before || yes.length > 0) return
  if (worlds.length > 0) {
    const message =
      'this can never hold when it is tested, so the rule never hands a run over; correct it or remove the rule'
    check.add('rule-never-matches', path, message)
  } else if (walk.rules.dueOf(index) !== undefined) {
    const keys = [...(check.parsed(when, path)?.reads.steps ?? [])].map((key) => `steps.${key}`)
    const message =
      keys.length === 0
        ? 'no run is tested by this: what is tested before it always ends the run; correct that, or remove the rule'
        : `no run is tested by this: it would be once ${keys.join(' and ')} have ended, and no way leads through all of them; write a rule for each way`
    check.add('rule-never-due', path, message)
  }
}
