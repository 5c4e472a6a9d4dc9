import { expect, it } from 'vitest'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { teach, withRule } from '../../src/learning/improve.ts'
import { deskContracts, twelveRuns } from '../support/demonstrations.ts'

const demonstrations = twelveRuns.map(({ demonstration }) => demonstration)
const gateway = { key: 'gateway', action: 'Ask the gateway', tool: 'check_gateway', with: {} }
const definitionOf = (more: object = {}) =>
  requireDefinition({
    ...{ key: 'TAUGHT', name: 'Taught', description: 'For tests.', steps: [gateway] },
    ...more,
  })
const rule = {
  text: 'The result of gateway is not duplicate_capture',
  when: "steps.gateway.output.result != 'duplicate_capture'",
}

it('gives a rule as it is, and for a step that may be skipped', () => {
  expect(teach(definitionOf(), demonstrations, deskContracts)).toEqual([
    {
      forms: [rule, { ...rule, when: `steps.gateway.status == 'completed' && (${rule.when})` }],
      policy: {},
      guard: { text: rule.text, stepKey: null, runs: 2, why: 'failures' },
    },
  ])
})

it('gives none that is there, none of a tool that two steps call, and none of runs that all went well', () => {
  const known = definitionOf({ escalationRules: [rule] })
  const twice = definitionOf({ steps: [gateway, { ...gateway, key: 'again' }] })
  const good = demonstrations.filter(({ outcomeType }) => outcomeType === 'success')

  expect(teach(known, demonstrations, deskContracts)).toEqual([])
  expect(teach(twice, demonstrations, deskContracts)).toEqual([])
  expect(teach(definitionOf(), good, deskContracts)).toEqual([])
})

it('takes the name of a figure that means another one here for another', () => {
  const amounts = demonstrations.map((one, at) => ({
    ...one,
    outcomeType: at < 9 ? ('success' as const) : ('failure' as const),
    actions: [
      {
        tool: 'check_transaction',
        input: {},
        outputSummary: `amountValue: ${at < 9 ? at : 100 + at}`,
      },
    ],
  }))
  const steps = [{ key: 'look', action: 'Look', tool: 'check_transaction', with: {} }]
  const [taught] = teach(
    definitionOf({ steps, policy: { mostAmountValue: 5 } }),
    amounts,
    deskContracts,
  )

  expect(taught?.forms[0]?.when).toBe('steps.look.output.amountValue > policy.mostAmountValue2')
  expect(taught?.policy).toEqual({ mostAmountValue2: 8 })
})

it('adds a rule behind those that are there, with its figures', () => {
  const own = { text: 'Own', when: 'has(input.x)' }
  const base = definitionOf({ escalationRules: [own], policy: { a: 1 } })

  const { escalationRules, policy } = withRule(base, rule, { b: 2 })

  expect(escalationRules).toEqual([own, rule])
  expect(policy).toEqual({ a: 1, b: 2 })
})
