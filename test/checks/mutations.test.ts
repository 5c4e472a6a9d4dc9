import { expect, test } from 'vitest'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import { parseDefinition } from '../../src/domain/parse-definition.ts'
import { type ValidPlaybook, validPlaybooks } from './corpus.ts'
import type { Document } from './definition-texts.ts'
import { drawnRules, type Mutant, mutations } from './mutations.ts'

const asked = 'a requirement before has asked for the status already'
const unlisted = "the shop's tools do not list the states of an order"
const inOrder = ['steps[3].require[2].when', 'steps[3].require[3].when']

/**
 * Mutants that mean the same as the playbook that they were made of, are as safe, or differ in what no schema tells:
 * for each kind, by playbook, the places and the reason.
 */
const equivalent: {
  readonly [kind: string]: {
    readonly [playbook: string]: readonly [places: readonly string[], reason: string]
  }
} = {
  'misspell a listed value': { 'cancel-pending-order': [['steps[4].expect'], unlisted] },
  'leave a bracket open': {
    'modify-pending-order-items': [['steps[11].expect', 'completionConditions[0].when'], unlisted],
  },
  'drop a guard of a read': {
    'cancel-pending-order': [[...inOrder, 'completionConditions[0].when'], asked],
    'exchange-delivered-order-items': [
      [
        ...inOrder,
        'steps[8].require[0].when',
        'steps[10].require[0].when',
        'completionConditions[0].when',
      ],
      asked,
    ],
    'modify-pending-order-address': [[...inOrder, 'completionConditions[0].when'], asked],
    'modify-pending-order-items': [
      [
        ...inOrder,
        'steps[8].require[0].when',
        'steps[10].require[0].when',
        'completionConditions[0].when',
      ],
      asked,
    ],
    'modify-pending-order-payment': [
      [...inOrder, 'steps[5].require[3].when', 'completionConditions[0].when'],
      asked,
    ],
    'modify-user-address': [['completionConditions[0].when'], asked],
    'return-delivered-order-items': [[...inOrder, 'completionConditions[0].when'], asked],
  },
  'guard a tool that another requires': {
    'cancel-pending-order': [['steps[2]'], asked],
    'exchange-delivered-order-items': [['steps[2]'], asked],
    'modify-pending-order-address': [['steps[2]'], asked],
    'modify-pending-order-items': [['steps[2]'], asked],
    'modify-pending-order-payment': [['steps[2]'], asked],
    'return-delivered-order-items': [['steps[2]'], asked],
  },
  'let a step that is read be skipped': {
    'many-charges': [
      ['steps[3].choose[1].steps[0]'],
      'the step that reads it runs only when it has completed',
    ],
    'exchange-delivered-order-items': [['steps[2]'], asked],
    'modify-pending-order-items': [['steps[2]'], asked],
    'modify-pending-order-payment': [['steps[2]'], asked],
    'return-delivered-order-items': [['steps[2]'], asked],
  },
  'let a step that is read fail': {
    'exchange-delivered-order-items': [['steps[2]'], 'it may fail already'],
    'modify-pending-order-items': [['steps[2]'], 'it may fail already'],
    'modify-pending-order-payment': [['steps[2]'], 'it may fail already'],
    'return-delivered-order-items': [['steps[2]'], 'it may fail already'],
  },
  'drop the fallback of a value that may be null': {
    'failed-payment': [
      ['steps[5].with.message', 'replies.resolved'],
      'an escalation rule has handed over what is null, and a reply gives way to the built-in one',
    ],
    'refund-delay': [
      ['steps[5].with.message', 'replies.resolved'],
      'a requirement has asked for the value, and a reply gives way to the built-in one',
    ],
  },
  'require an input no more': {
    'duplicate-charge': [['input'], 'a precondition asks for it'],
    'failed-payment': [['input'], 'a precondition asks for it'],
    'refund-delay': [['input'], 'a precondition asks for it'],
  },
}

/** All of them, as `kind: playbook place`. */
const equivalents = Object.entries(equivalent).flatMap(([kind, playbooks]) =>
  Object.entries(playbooks).flatMap(([playbook, [places]]) =>
    places.map((place) => `${kind}: ${playbook} ${place}`),
  ),
)

/** What is found in a document, each with its place. */
function findingsOf(
  document: Document,
  contracts: ValidPlaybook['contracts'],
  { findProcedure }: ValidPlaybook,
): readonly { readonly rule: string; readonly path: string }[] {
  const parsed = parseDefinition(document)
  if ('problems' in parsed) return [{ rule: 'definition-invalid', path: '' }]
  return checkDefinition(parsed.definition, (name) => contracts.get(name), findProcedure)
}

/** What is found in the playbooks as they are. */
const known = new Map<ValidPlaybook, ReturnType<typeof findingsOf>>()

/** The rules that a mutant draws, where the playbook did not. */
function drawnBy(mutant: Mutant, playbook: ValidPlaybook): readonly string[] {
  const { definition, contracts } = playbook
  const before =
    known.get(playbook) ?? findingsOf(JSON.parse(JSON.stringify(definition)), contracts, playbook)
  known.set(playbook, before)
  return findingsOf(mutant.document, mutant.contracts ?? contracts, playbook)
    .filter(({ rule, path }) => !before.some((one) => one.rule === rule && one.path === path))
    .map(({ rule }) => rule)
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
      const drawn = drawnBy(mutant, playbook)
      return !drawnRules[kind]?.some((rule) => drawn.includes(rule))
    })
    .map(({ playbook, mutant }) => `${kind}: ${playbook.name.replace(/\.\w+$/, '')} ${mutant.at}`)

  counts.mutants += made.length
  counts.equivalent += missed.filter((one) => equivalents.includes(one)).length
  expect(made.length).toBeGreaterThan(0)
  expect(missed.filter((one) => !equivalents.includes(one))).toEqual([])
})

test('of the mutants that are listed as equivalent none is caught', () => {
  expect(counts.equivalent).toBe(equivalents.length)
  expect(counts.mutants).toBeGreaterThan(1_000)
})
