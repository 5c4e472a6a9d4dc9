import { canonicalJson, sha256 } from '../domain/canonical.ts'
import { definitionLimits } from '../domain/definition-limits.ts'
import { type Json, type JsonObject, setMember } from '../domain/json.ts'
import type { Problem } from '../domain/problem.ts'
import type { Contracts, Demonstration } from './demonstration.ts'
import { runOf } from './demonstration.ts'
import { type Agreement, agreementOf } from './demonstration-agreement.ts'
import type { LearnedRule } from './demonstration-guards.ts'
import { isSame, learn, type Model } from './demonstration-model.ts'
import { patternsOf } from './demonstration-patterns.ts'
import { stepsOf, stepText } from './demonstration-steps.ts'
import { textOf } from './fact-test.ts'

export interface Generalised {
  /** A definition as a person would write it: to be parsed and checked like any other. */
  readonly definition: JsonObject
  readonly learnedFrom: {
    readonly successes: number
    readonly failures: number
    /** Partial successes, where there are whole ones: they say neither what to do nor what to avoid. */
    readonly leftOut: number
  }
  readonly agreement: Agreement | null
  readonly parameters: readonly LearnedParameter[]
  readonly guards: readonly LearnedGuard[]
  /** Tools that were used and are not on the allowlist: a person is asked to do what they did. */
  readonly unknownTools: readonly string[]
  /** What was done in some runs and is no step, as nothing tells when. */
  readonly leftOutTools: readonly string[]
}

export interface LearnedParameter {
  readonly name: string
  /** The steps that read it. */
  readonly stepKeys: readonly string[]
}

export interface LearnedGuard {
  readonly text: string
  /** The rule that hands a run to a person, or the step that is taken only then. */
  readonly stepKey: string | null
  /** Failures that it would have kept from happening; runs in which the step was taken. */
  readonly runs: number
  readonly why: 'failures' | 'never_seen' | 'runs_differ'
}

/** More would take long, and say little more. */
export const maxDemonstrations = 200

/**
 * Makes one definition of how something was done several times: values that recur become parameters, what earlier steps
 * have answered is read from them, a step that only some runs take is guarded by what tells those runs from the others,
 * and what tells failures from successes becomes an escalation rule. Where nothing tells when a write is done, a person is
 * asked. What none of at least three runs has met goes to a person as well.
 *
 * Deterministic, whatever the order of the demonstrations. Problems say why nothing can be made of them.
 */
export function generalise(given: {
  readonly name?: string | undefined
  readonly key?: string | undefined
  readonly demonstrations: readonly Demonstration[]
  readonly contracts: Contracts
}): Generalised | { readonly problems: readonly Problem[] } {
  const { contracts } = given
  const demonstrations = [...given.demonstrations].sort((a, b) =>
    textFor(a) < textFor(b) ? -1 : 1,
  )
  const problems = findProblems(demonstrations)
  if (problems.length > 0) return { problems }
  const isWhole = demonstrations.some(({ outcomeType }) => outcomeType === 'success')
  const good = isWhole ? 'success' : 'partial_success'
  const used = demonstrations.filter(({ outcomeType }) => [good, 'failure'].includes(outcomeType))
  const runs = used.map((one) => runOf(one, one.outcomeType === good, contracts))
  const model = learn(runs, contracts)
  const successes = runs.filter(({ isSuccess }) => isSuccess)
  return {
    definition: definitionOf(
      given,
      model,
      successes.map(({ situation }) => situation),
    ),
    learnedFrom: {
      successes: successes.length,
      failures: runs.length - successes.length,
      leftOut: demonstrations.length - used.length,
    },
    agreement: agreementOf(runs, contracts),
    parameters: model.parameters.map(({ name, usages }) => ({
      name,
      stepKeys: [...new Set(usages.map(({ place }) => model.places[place]?.stepKey ?? ''))],
    })),
    guards: guardsOf(model),
    unknownTools: namesOf(model, ({ tool }) => !contracts.has(tool)),
    leftOutTools: namesOf(model, ({ when }) => when === 'left_out'),
  }
}

function textFor({ id, situation, actions }: Demonstration): string {
  return canonicalJson([id, situation, ...actions.map(({ tool, input }) => [tool, input])])
}

