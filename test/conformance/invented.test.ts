import { describe, expect, it } from 'vitest'
import { learn } from '../../conformance/sopbench/domain-tools.ts'
import { expressionRules } from '../../conformance/sopbench/expression-rules.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import { airline } from './invented/airline.ts'
import { archive } from './invented/archive.ts'
import { clinic } from './invented/clinic.ts'
import { club } from './invented/club.ts'
import { call, domainOf, type Invented, situation } from './invented/domain.ts'
import { market } from './invented/market.ts'
import { parcels } from './invented/parcels.ts'
import { resort } from './invented/resort.ts'
import { verdictOf } from './verdict.ts'

describe.each(
  [resort, market, clinic, club, airline, parcels, archive].map(
    (domain) => [domain.name, domain] as const,
  ),
)('in the %s', (_, domain) => {
  const { tools, cases } = domainOf(domain)
  const rules = expressionRules(tools, learn({ name: '', procedures: [], cases, tools }))

  it.each(domain.rules.map((rule) => [rule.holdsWhen, rule] as const))(
    '%s',
    (_, { name, inputs, holds, fails }) => {
      const args = Object.fromEntries(inputs.map((input) => [input, input]))
      const ruling = rules({ check: name, args })

      expect(verdict(domain, ruling, holds)).toBe(true)
      expect(verdict(domain, ruling, fails)).toBe(false)
    },
  )
})

function verdict(domain: Invented, ruling: Parameters<typeof verdictOf>[0], differs: JsonObject) {
  const { user, state } = situation(domain, differs)
  return verdictOf(ruling, { user, policy: domain.policy }, (tool, args) =>
    call(domain, state, tool, args),
  )
}
