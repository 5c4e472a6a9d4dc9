import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { generalise } from '../../src/learning/generalise.ts'
import { deskContracts } from '../support/demonstrations.ts'

const page = readFileSync(new URL('../../docs/demonstrations.md', import.meta.url), 'utf8')

function block(kind: string): unknown {
  return parse(new RegExp(`\`\`\`yaml ${kind}\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '')
}

it('makes the draft of docs/demonstrations.md of its runs', () => {
  const runs: readonly Record<string, unknown>[] = Object(block('runs'))
  const demonstrations = runs.map((run) => ({
    id: null,
    situation: String(run.situation),
    actions: Object(run.did).map((action: object) => ({ outputSummary: '', ...action })),
    outcome: '',
    outcomeType: Object(run).outcome,
    score: 0,
  }))

  const result = generalise({ demonstrations, contracts: deskContracts })

  expect(result).toMatchObject({ definition: block('draft'), agreement: { heldOut: 2, agreed: 2 } })
  const definition = requireDefinition(block('draft'))
  const findings = checkDefinition(definition, (name) => deskContracts.get(name))
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
})
