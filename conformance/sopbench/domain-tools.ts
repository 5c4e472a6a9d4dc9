import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../../src/domain/json.ts'
import { defineTool, isServiceError, type Tool } from '../../src/index.ts'
import { groupBy } from '../group.ts'
import type { Stage } from '../stage.ts'
import { type Domain, inputsOf, type Leaf, type ToolText, type Tree } from './cases.ts'
import { plainName } from './names.ts'
import { type Shape, shapeOf, unknownShape, zodOf } from './shape.ts'

/** What the values of a domain look like, learned from all its cases. */
export interface Learned {
  /** Of what customers supply, by name. */
  readonly inputs: ReadonlyMap<string, Shape>
  /** Of what tools answer, by tool. */
  readonly outputs: ReadonlyMap<string, Shape>
  readonly state: Shape
  /** Of the constants, by name. */
  readonly policy: ReadonlyMap<string, Shape>
  /** What the keys of a map are, by its name: `product id` of `cart: map product id -> …`. */
  readonly mapKeys: ReadonlyMap<string, string>
}

export function learn({ cases, tools }: Domain): Learned {
  const maps = new Set(mapKeysOf(tools.state).keys())
  const answers = (tool: string): readonly Json[] =>
    cases.flatMap(({ goal, toolResults, expected }) => {
      const recorded = toolResults.filter((call) => call.tool === tool).map(({ value }) => value)
      return [...recorded, goal === tool ? (expected.result ?? undefined) : undefined].filter(
        (value) => value !== undefined,
      )
    })
  const states = cases.flatMap(({ initialDatabase, expected }) => [
    initialDatabase,
    ...(expected.finalDatabase === undefined ? [] : [expected.finalDatabase]),
  ])
  const state = shapeOf(states, maps)
  return {
    inputs: shapesByName(cases.map(({ user }) => user)),
    outputs: new Map(
      Object.entries(tools.tools).map(([name, { reads, result }]) => [
        name,
        reads === 'everything'
          ? state
          : shapeOf(
              // Of what may be null it need not have been recorded.
              /\bnull\b/.test(result)
                ? [...withStored(answers(name), states, reads), null]
                : withStored(answers(name), states, reads),
              maps,
              /\bmap\b/.test(result),
            ),
      ]),
    ),
    state,
    policy: shapesByName(cases.map(({ policy }) => policy)),
    mapKeys: mapKeysOf(tools.state),
  }
}

/**
 * The answers of a tool that were recorded; with what the states hold at the place that it reads, where those are records
 * of the same fields, or where none was recorded: one answer tells little of what may be absent.
 */
function withStored(
  answers: readonly Json[],
  states: readonly JsonObject[],
  reads: string,
): readonly Json[] {
  const stored = storedAt(states, reads)
  const names = new Set(answers.filter(isJsonObject).flatMap((answer) => Object.keys(answer)))
  const isAlike =
    answers.every(isJsonObject) &&
    stored.every((value) => isJsonObject(value) && Object.keys(value).some((key) => names.has(key)))
  return answers.length === 0 || isAlike ? [...answers, ...stored] : answers
}

