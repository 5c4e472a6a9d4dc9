import { expect, test } from 'vitest'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import { validPlaybooks } from './corpus.ts'

test.each(validPlaybooks().map((one) => [one.name, one] as const))(
  'the checks find no error in %s',
  (_name, { definition, contracts, findProcedure }) => {
    const findings = checkDefinition(definition, (name) => contracts.get(name), findProcedure)

    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
    // Anybody may ask the shop for anything, so its playbooks believe what is asked of them.
    const rules = findings.map(({ rule }) => rule)
    expect(
      rules.filter((rule) => rule !== 'text-sourced-guard' && rule !== 'unguarded-value'),
    ).toEqual([])
  },
)
