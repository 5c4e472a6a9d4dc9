import { canonicalJson } from '../domain/canonical.ts'
import { type Contracts, memberSchema, type Run } from './demonstration.ts'
import {
  isSensitiveAt,
  type Origin,
  originOf,
  pathsOf,
  type Source,
  valueAt,
} from './demonstration-arguments.ts'
import {
  type LearnedRule,
  type LearnedTest,
  rulesOfFailures,
  rulesOfTheUnseen,
  separatingTest,
} from './demonstration-guards.ts'
import { parameterSchema } from './demonstration-parameters.ts'
import {
  columnsOf,
  outputSources,
  type Parameter,
  type Placed,
  parameterSources,
  type Reading,
  sourceOf,
} from './demonstration-reading.ts'
import { alignRuns, placedIn, type Slot } from './demonstration-slots.ts'
import { type Column, holdsOf } from './fact-test.ts'

/** What was learned of how something is done. */
export interface Model {
  /** How tools that are used in two ways are told apart, before anything is placed; undefined where none is. */
  readonly split: Split | undefined
  readonly places: readonly Place[]
  readonly parameters: readonly Parameter[]
  readonly rules: readonly LearnedRule[]
}

/** A tool that is used in one way where a test holds, and in another where it does not. */
interface Split {
  /** The model by which runs are placed that are not told apart yet. */
  readonly base: Model
  readonly place: number
  readonly by: LearnedTest
}

/** One step that was found, with when it is taken. */
export interface Place extends Slot {
  readonly stepKey: string
  /** `always`; by a test of what is known by then; `asked` where nothing tells when; `left_out` where it need not be known. */
  readonly when: 'always' | 'asked' | 'left_out' | LearnedTest
  /** Of the successes, how many take it. */
  readonly count: number
  readonly arguments: readonly Argument[]
}

export interface Argument {
  readonly path: readonly string[]
  readonly origin: Origin
}

/** So often two ways of one tool are told apart. */
const maxSplits = 4
/** Of the ways to do so as many are tried. */
const maxTried = 8

/**
 * What runs have in common, and in what they differ. At least one of them is a success. A tool that every run uses, with
 * what only two different ways explain, becomes two steps.
 */
export function learn(runs: readonly Run[], contracts: Contracts): Model {
  let model = learnOnce(runs, contracts, undefined)
  for (let count = 0; count < maxSplits; count += 1) {
    const base = model
    const better = splitsOf(base)
      .map((split) => learnOnce(toldApart(runs, split, contracts), contracts, split))
      .find(({ parameters }) => parameters.length < base.parameters.length)
    if (better === undefined) break
    model = better
  }
  return model
}

/** A step that every run takes, with a value that nothing explains, by each test that other steps are taken by. */
function splitsOf(base: Model): readonly Split[] {
  const unexplained = new Set(
    base.parameters.flatMap(({ usages: [first, ...others] }) =>
      first === undefined || others.length > 0 ? [] : [first.place],
    ),
  )
  const tests = base.places.flatMap(({ when }) => (typeof when === 'string' ? [] : [when]))
  return base.places
    .flatMap(({ when }, place) =>
      when === 'always' && unexplained.has(place)
        ? tests.filter(({ column }) => column.place < place).map((by) => ({ base, place, by }))
        : [],
    )
    .slice(0, maxTried)
}

/** The runs, with the ways of their tools told apart. */
function toldApart(runs: readonly Run[], split: Split, contracts: Contracts): readonly Run[] {
  const before = withWays(runs, split.base, contracts)
  const placed = before.map((run) => placedIn(split.base.places, run))
  const { columns } = readingOf(split.base, placed, contracts)
  const values = columns.get(split.by.column.reference)?.values ?? []
  return before.map((run, at) => {
    const action = placed[at]?.[split.place]
    if (action === undefined || holdsOf(split.by.test, values[at])) return run
    const other = { ...action, way: 1 + Math.max(...split.base.places.map(({ way }) => way)) }
    return { ...run, actions: run.actions.map((one) => (one === action ? other : one)) }
  })
}

