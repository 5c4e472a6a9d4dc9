import { expect, test } from 'vitest'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import { parseDefinition } from '../../src/domain/parse-definition.ts'
import { type ValidPlaybook, validPlaybooks } from './corpus.ts'
import type { Document } from './definition-texts.ts'
import { drawnRules, type Mutant, mutations } from './mutations.ts'

/** Mutants that mean the same as the playbook that they were made of, or are as right, each with the reason. */
const equivalent: { readonly [mutant: string]: string } = {
  'drop a guard of a read: many-charges.yaml escalationRules[0].when':
    'a rule is tested once all steps that it reads have ended, and this one never fails',
  'let a step that is read be skipped: many-charges.yaml steps[3].choose[1].steps[0]':
    'the step that reads it runs only when it has completed',
  'drop the fallback of a value that may be null: failed-payment.yaml steps[5].with.message':
    'an escalation rule has handed over what is null',
  'drop the fallback of a value that may be null: failed-payment.yaml replies.resolved':
    'a reply that cannot be filled in gives way to the built-in one',
  'drop the fallback of a value that may be null: refund-delay.yaml steps[5].with.message':
    'a requirement before it asks for the value',
  'drop the fallback of a value that may be null: refund-delay.yaml replies.resolved':
    'a reply that cannot be filled in gives way to the built-in one',
  'require an input no more: duplicate-charge.yaml input': 'a precondition asks for the input',
  'require an input no more: failed-payment.yaml input': 'a precondition asks for the input',
  'require an input no more: refund-delay.yaml input': 'a precondition asks for the input',
}

/** What is found in a mutant. */
function findIn(mutant: Mutant, { contracts, findProcedure }: ValidPlaybook): readonly string[] {
  const parsed = parseDefinition(mutant.document)
  if ('problems' in parsed) return ['definition-invalid']
  const tools = mutant.contracts ?? contracts
  return checkDefinition(parsed.definition, (name) => tools.get(name), findProcedure)
    .map(({ rule }) => rule)
    .filter((rule) => rule !== 'kind-unavailable')
}

const playbooks = validPlaybooks()
const kinds = Object.entries(mutations)

test('there are enough kinds of mistakes', () => {
  expect(kinds.length).toBeGreaterThanOrEqual(30)
})

const counts = { mutants: 0, equivalent: 0 }

test.each(kinds)('every playbook is told to be wrong when one would %s', (kind, mutate) => {
  const made = playbooks.flatMap((playbook) => {
    const document: Document = JSON.parse(JSON.stringify(playbook.definition))
    return mutate(document, playbook.contracts).map((mutant) => ({ playbook, mutant }))
  })

  const missed = made
    .filter(({ playbook, mutant }) => {
      const drawn = findIn(mutant, playbook)
      return !drawnRules[kind]?.some((rule) => drawn.includes(rule))
    })
    .map(({ playbook, mutant }) => `${kind}: ${playbook.name} ${mutant.at}`)

  counts.mutants += made.length
  counts.equivalent += missed.filter((one) => one in equivalent).length
  expect(made.length).toBeGreaterThan(0)
  expect(missed.filter((one) => !(one in equivalent))).toEqual([])
})

test('of the mutants that are listed as equivalent none is caught', () => {
  expect(counts.equivalent).toBe(Object.keys(equivalent).length)
})
