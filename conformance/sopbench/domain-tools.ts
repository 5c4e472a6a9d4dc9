import { z } from 'zod'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import { defineTool, type Tool } from '../../src/index.ts'
import { groupBy } from '../group.ts'
import type { Stage } from '../stage.ts'
import { type Domain, inputsOf, type Leaf, type ToolText, type Tree } from './cases.ts'
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
  const state = shapeOf(
    cases.flatMap(({ initialDatabase, expected }) => [
      initialDatabase,
      ...(expected.finalDatabase === undefined ? [] : [expected.finalDatabase]),
    ]),
    maps,
  )
  return {
    inputs: shapesByName(cases.map(({ user }) => user)),
    outputs: new Map(
      Object.entries(tools.tools).map(([name, { reads, result }]) => [
        name,
        reads === 'everything'
          ? state
          : shapeOf(
              // Of what may be null it need not have been recorded.
              /\bnull\b/.test(result) ? [...answers(name), null] : answers(name),
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

/**
 * The tools of a domain, which all act on the stage: those of its description, and one that answers yes or no for each
 * rule that is not itself a tool or a session.
 */
export function domainTools(domain: Domain, learned: Learned, stage: Stage): readonly Tool[] {
  const { tools, session } = domain.tools
  const verdicts = new Map(
    leavesOf(domain)
      .filter(({ check }) => tools[check] === undefined && session[check] === undefined)
      .map((leaf) => [leaf.check, leaf]),
  )
  return [
    ...Object.entries(tools).map(([name, tool]) => {
      const given = inputsOf(tool).map((input) => {
        const type = zodOf(learned.inputs.get(input.name) ?? unknownShape)
        return [input.name, input.optional ? type.optional() : type] as const
      })
      return stageTool(stage, {
        name,
        description: `${name}: ${tool.result}. Refuses: ${tool.refuses}.`,
        effect: tool.kind === 'write' ? 'write' : 'read',
        input: Object.fromEntries(given),
        output: outputOf(name, tool, learned),
      })
    }),
    ...[...verdicts.values()].map(({ check, args }) =>
      stageTool(stage, {
        name: check,
        description: `${check}: whether the rule holds.`,
        effect: 'read',
        input: Object.fromEntries(
          Object.entries(args).map(([input, name]) => [
            input,
            zodOf(learned.inputs.get(name) ?? unknownShape),
          ]),
        ),
        output: z.boolean(),
      }),
    ),
  ]
}

function outputOf(name: string, { kind, reads }: ToolText, learned: Learned): z.ZodType {
  // The whole state is too large to be described field by field.
  if (reads === 'everything') return z.record(z.string(), z.unknown())
  return kind === 'read' ? zodOf(learned.outputs.get(name) ?? unknownShape) : z.unknown()
}

function stageTool(
  stage: Stage,
  declaration: {
    readonly name: string
    readonly description: string
    readonly effect: 'read' | 'write'
    readonly input: Record<string, z.ZodType>
    readonly output: z.ZodType
  },
): Tool {
  const { name, input, ...rest } = declaration
  return defineTool({
    ...rest,
    name,
    input: z.object(input),
    run: async (args) => stage.call(name, args as Record<string, Json>),
  })
}
