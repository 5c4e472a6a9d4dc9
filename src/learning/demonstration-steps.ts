import { type Json, type JsonObject, setMember } from '../domain/json.ts'
import type { Contracts } from './demonstration.ts'
import { templateOf } from './demonstration-arguments.ts'
import { type Argument, isSame, isTogether, type Model, type Place } from './demonstration-model.ts'
import { type Column, expressionOf, type FactTest, textOf, wordsOf } from './fact-test.ts'

/** The steps of a model as a definition has them, with the rules that stand before them and the figures that both read. */
export function stepsOf(
  { places, rules }: Model,
  contracts: Contracts,
): {
  readonly steps: readonly Json[]
  readonly rules: readonly Json[]
  readonly policy: JsonObject
} {
  const policy: Record<string, number> = {}
  const escalationRules = rules.map(({ column, test }) => ({
    text: textOf(column, test),
    when: conditionOf(column, test, policy),
  }))
  const steps: Json[] = []
  const kept = places.filter(({ when }) => when !== 'left_out')
  const whens = kept.map(({ when }) => when)
  for (let at = 0; at < kept.length; at += 1) {
    const place = kept[at]
    if (place === undefined) break
    const step = stepOf(place, contracts)
    if (place.when === 'always') steps.push(step)
    else if (place.when === 'asked') steps.push(...askedSteps(place, step, contracts))
    else if (typeof place.when === 'object') {
      let last = at
      while (isSame(kept[last + 1]?.when, place.when) && isTogether(whens, at, last + 1)) last += 1
      const together = kept.slice(at, last + 1).map((one) => stepOf(one, contracts))
      const { column, test } = place.when
      const when = conditionOf(column, test, policy)
      const block = {
        key: `when_${place.stepKey}`,
        action: `Done when ${wordsOf(column, test)}`,
        when,
        steps: together,
      }
      steps.push(together.length === 1 ? { ...step, when } : block)
      at = last
    }
  }
  return { steps, rules: escalationRules, policy }
}

/** What is done, in words: `check_transaction, check_refund, issue_refund`. */
export function stepText({ places }: Model): string {
  return places
    .filter(({ when }) => when !== 'left_out')
    .map(({ stepKey }) => stepKey)
    .join(', ')
}

function stepOf({ stepKey, tool, arguments: given }: Place, contracts: Contracts): JsonObject {
  const contract = contracts.get(tool)
  const input = inputOf(given)
  if (contract !== undefined) {
    const action = contract.description.trim().replace(/\.$/, '') || tool
    const withInput = Object.keys(input).length === 0 ? {} : { with: input }
    return { key: stepKey, action: action.slice(0, 2_000), tool, ...withInput }
  }
  const told = given.map(({ path, origin }) => `${path.join('.')}: ${textFor(templateOf(origin))}`)
  const message = [`Do this by hand, as no tool does it: ${plain(tool)}.`, ...told].join('\n')
  const answer = {
    type: 'object',
    required: ['done'],
    properties: { done: { type: 'string', description: 'What was done, and what came of it' } },
  }
  return {
    key: stepKey,
    action: `Do by hand: ${plain(tool)}`,
    ask: 'agent',
    message,
    answer,
    deadline: '1d',
  }
}

/** A person says whether, where nothing that is known tells. */
function askedSteps(place: Place, step: JsonObject, contracts: Contracts): readonly Json[] {
  const { stepKey, tool } = place
  const description = contracts.get(tool)?.description ?? tool
  const decide = `decide_${stepKey}`.slice(0, 64)
  const ask = {
    key: decide,
    action: `Decide whether to go on with ${stepKey}`,
    ask: 'agent',
    message: `Is this to be done here: ${plain(description)} Some runs did it and some did not, and nothing that is known tells when.`,
    answer: {
      type: 'object',
      required: ['goAhead'],
      properties: { goAhead: { type: 'boolean', description: 'Whether to do it' } },
    },
    deadline: '1d',
  }
  return [ask, { ...step, when: `steps.${decide}.output.goAhead` }]
}

/** A figure stands among the named constants, so that a change of it is one line. */
export function conditionOf(
  column: Column,
  test: FactTest,
  policy: Record<string, number>,
): string {
  if ('values' in test) return expressionOf(column, test, '')
  const [word = 'value'] = column.reference.split('.').slice(-1)
  const isMost = test.kind === 'above' || test.kind === 'atMost'
  const wanted = `${isMost ? 'most' : 'least'}${word.slice(0, 1).toUpperCase()}${word.slice(1)}`
  let name = wanted
  for (let count = 2; (policy[name] ?? test.limit) !== test.limit; count += 1)
    name = `${wanted}${count}`
  policy[name] = test.limit
  return expressionOf(column, test, `policy.${name}`)
}

function inputOf(given: readonly Argument[]): JsonObject {
  const input: Record<string, Json> = {}
  for (const { path, origin } of given) setAt(input, path, templateOf(origin))
  return input
}

function setAt(target: Record<string, Json>, path: readonly string[], value: Json): void {
  const [name = '', ...rest] = path
  const inner: Record<string, Json> = Object.hasOwn(target, name) ? Object(target[name]) : {}
  setMember(target, name, rest.length === 0 ? value : inner)
  if (rest.length > 0) setAt(inner, rest, value)
}

function textFor(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Words that cannot be taken for a template. */
function plain(text: string): string {
  return text.replaceAll('{{', '{ {').slice(0, 1_000)
}