/** Runs as a model places them: with the ways of their tools told apart as it does. */
export function withWays(
  runs: readonly Run[],
  { split }: Model,
  contracts: Contracts,
): readonly Run[] {
  return split === undefined ? runs : toldApart(runs, split, contracts)
}

function learnOnce(runs: readonly Run[], contracts: Contracts, split: Split | undefined): Model {
  const successes = runs.flatMap(({ isSuccess }, run) => (isSuccess ? [run] : []))
  const failures = runs.flatMap(({ isSuccess }, run) => (isSuccess ? [] : [run]))
  const slots = alignRuns(runs.filter(({ isSuccess }) => isSuccess))
  const placed = runs.map((run) => placedIn(slots, run))
  const tools = slots.map(({ tool }) => tool)
  const stepKeys = keysOf(tools)
  const taken = tools.map((_, place) => successes.filter((run) => placed[run]?.[place]))
  const isAlways = taken.map((some) => some.length === successes.length)
  const parameters: Parameter[] = []
  const outputs = outputSources(stepKeys, placed)
  const givenIn = placed.map(countGiven)
  const context = { runs, tools, stepKeys, placed, outputs, givenIn, contracts, parameters }

  const argumentsAt = tools.map((_, place): readonly Argument[] =>
    isAlways[place] ? explain(context, place, (earlier) => isAlways[earlier] === true) : [],
  )
  const columns = columnsOf(context, isAlways)
  const whens = tools.map((tool, place) => {
    if (isAlways[place]) return 'always'
    const known = columns.filter((column) => column.place < place)
    const undone = successes.filter((run) => !placed[run]?.[place])
    const test = separatingTest(known, taken[place] ?? [], undone)
    if (test !== undefined) return test
    return contracts.get(tool)?.effect === 'read' ? 'left_out' : 'asked'
  })
  for (const [place, when] of whens.entries()) {
    if (typeof when === 'string') continue
    argumentsAt[place] = explain(
      context,
      place,
      (earlier) => isAlways[earlier] === true || isTogether(whens, earlier, place),
    )
  }
  for (const [place, when] of whens.entries()) {
    if (when === 'asked')
      argumentsAt[place] = explain(context, place, (one) => isAlways[one] === true)
  }
  const writes = tools.flatMap((tool, place) =>
    contracts.get(tool)?.effect === 'write' ? [place] : [],
  )
  const learned = rulesOfFailures(columns, successes, failures)
  const before = columns.filter(
    (column) =>
      column.place < (writes[0] ?? -1) &&
      !learned.some((rule) => rule.column.reference === column.reference) &&
      !whens.some((one) => typeof one !== 'string' && one.column.reference === column.reference),
  )
  return {
    split,
    places: slots.map(({ tool, way }, place) => ({
      tool,
      way,
      stepKey: stepKeys[place] ?? tool,
      when: whens[place] ?? 'always',
      count: taken[place]?.length ?? 0,
      arguments: argumentsAt[place] ?? [],
    })),
    parameters,
    rules: [...learned, ...rulesOfTheUnseen(before, successes)],
  }
}

/** Whether two places are taken under one test, with nothing between that is not. */
export function isTogether(
  whens: readonly Place['when'][],
  earlier: number,
  later: number,
): boolean {
  const test = whens[earlier]
  if (test === undefined || typeof test === 'string') return false
  return whens.slice(earlier, later + 1).every((when) => when === 'left_out' || isSame(when, test))
}

export function isSame(left: Place['when'] | undefined, right: Place['when']): boolean {
  if (left === undefined || typeof left === 'string' || typeof right === 'string') return false
  const [a, b] = [left, right].map(({ column, test }) => JSON.stringify([column.reference, test]))
  return a === b
}

interface Context extends Reading {
  readonly runs: readonly Run[]
  /** By run, in how many places each value is given. */
  readonly givenIn: readonly ReadonlyMap<string, number>[]
  /** Grows as arguments are explained. */
  readonly parameters: Parameter[]
}