/** All that stands at a path such as `accounts[username].balance`, under whatever keys. */
function storedAt(states: readonly JsonObject[], path: string): readonly Json[] {
  if (!/^\w+(\[\w+\])*(\.\w+(\[\w+\])*)*$/.test(path)) return []
  return [...path.matchAll(/(\w+)(?=$|[.[])|\[\w+\]/g)].reduce<readonly Json[]>(
    (values, [, name]) =>
      values.filter(isJsonObject).flatMap((value) => {
        if (name === undefined) return Object.values(value)
        const found = value[name]
        return found === undefined ? [] : [found]
      }),
    states,
  )
}

function shapesByName(objects: readonly JsonObject[]): ReadonlyMap<string, Shape> {
  const groups = groupBy(
    objects.flatMap((object) => Object.entries(object)),
    ([name]) => name,
  )
  return new Map([...groups].map(([name, seen]) => [name, shapeOf(seen.map(([, value]) => value))]))
}

/** The fields that the text about the state calls maps: `accounts: map username -> {…}`. */
function mapKeysOf(state: string): ReadonlyMap<string, string> {
  const found = state.matchAll(/(\w+): (?:null or )?map ([\w ]+?) ->/g)
  return new Map([...found].map(([, name, key]) => [name ?? '', key ?? '']))
}

/** Every rule that some procedure of the domain names. */
function leavesOf(domain: Domain): readonly Leaf[] {
  const leaves = (tree: Tree): readonly Leaf[] => ('op' in tree ? tree.of.flatMap(leaves) : [tree])
  return domain.procedures.flatMap(({ constraints }) =>
    constraints === null ? [] : leaves(constraints),
  )
}

/** The tools that could be registered, and why others could not, by name. */
export interface Registered {
  readonly tools: readonly Tool[]
  readonly flaws: ReadonlyMap<string, string>
}

/**
 * The tools of a domain, which all act on the stage: those of its description, one that answers yes or no for each rule
 * that is not itself a tool or a session, and the goals that nothing describes.
 */
export function domainTools(domain: Domain, learned: Learned, stage: Stage): Registered {
  const { tools, session } = domain.tools
  const verdicts = groupBy(
    leavesOf(domain).filter(
      ({ check }) => tools[check] === undefined && session[check] === undefined,
    ),
    ({ check }) => check,
  )
  const goals = groupBy(
    domain.cases.filter(({ goal }) => tools[goal] === undefined),
    ({ goal }) => goal,
  )
  const inputOf = (name: string) => zodOf(learned.inputs.get(name) ?? unknownShape)
  const declared = [
    ...Object.entries(tools).map(([name, tool]) => ({
      name,
      description: `${name}: ${tool.result}. Refuses: ${tool.refuses}.`,
      effect: tool.kind === 'write' ? ('write' as const) : ('read' as const),
      input: Object.fromEntries(
        inputsOf(tool).map((input) => {
          const type = inputOf(input.name)
          return [input.name, input.optional ? type.optional() : type]
        }),
      ),
      output: outputOf(name, tool, learned),
    })),
    ...[...verdicts].map(([check, leaves]) => ({
      name: check,
      description: `${check}: whether the rule holds.`,
      effect: 'read' as const,
      input: optionalInputs(
        leaves.map(({ args }) => args),
        (args, input) => inputOf(args[input] ?? ''),
      ),
      output: z.boolean(),
    })),
    ...[...goals].map(([goal, cases]) => ({
      name: goal,
      description: `${goal}: what the customer asks for.`,
      effect: 'write' as const,
      input: optionalInputs(
        cases.map(({ goalArgs }) => goalArgs),
        (_, input) => inputOf(input),
      ),
      output: z.unknown(),
    })),
  ]
  const made = declared.map((declaration) => madeTool(stage, declaration))
  return {
    tools: made.flatMap(({ tool }) => tool ?? []),
    flaws: new Map(made.flatMap(({ name, flaw }) => (flaw === undefined ? [] : [[name, flaw]]))),
  }
}

/** The inputs of all calls; one that some are made without may be left out. */
function optionalInputs<T extends object>(
  calls: readonly T[],
  typeOf: (call: T, input: string) => z.ZodType,
): Record<string, z.ZodType> {
  const types = calls.flatMap((call) =>
    Object.keys(call).map((input) => [input, typeOf(call, input)] as const),
  )
  return Object.fromEntries(
    types.map(([input, type]) => {
      const isAlways = calls.every((call) => Object.hasOwn(call, input))
      return [input, isAlways ? type : type.optional()]
    }),
  )
}

function outputOf(name: string, { kind, reads }: ToolText, learned: Learned): z.ZodType {
  // The whole state is too large to be described field by field.
  if (reads === 'everything') return z.record(z.string(), z.unknown())
  return kind === 'read' ? zodOf(learned.outputs.get(name) ?? unknownShape) : z.unknown()
}

interface Declaration {
  readonly name: string
  readonly description: string
  readonly effect: 'read' | 'write'
  readonly input: Record<string, z.ZodType>
  readonly output: z.ZodType
}

/** A tool whose declaration is refused costs only the cases that call it. */
function madeTool(
  stage: Stage,
  { name, input, ...rest }: Declaration,
): { readonly name: string; readonly tool?: Tool; readonly flaw?: string } {
  try {
    const tool = defineTool({
      ...rest,
      name: plainName(name),
      input: z.object(input),
      run: async (args) => stage.call(name, args as Record<string, Json>),
    })
    return { name, tool }
  } catch (error) {
    if (!isServiceError(error)) throw error
    return { name, flaw: `${error.message} ${JSON.stringify(error.details)}` }
  }
}
