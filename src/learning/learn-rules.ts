import type { Json, JsonObject } from '../domain/json.ts'
import { type Contracts, type Demonstration, runOf } from './demonstration.ts'
import { learn } from './demonstration-model.ts'
import { conditionOf } from './demonstration-steps.ts'
import { type Column, textOf } from './fact-test.ts'

/** Rules for a playbook that there is, with the named constants that they read. */
export interface LearnedRules {
  /** Of `text` and `when`, as a definition has them. */
  readonly rules: readonly JsonObject[]
  readonly policy: JsonObject
  /** By rule, the failures that it would have kept from happening. */
  readonly failures: readonly number[]
}

/**
 * What tells failures from successes among runs, as escalation rules for a playbook: of what its steps answer, where the
 * runs used the same tools. `stepKeyOf` gives the one step that calls a tool, and undefined for a tool that none or several
 * call. Empty where nothing tells them apart.
 */
export function learnRules(given: {
  readonly demonstrations: readonly Demonstration[]
  readonly contracts: Contracts
  readonly stepKeyOf: (tool: string) => string | undefined
}): LearnedRules {
  const { demonstrations, contracts, stepKeyOf } = given
  const runs = demonstrations
    .filter(({ outcomeType }) => outcomeType !== 'partial_success')
    .map((one) => runOf(one, one.outcomeType === 'success', contracts))
  const none = { rules: [], policy: {}, failures: [] }
  if (!runs.some(({ isSuccess }) => isSuccess)) return none
  const { places, rules } = learn(runs, contracts)
  const policy: Record<string, number> = {}
  const learned = rules.flatMap(
    ({ column, test, failures }): readonly (readonly [JsonObject, number])[] => {
      const place = places[column.place]
      const stepKey = place && stepKeyOf(place.tool)
      if (place === undefined || stepKey === undefined || failures.length === 0) return []
      const here = columnAt(column, place.stepKey, stepKey)
      const rule: JsonObject = { text: textOf(here, test), when: conditionOf(here, test, policy) }
      return [[rule, failures.length]]
    },
  )
  return {
    rules: learned.map(([rule]) => rule),
    policy: policy satisfies Record<string, Json>,
    failures: learned.map(([, count]) => count),
  }
}

/** The same value where another playbook has it. */
function columnAt(column: Column, from: string, to: string): Column {
  const path = column.reference.slice(`steps.${from}.`.length)
  const label = column.label.replace(new RegExp(` of ${from}$`), ` of ${to}`)
  return { ...column, reference: `steps.${to}.${path}`, label }
}