function explain(
  context: Context,
  place: number,
  isVisible: (earlier: number) => boolean,
): readonly Argument[] {
  const { runs, tools, placed, outputs, givenIn, contracts, parameters } = context
  const tool = tools[place] ?? ''
  const schema = contracts.get(tool)?.input
  const situations = runs.map(({ situation }) => situation)
  // What failures were given explains nothing: only successes are to be done again.
  const inputs = placed.map((actions, run) =>
    runs[run]?.isSuccess ? actions[place]?.input : undefined,
  )
  const given = inputs.filter((input) => input !== undefined)
  const earlier = outputs
    .slice(0, place)
    .filter((_, at) => isVisible(at))
    .flat()
  return pathsOf(given).map((path) => {
    const values = inputs.map((input) => (input === undefined ? undefined : valueAt(input, path)))
    const sources = [...parameterSources(context), ...earlier]
    const isSensitive = isSensitiveAt(schema, path)
    const recurs = values.some(
      (value, run) => value !== undefined && (givenIn[run]?.get(canonicalJson(value)) ?? 0) > 1,
    )
    const origin = originOf({ values, isSensitive, recurs }, sources, situations)
    if (origin !== undefined) {
      noteUsage(parameters, origin, { place, path })
      return { path, origin }
    }
    const known = values.filter((value) => value !== undefined)
    const parameter = {
      name: parameterName(parameters, path.at(-1) ?? tool),
      schema: parameterSchema(memberSchema(schema, path), known),
      usages: [{ place, path }],
    }
    parameters.push(parameter)
    const source = sourceOf(context, parameter)
    return { path, origin: { kind: 'source', source } }
  })
}

function noteUsage(
  parameters: Parameter[],
  origin: Origin,
  usage: Parameter['usages'][number],
): void {
  if (origin.kind !== 'source' || !origin.source.isParameter) return
  const at = parameters.findIndex(({ name }) => origin.source.reference === `input.${name}`)
  const parameter = parameters[at]
  if (parameter) parameters[at] = { ...parameter, usages: [...parameter.usages, usage] }
}

/** What steps can read and conditions can ask about in other runs than those that were learned from, by reference. */
export function readingOf(
  { places, parameters }: Model,
  placed: Placed,
  contracts: Contracts,
): {
  readonly sources: ReadonlyMap<string, Source>
  readonly columns: ReadonlyMap<string, Column>
} {
  const stepKeys = places.map(({ stepKey }) => stepKey)
  const tools = places.map(({ tool }) => tool)
  const outputs = outputSources(stepKeys, placed)
  const context = { tools, stepKeys, placed, outputs, contracts, parameters }
  const sources = [...parameterSources(context), ...outputs.flat()]
  const isAlways = places.map(({ when }) => when === 'always')
  return {
    sources: new Map(sources.map((source) => [source.reference, source])),
    columns: new Map(columnsOf(context, isAlways).map((column) => [column.reference, column])),
  }
}

/** In how many places a run is given each value. */
function countGiven(actions: Placed[number]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const action of actions) {
    if (action === undefined) continue
    const values = pathsOf([action.input]).map((path) => valueAt(action.input, path) ?? null)
    for (const text of new Set(values.map(canonicalJson))) {
      counts.set(text, (counts.get(text) ?? 0) + 1)
    }
  }
  return counts
}

/** Tools as keys of steps: the second of one name is `name_2`. */
function keysOf(tools: readonly string[]): readonly string[] {
  const keys = new Set<string>()
  for (const tool of tools) {
    const word = tool
      .toLowerCase()
      .replaceAll(/[^a-z0-9_]+/g, '_')
      .replace(/^[^a-z]+/, '')
    keys.add(freeName(keys, word.slice(0, 50) || 'step', '_'))
  }
  return [...keys]
}

function parameterName(parameters: readonly Parameter[], wanted: string): string {
  const word = wanted.replaceAll(/[^A-Za-z0-9_]+/g, '_').replace(/^[^A-Za-z]+/, '')
  return freeName(new Set(parameters.map(({ name }) => name)), word.slice(0, 50) || 'value', '')
}

function freeName(taken: ReadonlySet<string>, wanted: string, between: string): string {
  let name = wanted
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}${between}${count}`
  return name
}
