import type { z } from 'zod'
import { canonicalJson, canonicalValue, findValueProblems } from './canonical.ts'
import { compact } from './definition-fields.ts'
import { isJsonObject, type Json, setMember } from './json.ts'
import { type Problem, pathText } from './problem.ts'
import { type Observation, type Observations, placePattern, type Scenario } from './scenario.ts'
import { observationShapes, scenarioFileShape, scenarioShape } from './scenario-shape.ts'
import { orList } from './value-text.ts'
import { expectation, zodProblems } from './zod-problems.ts'

/** How much a version may carry. Bytes are of the canonical JSON of the whole list. */
export const scenarioLimits = { count: 200, bytes: 1024 * 1024 } as const

/** Problems beyond these are counted, not told. */
const maxProblems = 200

type Path = readonly (string | number)[]

export type ParsedScenarios =
  | { readonly scenarios: readonly Scenario[] }
  | { readonly problems: readonly Problem[] }

export type ParsedScenarioFile =
  | { readonly procedureKey: string; readonly scenarios: readonly Scenario[] }
  | { readonly problems: readonly Problem[] }

/**
 * Reads a list of scenarios, and brings each into normal form. All problems come back at once, each with its path below
 * `scenarios`. Whether the scenarios fit a playbook is not looked at.
 */
export function parseScenarios(value: unknown): ParsedScenarios {
  const flaws = findValueProblems(value ?? null)
  if (flaws.length > 0) return { problems: under(flaws) }
  const reading = new Reading()
  const scenarios = reading.scenarios(canonicalValue(value ?? null))
  return reading.problems.length > 0 ? { problems: firstOf(reading.problems) } : { scenarios }
}

/** Reads a scenario file: the key of a procedure, and its scenarios. */
export function parseScenarioFile(value: unknown): ParsedScenarioFile {
  if (!isJsonObject(value)) {
    const expected = 'a scenario file, which is an object with procedure and scenarios'
    const message = expectation(value, expected)
    return { problems: [{ path: '', message }] }
  }
  const file = scenarioFileShape.safeParse(value)
  const list = parseScenarios(value.scenarios)
  const problems = [
    ...(file.success ? [] : zodProblems(file.error, value)),
    // A list that is not there was told just now.
    ...('problems' in list && value.scenarios !== undefined ? list.problems : []),
  ]
  if (!file.success || 'problems' in list) return { problems: firstOf(problems) }
  return { procedureKey: file.data.procedure, scenarios: list.scenarios }
}

function under(problems: readonly Problem[]): readonly Problem[] {
  return problems.map(({ path, message }) => ({
    path: path === '' || path.startsWith('[') ? `scenarios${path}` : `scenarios.${path}`,
    message,
  }))
}

function firstOf(problems: readonly Problem[]): readonly Problem[] {
  const left = problems.length - maxProblems
  if (left <= 0) return problems
  return [...problems.slice(0, maxProblems), { path: '', message: `and ${left} more problems` }]
}

class Reading {
  readonly problems: Problem[] = []

  scenarios(value: Json): readonly Scenario[] {
    if (!Array.isArray(value)) {
      this.#refuse(['scenarios'], expectation(value, 'a list of scenarios'))
      return []
    }
    if (value.length > scenarioLimits.count) {
      const message = `there are ${value.length} scenarios, and the limit is ${scenarioLimits.count}`
      this.#refuse(['scenarios'], message)
      return []
    }
    const bytes = Buffer.byteLength(canonicalJson(value))
    if (bytes > scenarioLimits.bytes) {
      const message = `there are ${bytes} bytes of scenarios, and the limit is ${scenarioLimits.bytes}; make their results smaller`
      this.#refuse(['scenarios'], message)
      return []
    }
    const places = new Map<string, number>()
    return value.flatMap((item: Json, index) => {
      const path = ['scenarios', index]
      const name = isJsonObject(item) ? item.name : undefined
      const first = typeof name === 'string' ? places.get(name) : undefined
      if (first !== undefined) {
        const message = `'${String(name)}' is the name of scenarios[${first}] as well; give it one of its own`
        this.#refuse([...path, 'name'], message)
      } else if (typeof name === 'string') places.set(name, index)
      return this.#scenario(item, path)
    })
  }

  #scenario(value: Json, path: Path): readonly Scenario[] {
    if (!isJsonObject(value)) {
      this.#refuse(path, expectation(value, 'a scenario, which is an object with name and expect'))
      return []
    }
    const fields = scenarioShape.safeParse(value)
    if (!fields.success) this.problems.push(...zodProblems(fields.error, value, path))
    if (isJsonObject(value.expect) && isJsonObject(value.expect.sent)) {
      for (const place of Object.keys(value.expect.sent)) {
        this.#place(place, [...path, 'expect', 'sent', place])
      }
    }
    const steps = this.#observations(value.steps, [...path, 'steps'])
    const tools = this.#observations(value.tools, [...path, 'tools'])
    if (!fields.success) return []
    const { expect, ...rest } = fields.data
    return [compact({ ...rest, steps, tools, expect })]
  }

  #place(name: string, path: Path): void {
    if (placePattern.test(name)) return
    this.#refuse(path, `found '${name}', expected a key, in a round of a loop such as notify[0]`)
  }

  #observations(
    value: Json | undefined,
    path: Path,
  ): { readonly [place: string]: Observations } | undefined {
    if (value === undefined) return undefined
    if (!isJsonObject(value)) {
      this.#refuse(path, expectation(value, 'an object from keys to what comes from outside there'))
      return undefined
    }
    const result: Record<string, Observations> = {}
    for (const [name, given] of Object.entries(value)) {
      const at = [...path, name]
      this.#place(name, at)
      const read = Array.isArray(given)
        ? given.flatMap((one: Json, index) => this.#observation(one, [...at, index]) ?? [])
        : this.#observation(given, at)
      if (read !== undefined) setMember(result, name, read)
    }
    return Object.keys(result).length === 0 ? undefined : result
  }

  #observation(value: Json, path: Path): Observation | undefined {
    const kinds = ['output', 'fails', 'answer', 'says', 'outcome'] as const
    const expected = `an object with one of ${orList(kinds)}`
    if (!isJsonObject(value)) {
      this.#refuse(path, expectation(value, expected))
      return undefined
    }
    // Beside `outcome`, `output` is that of the called run.
    const marks = kinds.filter((kind) => value[kind] !== undefined)
    const marking = marks.includes('outcome') ? marks.filter((kind) => kind !== 'output') : marks
    const [kind] = marking
    if (kind === undefined || marking.length > 1) {
      const found = kind === undefined ? 'none' : marking.join(' and ')
      this.#refuse(path, `found ${found}, expected ${expected}`)
      return undefined
    }
    const shape: z.ZodType<Observation> = observationShapes[kind]
    const read = shape.safeParse(value)
    if (!read.success) {
      this.problems.push(...zodProblems(read.error, value, path))
      return undefined
    }
    return read.data
  }

  #refuse(path: Path, message: string): void {
    this.problems.push({ path: pathText(path), message })
  }
}
