import type { Json, JsonObject } from '../../src/domain/json.ts'
import { type Domain, flawOf, inputsOf } from './cases.ts'
import type { Learned } from './domain-tools.ts'
import { type Playbook, playbookOf, type RuleBook } from './playbook.ts'

/** How a procedure is to be written: by which rules, with which constants, and what its key begins with. */
export interface Writing {
  readonly mark: string
  readonly rules: RuleBook
  readonly policy: JsonObject
}

/**
 * Writes a procedure of a domain as a playbook, with the inputs that its cases give.
 *
 * @throws Error when the domain has no such procedure, and `Untranslatable` for a rule that cannot be written down.
 */
export function writePlaybook(
  domain: Domain,
  learned: Learned,
  id: string,
  { mark, rules, policy }: Writing,
): Playbook {
  const procedure = domain.procedures.find((one) => one.id === id)
  if (procedure === undefined) {
    throw new Error(`${id}: ${flawOf(domain, id) ?? 'no such procedure is there'}`)
  }
  const requests = domain.cases.filter((one) => one.procedure === id)
  const goal = domain.tools.tools[procedure.goal]
  const asked = [...new Set(requests.flatMap(({ goalArgs }) => Object.keys(goalArgs)))]
  const inputs = goal === undefined ? asked : inputsOf(goal).map(({ name }) => name)
  const given = (input: string) => requests.filter(({ goalArgs }) => Object.hasOwn(goalArgs, input))
  return playbookOf({
    procedure,
    key: procedureKey(id, mark),
    category: domain.name,
    rules,
    policy,
    inputs: Object.fromEntries(
      [...learned.inputs].map(([input, shape]) => [
        input,
        { type: [...shape.kinds].map(jsonType) },
      ]),
    ),
    goalInputs: {
      always: inputs.filter((input) => given(input).length === requests.length),
      sometimes: inputs.filter((input) => {
        const count = given(input).length
        return count > 0 && count < requests.length
      }),
    },
  })
}

function jsonType(kind: string): Json {
  return kind === 'text' ? 'string' : kind === 'list' ? 'array' : kind
}

/** A key from a procedure's id, at most 64 characters: the end tells variants apart, so the middle gives way. */
function procedureKey(id: string, mark: string): string {
  const key = `${mark}_${id}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  return key.length <= 64 ? key : `${key.slice(0, 40)}_${key.slice(-23)}`
}
