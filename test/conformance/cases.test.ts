import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createRecorder, type Report } from '../../conformance/report.ts'
import { type Case, type Domain, readDomains } from '../../conformance/sopbench/cases.ts'
import { learn } from '../../conformance/sopbench/domain-tools.ts'
import { expressionRules } from '../../conformance/sopbench/expression-rules.ts'
import { liveDomains } from '../../conformance/sopbench/live/domains.ts'
import { liveStage } from '../../conformance/sopbench/live/stage.ts'
import type { Ruling } from '../../conformance/sopbench/playbook.ts'
import { runSuites } from '../../conformance/suites.ts'
import { parseExpression, type Scope } from '../../src/domain/expression.ts'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import { parseTemplate } from '../../src/domain/template.ts'
import { ToolRefused } from '../../src/index.ts'

const folder = process.env.STEPWARDEN_CASES ?? ''

// The cases lie beside the repository, so they are skipped where STEPWARDEN_CASES names no folder.
describe.skipIf(folder === '')('the public cases', () => {
  const domains = folder === '' ? [] : readDomains(join(folder, 'sopbench'))

  it.each(domains.map((domain) => [domain.name, domain] as const))(
    'of %s: each rule holds as was recorded, in each case',
    (_, domain) => {
      const rules = expressionRules(domain.tools, learn(domain))

      const wrong = domain.cases.flatMap((one) =>
        one.checks
          .filter(({ check, holds }) => holds !== null && domain.tools.checks[check] !== undefined)
          .filter((recorded) => verdictOf(rules(recorded), one, domain) !== recorded.holds)
          .map(({ check }) => `${one.id}: ${check}`),
      )

      expect(wrong).toEqual([])
    },
  )

  it('run as they should, one in ten of them', async () => {
    const report: Report = {}
    const recorder = createRecorder(report, {}, () => {})

    await runSuites(folder, { ...recorder, wantsCase: (id) => sumOf(id) % 10 === 0 })

    const failures = Object.values(report).flatMap((ofDomain) =>
      Object.values(ofDomain).flatMap((tiers) =>
        Object.values(tiers).flatMap((tier) => tier.failures),
      ),
    )
    expect(Object.keys(report).length).toBeGreaterThan(0)
    expect(failures).toEqual([])
  })
})

function sumOf(id: string): number {
  return [...id].reduce((sum, char) => sum + char.charCodeAt(0), 0)
}

/** What an expression gives, with the answers of the live tools. */
function verdictOf({ lookups, when }: Ruling, one: Case, domain: Domain): Json {
  const live = liveDomains[domain.name]
  if (live === undefined) throw new Error(`${domain.name} has no live tools`)
  const { world } = liveStage(one, domain.tools, live)
  const steps: Record<string, JsonObject> = {}
  for (const { key } of lookups) steps[key] = { status: 'pending', attempts: 0 }
  const scope = { input: one.user, policy: one.policy, steps, ticket: null, execution: {}, now: 0 }
  for (const { key, tool, with: input, when: conditions } of lookups) {
    if (conditions.length > 0 && evaluated(conditions.join(' && '), scope) !== true) continue
    const parsed = parseTemplate(input)
    if (!('template' in parsed)) throw new Error(JSON.stringify(parsed.problems))
    const args = parsed.template.resolve(scope) as JsonObject
    steps[key] = called(() => world(tool, args))
  }
  return evaluated(when, scope)
}

function called(call: () => Json): JsonObject {
  try {
    return { status: 'completed', attempts: 1, output: call() }
  } catch (error) {
    if (!(error instanceof ToolRefused)) throw error
    return { status: 'failed', attempts: 1 }
  }
}

function evaluated(source: string, scope: Scope): Json {
  const parsed = parseExpression(source)
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
  return parsed.expression.evaluate(scope)
}
