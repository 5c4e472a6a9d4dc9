import type { Json, JsonObject, JsonSchema } from '../domain/json.ts'
import { type Contracts, memberSchema, type SeenAction } from './demonstration.ts'
import { type Source, valueAt } from './demonstration-arguments.ts'
import { type Fact, listedIn } from './demonstration-facts.ts'
import type { Column } from './fact-test.ts'

/** Actions of some runs at the places of a model, so that what they hold can be read. */
export type Placed = readonly (readonly (SeenAction | undefined)[])[]

export interface Parameter {
  readonly name: string
  readonly schema: JsonObject
  /** Where it is given: of the first of these that a run has, its value in that run is known. */
  readonly usages: readonly { readonly place: number; readonly path: readonly string[] }[]
}

/** What is known of some runs that are placed. */
export interface Reading {
  readonly tools: readonly string[]
  readonly stepKeys: readonly string[]
  readonly placed: Placed
  /** By place. */
  readonly outputs: readonly (readonly Source[])[]
  readonly contracts: Contracts
  readonly parameters: readonly Parameter[]
}

/** The value of a parameter in a run: what the first step that takes it was given. */
function parameterValue(
  { usages }: Parameter,
  actions: readonly (SeenAction | undefined)[] | undefined,
): Json | undefined {
  for (const { place, path } of usages) {
    const action = actions?.[place]
    const value = action && valueAt(action.input, path)
    if (value !== undefined) return value
  }
  return undefined
}

export function sourceOf({ placed }: Pick<Reading, 'placed'>, parameter: Parameter): Source {
  const values = placed.map((actions) => parameterValue(parameter, actions))
  return { reference: `input.${parameter.name}`, isParameter: true, values }
}

export function parameterSources(
  context: Pick<Reading, 'placed' | 'parameters'>,
): readonly Source[] {
  return context.parameters.map((parameter) => sourceOf(context, parameter))
}

/** What each place has answered, as far as summaries tell. */
export function outputSources(
  stepKeys: readonly string[],
  placed: Placed,
): readonly (readonly Source[])[] {
  return stepKeys.map((stepKey, place) => {
    const paths = new Set(placed.flatMap((actions) => [...(actions[place]?.facts.keys() ?? [])]))
    return [...paths].map((path) => ({
      reference: `steps.${stepKey}.output.${path}`,
      isParameter: false,
      values: placed.map((actions) => actions[place]?.facts.get(path)),
    }))
  })
}

/** All that conditions may ask about, in the order in which it comes to be known, with the place that it is known after. */
export function columnsOf(
  { stepKeys, tools, placed, outputs, contracts, parameters }: Reading,
  isAlways: readonly boolean[],
): readonly Column[] {
  const given = parameters.flatMap((parameter) => {
    const listed = listedIn(parameter.schema)
    const values = placed.map((actions) => asFact(parameterValue(parameter, actions)))
    // A name, an id or a text of the customer is nothing that a rule is made of.
    const isFit = listed.length > 0 || values.every((one) => typeof one !== 'string')
    const { name } = parameter
    const column = {
      reference: `input.${name}`,
      label: `the ${name} that is given`,
      values,
      listed,
      isOptional: false,
    }
    return isFit && parameter.schema.sensitive !== true ? [{ ...column, place: -1 }] : []
  })
  const answered = outputs.flatMap((sources, place) => {
    if (!isAlways[place]) return []
    const stepKey = stepKeys[place] ?? ''
    const schema = contracts.get(tools[place] ?? '')?.output
    return sources.map(({ reference, values }) => {
      const path = reference.slice(`steps.${stepKey}.output.`.length)
      const member = memberSchema(schema, path.split('.'))
      return {
        reference,
        label: `the ${path} of ${stepKey}`,
        values: values.map(asFact),
        listed: listedIn(member),
        isOptional: isAbsentable(schema, member, path),
        place,
      }
    })
  })
  return [...given, ...answered]
}

/** Whether a schema lets a member be absent or null, for all that it says. */
function isAbsentable(
  schema: JsonSchema | undefined,
  member: JsonSchema | undefined,
  path: string,
): boolean {
  const required = Array.isArray(schema?.required) ? schema.required : []
  const types = [member?.type].flat()
  const isNullable = !types.every((type) => typeof type === 'string' && type !== 'null')
  return isNullable || !required.includes(path)
}

function asFact(value: Json | undefined): Fact | undefined {
  return typeof value === 'object' || value === null ? undefined : value
}
