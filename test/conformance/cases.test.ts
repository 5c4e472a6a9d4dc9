import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { featureRows, featureTable } from '../../conformance/features.ts'
import { createRecorder, type Report } from '../../conformance/report.ts'
import { type Case, type Domain, readDomains } from '../../conformance/sopbench/cases.ts'
import { learn } from '../../conformance/sopbench/domain-tools.ts'
import { expressionRules } from '../../conformance/sopbench/expression-rules.ts'
import { findLiveTools, type LiveTools } from '../../conformance/sopbench/live/domains.ts'
import { liveStage } from '../../conformance/sopbench/live/stage.ts'
import type { World } from '../../conformance/stage.ts'
import { runSuites } from '../../conformance/suites.ts'
import { verdictOf } from './verdict.ts'

const folder = process.env.STEPWARDEN_CASES ?? ''

// The cases lie beside the repository, so they are skipped where STEPWARDEN_CASES names no folder.
describe.skipIf(folder === '')('the public cases', () => {
  const domains = folder === '' ? [] : readDomains(join(folder, 'sopbench'))

  it.each(domains.map((domain) => [domain.name, domain] as const))(
    'of %s: each rule holds as was recorded, in each case',
    async (_, domain) => {
      const live = await findLiveTools(domain.name)
      const rules = expressionRules(domain.tools, learn(domain))

      const wrong = domain.cases.flatMap((one) =>
        one.checks
          .filter(({ check, holds }) => holds !== null && domain.tools.checks[check] !== undefined)
          .filter(
            (recorded) =>
              verdictOf(rules(recorded), one, worldOf(one, domain, live)) !== recorded.holds,
          )
          .map(({ check }) => `${one.id}: ${check}`),
      )

      expect(wrong).toEqual([])
    },
  )

  it('use of the language what its page says', () => {
    const page = readFileSync(new URL('../../docs/language.md', import.meta.url), 'utf8')

    expect(page).toContain(featureTable(featureRows(domains)))
  })

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

function worldOf(one: Case, domain: Domain, live: LiveTools | undefined): World {
  if (live === undefined) throw new Error(`${domain.name} has no live tools`)
  return liveStage(one, domain.tools, live).world
}