function findProblems(demonstrations: readonly Demonstration[]): readonly Problem[] {
  const problems: Problem[] = []
  if (demonstrations.length > maxDemonstrations) {
    const message = `There are ${demonstrations.length} runs, and at most ${maxDemonstrations} are generalised at once. Give those that matter most.`
    problems.push({ path: 'demonstrations', message })
  }
  for (const [at, { actions }] of demonstrations.entries()) {
    const path = `demonstrations[${at}].actions`
    if (actions.length === 0)
      problems.push({ path, message: 'Nothing was done in it. Give at least one action.' })
    if (actions.length > definitionLimits.steps) {
      const message = `It has ${actions.length} actions, and a playbook has at most ${definitionLimits.steps} steps. Give the part that is to be repeated.`
      problems.push({ path, message })
    }
  }
  if (!demonstrations.some(({ outcomeType }) => outcomeType !== 'failure')) {
    const message = `None of the ${demonstrations.length} runs has succeeded, so nothing says how it is done. Give at least one that has.`
    problems.push({ path: 'demonstrations', message })
  }
  return problems
}

function definitionOf(
  {
    name,
    key,
    contracts,
  }: {
    readonly name?: string | undefined
    readonly key?: string | undefined
    readonly contracts: Contracts
  },
  model: Model,
  situations: readonly string[],
): JsonObject {
  const patterns = patternsOf(situations)
  const title = name ?? titleOf(patterns[0], model)
  const { steps, rules, policy } = stepsOf(model, contracts)
  const properties: Record<string, Json> = {}
  for (const parameter of model.parameters) setMember(properties, parameter.name, parameter.schema)
  const required = model.parameters.map((parameter) => parameter.name)
  const input = required.length === 0 ? {} : { input: { type: 'object', required, properties } }
  return {
    key: key ?? keyOf(title, model),
    name: title,
    description: `Generalised from ${situations.length === 1 ? 'one run' : `${situations.length} runs`} that went well.`,
    ...(patterns.length === 0 ? {} : { issuePatterns: patterns }),
    ...input,
    ...(Object.keys(policy).length === 0 ? {} : { policy }),
    steps,
    completionConditions: completionOf(model),
    ...(rules.length === 0 ? {} : { escalationRules: rules }),
    successCriteria: `Done, as in the runs that it was learned from: ${stepText(model)}.`,
  }
}

function completionOf({ places }: Model): Json[] {
  const last = places.findLast(({ when }) => when === 'always')
  const some = firstOfGuarded(places)
  const total = Math.max(...places.map(({ count }) => count))
  const conditions: Json[] = []
  if (last !== undefined) {
    conditions.push({ text: `${last.stepKey} has completed`, when: completed(last.stepKey) })
  }
  // Of the steps that exclude each other every run has taken one.
  const covers = some.reduce((sum, { count }) => sum + count, 0) === total && some.length > 1
  if (covers) {
    const keys = some.map(({ stepKey }) => stepKey)
    conditions.push({
      text: `One of ${keys.join(', ')} has completed`,
      when: keys.map(completed).join(' || '),
    })
  }
  return conditions
}

/** Of steps that are taken together the first. */
function firstOfGuarded(places: Model['places']): Model['places'] {
  const kept = places.filter(({ when }) => when !== 'left_out')
  return kept.filter(
    ({ when }, at) => typeof when !== 'string' && !isSame(kept[at - 1]?.when, when),
  )
}

function completed(stepKey: string): string {
  return `steps.${stepKey}.status == 'completed'`
}

function guardsOf({ places, rules }: Model): readonly LearnedGuard[] {
  const ofRule = ({ column, test, failures }: LearnedRule): LearnedGuard => ({
    text: textOf(column, test),
    stepKey: null,
    runs: failures.length,
    why: failures.length > 0 ? 'failures' : 'never_seen',
  })
  const ofPlaces = firstOfGuarded(places).flatMap(
    ({ when, stepKey, count }): readonly LearnedGuard[] =>
      typeof when === 'string'
        ? []
        : [{ text: textOf(when.column, when.test), stepKey, runs: count, why: 'runs_differ' }],
  )
  return [...rules.map(ofRule), ...ofPlaces]
}

function namesOf(
  { places }: Model,
  accepts: (place: Model['places'][number]) => boolean,
): readonly string[] {
  return [...new Set(places.filter(accepts).map(({ tool }) => tool))]
}

function titleOf(pattern: string | undefined, model: Model): string {
  const words = (pattern ?? stepText(model)).slice(0, 100)
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

function keyOf(title: string, model: Model): string {
  const words = title
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^[^A-Z]+|_+$/g, '')
  const tools = model.places.map(({ tool }) => tool)
  const word =
    words.length > 1
      ? words.slice(0, 40).replace(/_+$/, '')
      : `LEARNED_${sha256(canonicalJson(tools)).slice(0, 8).toUpperCase()}`
  return `${word}_PLAYBOOK`
}
