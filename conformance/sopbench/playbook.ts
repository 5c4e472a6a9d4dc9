import type { Json, JsonObject } from '../../src/domain/json.ts'
import type { Step } from '../../src/index.ts'
import type { Leaf, Procedure } from './cases.ts'
import { type Clause, clausesOf, clauseText } from './clauses.ts'
import { plainName } from './names.ts'

/** A call of a tool that a rule needs, as a step. */
export interface Lookup {
  readonly key: string
  readonly tool: string
  /** Values are templates or constants. */
  readonly with: JsonObject
  /** What must hold for the call to make sense: that its input is there. */
  readonly when: readonly string[]
}

/** How a rule is decided: what is looked up for it, in order, and a condition that is true, false, and never fails. */
export interface Ruling {
  readonly lookups: readonly Lookup[]
  readonly when: string
}

/** How a rule of a procedure is decided. Throws `Untranslatable` for one that it cannot write down. */
export type RuleBook = (leaf: Leaf) => Ruling

/** A rule that cannot be written as an expression, and why. */
export class Untranslatable extends Error {
  override readonly name = 'Untranslatable'
}

export interface PlaybookPlan {
  readonly procedure: Procedure
  readonly key: string
  readonly category: string
  readonly rules: RuleBook
  readonly policy: JsonObject
  /** Schema of each value that the customer may supply. */
  readonly inputs: Readonly<Record<string, Json>>
  /** Inputs of the goal tool that every request has, and those that only some have. */
  readonly goalInputs: { readonly always: readonly string[]; readonly sometimes: readonly string[] }
}

export interface Playbook {
  readonly definition: JsonObject
  /** The rules that each condition stands for, by its text. */
  readonly clauses: ReadonlyMap<string, Clause>
  readonly goalKeys: readonly string[]
  /** The names of the tools that it calls, as the domain has them. */
  readonly tools: readonly string[]
}

/**
 * Writes a procedure as a person would: look up what the next rule needs, require the rule, and so on; then the goal
 * tool, once; and a completion condition that says it ran.
 */
export function playbookOf(plan: PlaybookPlan): Playbook {
  const { procedure, policy } = plan
  const clauses = clausesOf(procedure.constraints)
  const steps: Step[] = []
  const known = new Set<string>()
  const lookups: Lookup[] = []
  let conditions: { text: string; when: string }[] = []
  const require = () => {
    if (conditions.length === 0) return
    const number = steps.filter((step) => 'require' in step).length + 1
    const action = number === 1 ? 'Apply the rules' : 'Apply the rules that follow'
    steps.push({ key: `rules_${number}`, action, require: conditions, otherwise: 'declined' })
    conditions = []
  }
  for (const clause of clauses) {
    const rulings = clause.map((leaf) => ({ leaf, ruling: plan.rules(leaf) }))
    const missing = rulings
      .flatMap(({ ruling }) => ruling.lookups)
      .filter(({ key }) => !known.has(key) && known.add(key))
    if (missing.length > 0) require()
    steps.push(...missing.map(lookupStep))
    lookups.push(...missing)
    conditions.push({
      text: clauseText(clause),
      when:
        rulings.map(({ leaf, ruling }) => sided(ruling.when, leaf, rulings.length)).join(' || ') ||
        'false',
    })
  }
  require()
  const goals = goalSteps(plan)
  steps.push(...goals)
  const goalKeys = goals.map(({ key }) => key)
  const text = JSON.stringify(steps)
  // By the whole name: `amount` is not used where `amount_new` is.
  const used = (root: string, name: string) => new RegExp(`\\b${root}\\.${name}\\b`).test(text)
  // What only the goal needs is asked for at the start; a rule that misses its input does not hold.
  const required = plan.goalInputs.always.filter((name) => !text.includes(`has(input.${name})`))
  const definition = {
    key: plan.key,
    name: sentence(procedure.goal),
    description: `Does ${procedure.goal} for a customer when every rule of ${procedure.id} holds.`,
    category: plan.category,
    internal: true,
    input: {
      type: 'object',
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(
        Object.entries(plan.inputs).filter(([name]) => used('input', name)),
      ),
    },
    policy: Object.fromEntries(Object.entries(policy).filter(([name]) => used('policy', name))),
    steps,
    ...(lookups.length > 0 && { escalationRules: lookups.map(breakdownRule) }),
    completionConditions: [
      {
        text: `${procedure.goal} was done`,
        when: goalKeys.map((key) => `steps.${key}.status == 'completed'`).join(' || '),
      },
    ],
    successCriteria: `${procedure.goal} ran once, with what the customer asked for`,
  }
  return {
    definition: definition as unknown as JsonObject,
    clauses: new Map(clauses.map((clause) => [clauseText(clause), clause])),
    goalKeys,
    tools: [...new Set([...lookups.map(({ tool }) => tool), procedure.goal])],
  }
}

/** A read that is refused is no failure of the run: what needs its answer does not hold. */
function lookupStep({ key, tool, with: input, when }: Lookup): Step {
  return {
    key,
    action: sentence(tool),
    tool: plainName(tool),
    ...(Object.keys(input).length > 0 && { with: input }),
    ...(when.length > 0 && { when: when.join(' && ') }),
    required: false,
    onError: 'continue',
  }
}

/** A look-up that broke down says nothing of the rules: a person looks, and nobody is refused for it. */
function breakdownRule({ key, tool }: Lookup) {
  return {
    text: `${tool} broke down`,
    when: `steps.${key}.status == 'failed' && steps.${key}.error.kind != 'refused'`,
  }
}

/** The goal tool, in one step; where an input is optional, in one for each way to leave inputs out. */
function goalSteps({
  procedure: { goal },
  goalInputs: { always, sometimes },
}: PlaybookPlan): Step[] {
  let ways: (readonly string[])[] = [[]]
  for (const name of sometimes) ways = [...ways.map((names) => [...names, name]), ...ways]
  return ways.map((names, index) => {
    const when = sometimes.map((name) => `${names.includes(name) ? '' : '!'}has(input.${name})`)
    return {
      key: index === 0 ? goalKey : `${goalKey}_${index + 1}`,
      action: sentence(goal),
      tool: plainName(goal),
      with: Object.fromEntries([...always, ...names].map((name) => [name, `{{input.${name}}}`])),
      ...(when.length > 0 && { when: when.join(' && ') }),
      onError: 'declined',
    }
  })
}

const goalKey = 'goal'

/** One side of `||`, so that it binds as it is meant. */
function sided(when: string, { negate }: Leaf, sides: number): string {
  if (negate === true) return `!(${when})`
  return sides > 1 && /&&|\|\||\?/.test(when) ? `(${when})` : when
}

function sentence(name: string): string {
  const words = name.replace(/^internal_/, '').replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
