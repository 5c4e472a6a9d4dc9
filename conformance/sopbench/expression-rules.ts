import type { DomainTools } from './cases.ts'
import { sessionRuling, verdictRuling } from './control-rules.ts'
import type { Learned } from './domain-tools.ts'
import { type RuleBook, Untranslatable } from './playbook.ts'
import { RuleScope } from './translate/scope.ts'
import { translate } from './translate/translate.ts'

/**
 * Rules as expressions over what sessions and reads answer. A rule that is itself a read tool is that tool's yes; a rule
 * that is told in words is translated.
 */
export function expressionRules(
  tools: DomainTools,
  learned: Learned,
  flawOf: (part: string) => string | undefined = () => undefined,
): RuleBook {
  const told = Object.entries(tools.checks)
  return (leaf) => {
    if (tools.session[leaf.check] !== undefined) return sessionRuling(tools, leaf)
    if (tools.tools[leaf.check] !== undefined) return verdictRuling(leaf, leaf.check)
    const place = told.findIndex(([name]) => name === leaf.check)
    const check = tools.checks[leaf.check]
    if (check === undefined || check.holdsWhen === '') {
      const why = flawOf(leaf.check)
      throw new Untranslatable(
        `nothing says when ${leaf.check} holds${why === undefined ? '' : ` (${why})`}`,
      )
    }
    const earlier = told.slice(0, place).map(([, { holdsWhen }]) => holdsWhen)
    try {
      return translate(new RuleScope(leaf, check, { tools, learned }), earlier)
    } catch (error) {
      if (!(error instanceof Untranslatable)) throw error
      throw new Untranslatable(`${leaf.check}: ${error.message} (holds when ${check.holdsWhen})`)
    }
  }
}
