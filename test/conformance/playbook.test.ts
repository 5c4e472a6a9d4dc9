import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { shopTools } from '../../conformance/retail/tools.ts'
import { domainTools, learn } from '../../conformance/sopbench/domain-tools.ts'
import { expressionRules } from '../../conformance/sopbench/expression-rules.ts'
import { type PlaybookPlan, playbookOf } from '../../conformance/sopbench/playbook.ts'
import { Stage } from '../../conformance/stage.ts'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import { readDocument } from '../../src/documents/read-document.ts'
import type { Json } from '../../src/domain/json.ts'
import { parseDefinition } from '../../src/domain/parse-definition.ts'
import { walkSteps } from '../../src/domain/step.ts'
import type { Tool } from '../../src/domain/tool.ts'
import { rental } from './rental.ts'

const learned = learn(rental)
const [procedure] = rental.procedures
if (procedure === undefined) throw new TypeError('there is a procedure')

const plan: PlaybookPlan = {
  procedure,
  key: 'RENTAL_LEND_V1',
  category: 'rental',
  rules: expressionRules(rental.tools, learned),
  policy: { max_days: 7 },
  inputs: {
    username: { type: 'string' },
    password: { type: 'string' },
    machine_id: { type: 'string' },
    count: { type: 'number' },
    amount: { type: 'number' },
    note: { type: 'string' },
  },
  goalInputs: { always: ['username', 'machine_id', 'count'], sometimes: [] },
}

function checked(document: Json, tools: readonly Tool[]) {
  const parsed = parseDefinition(document)
  if (!('definition' in parsed)) throw new Error(JSON.stringify(parsed))
  const contracts = new Map(tools.map(({ contract }) => [contract.name, contract]))
  const findings = checkDefinition(parsed.definition, (name) => contracts.get(name))
  return {
    definition: parsed.definition,
    errors: findings.filter(({ severity }) => severity === 'error'),
  }
}

it('looks up, requires, looks up, requires, and then does it', () => {
  const { definition, errors } = checked(
    playbookOf(plan).definition,
    domainTools(rental, learned, new Stage()).tools,
  )

  expect(errors).toEqual([])
  expect([...walkSteps(definition.steps)].map(({ key }) => key)).toEqual([
    'log_in',
    'rules_1',
    'member_exists',
    'rules_2',
    'find_member',
    'get_deposit',
    'rules_3',
    'find_machine',
    'rules_4',
    'goal',
  ])
  // No rule of this procedure reads the constant.
  expect(definition.policy).toEqual(undefined)
})

it('names in each condition the rules that it stands for', () => {
  const { clauses } = playbookOf(plan)

  expect([...clauses].map(([text, leaves]) => [text, leaves.map(({ check }) => check)])).toEqual([
    ['logged_in', ['logged_in']],
    ['member_exists', ['member_exists']],
    ['lent_before or enough_deposit', ['lent_before', 'enough_deposit']],
    ['enough_stock', ['enough_stock']],
  ])
})

it('writes the goal once for each way to leave an input out', () => {
  const { definition, goalKeys } = playbookOf({
    ...plan,
    goalInputs: { ...plan.goalInputs, sometimes: ['note'] },
  })

  expect(goalKeys).toEqual(['goal', 'goal_2'])
  expect(definition.steps).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ key: 'goal', when: 'has(input.note)' }),
      expect.objectContaining({ key: 'goal_2', when: '!has(input.note)' }),
    ]),
  )
})

const folder = new URL('../../conformance/playbooks/', import.meta.url)

it.each(readdirSync(folder))('finds nothing wrong with %s', (name) => {
  const { value } = readDocument(readFileSync(new URL(name, folder), 'utf8'), { name })

  expect(checked(value, shopTools(new Stage())).errors).toEqual([])
})
