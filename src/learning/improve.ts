import type { Definition } from '../domain/definition.ts'
import type { JsonObject } from '../domain/json.ts'
import { walkSteps } from '../domain/step.ts'
import type { Contracts, Demonstration } from './demonstration.ts'
import type { LearnedGuard } from './generalise.ts'
import { learnRules } from './learn-rules.ts'

/** An escalation rule that runs of a version have taught, in the forms in which it may be added. */
export interface TaughtRule {
  /** As it is; and where its step may have been skipped or have failed, only once that has completed. */
  readonly forms: readonly JsonObject[]
  /** The named constants that it reads. */
  readonly policy: JsonObject
  readonly guard: LearnedGuard
}

/**
 * What the runs of a version teach it: rules that would have handed failures to a person, and no success. Rules that it has
 * already are left out; names of constants that it has with another figure are passed over.
 */
export function teach(
  definition: Definition,
  demonstrations: readonly Demonstration[],
  contracts: Contracts,
): readonly TaughtRule[] {
  const stepKeyOf = onlyStepOf(definition)
  const { rules, policy, failures } = learnRules({ demonstrations, contracts, stepKeyOf })
  const known = new Set((definition.escalationRules ?? []).map(({ when }) => when))
  return rules.flatMap((rule, at) => {
    const own = renamed(String(rule.when), policy, definition.policy ?? {})
    const [, stepKey] = /\bsteps\.(\w+)\./.exec(own.when) ?? []
    if (stepKey === undefined || known.has(own.when)) return []
    const text = String(rule.text)
    const completed = `steps.${stepKey}.status == 'completed'`
    return [
      {
        forms: [
          { text, when: own.when },
          { text, when: `${completed} && (${own.when})` },
        ],
        policy: own.policy,
        guard: { text, stepKey: null, runs: failures[at] ?? 0, why: 'failures' as const },
      },
    ]
  })
}

/** A definition with one more rule. */
export function withRule(definition: Definition, rule: JsonObject, policy: JsonObject): JsonObject {
  const { escalationRules = [], ...rest } = { ...definition }
  const constants = { ...definition.policy, ...policy }
  return {
    ...(rest as unknown as JsonObject),
    ...(Object.keys(constants).length > 0 && { policy: constants }),
    escalationRules: [...(escalationRules as unknown as readonly JsonObject[]), rule],
  }
}

/** The key of the one step that calls a tool, where no other does. */
function onlyStepOf({ steps }: Definition): (tool: string) => string | undefined {
  const keys = new Map<string, string | undefined>()
  for (const step of walkSteps(steps)) {
    if ('tool' in step) keys.set(step.tool, keys.has(step.tool) ? undefined : step.key)
  }
  return (tool) => keys.get(tool)
}

/** The constants that an expression reads, under names that mean nothing else here yet. */
function renamed(
  when: string,
  learned: JsonObject,
  taken: Readonly<Record<string, unknown>>,
): { readonly when: string; readonly policy: JsonObject } {
  const policy: Record<string, JsonObject[string]> = {}
  const text = when.replaceAll(/\bpolicy\.(\w+)/g, (_, wanted: string) => {
    const value = learned[wanted] ?? null
    let name = wanted
    for (let count = 2; (taken[name] ?? value) !== value; count += 1) name = `${wanted}${count}`
    policy[name] = value
    return `policy.${name}`
  })
  return { when: text, policy }
}
