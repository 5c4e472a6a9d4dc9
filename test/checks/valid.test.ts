import { expect, test } from 'vitest'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import { validPlaybooks } from './corpus.ts'

test.each(validPlaybooks().map((one) => [one.name, one] as const))(
  'the checks find nothing in %s',
  (_name, { definition, contracts, findProcedure }) => {
    const findings = checkDefinition(definition, (name) => contracts.get(name), findProcedure)

    expect(findings.filter(({ rule }) => rule !== 'kind-unavailable')).toEqual([])
  },
)
