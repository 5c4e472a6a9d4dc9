import type { z } from 'zod'
import { type Compact, compact } from './definition-fields.ts'
import { isJsonObject, type JsonObject } from './json.ts'
import { schemaProblems } from './json-schema.ts'
import { nearestName } from './nearest-name.ts'
import { type Problem, pathText } from './problem.ts'
import { type Choice, type Step, type StepKind, stepKinds } from './step.ts'
import { choiceShape, stepShapes } from './step-fields.ts'
import { orList, valueText } from './value-text.ts'
import { expectation, unknownFieldText, zodProblems } from './zod-problems.ts'

type Path = readonly (string | number)[]

/** What is known while one definition is read: steps that have problems are left out of the result. */
export interface Reading {
  readonly problems: Problem[]
  /** Where each step key was first met. */
  readonly keyPaths: Map<string, string>
  stepCount: number
}

/** Reads a list of steps and all that is nested in them, gathering every problem. The list must not be empty. */
export function parseSteps(value: unknown, path: Path, reading: Reading): readonly Step[] {
  if (!Array.isArray(value) || value.length === 0) {
    refuse(reading, path, expectation(value, 'a list of at least one step'))
    return []
  }
  return value.flatMap((step: unknown, index) => {
    const parsed = parseStep(step, index + 1, [...path, index], reading)
    return parsed === undefined ? [] : [parsed]
  })
}

function parseStep(
  value: unknown,
  position: number,
  path: Path,
  reading: Reading,
): Step | undefined {
  if (!isJsonObject(value)) {
    refuse(
      reading,
      path,
      expectation(value, 'a step, which is an object with key, action and a kind'),
    )
    return undefined
  }
  reading.stepCount += 1
  noteKey(value, path, reading)
  checkSequence(value, position, path, reading)
  const kinds = stepKinds.filter((kind) => value[kind] !== undefined)
  const trees = parseTrees(value, kinds, path, reading)
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) {
    refuseKinds(value, kinds, path, reading)
    return undefined
  }
  checkFieldNames(value, kind, path, reading)
  checkModifiers(value, path, reading)
  switch (kind) {
    case 'tool':
      return readFields(stepShapes.tool, value, path, reading)
    case 'compute':
      return readFields(stepShapes.compute, value, path, reading)
    case 'call':
      return readFields(stepShapes.call, value, path, reading)
    case 'wait':
      return readFields(stepShapes.wait, value, path, reading)
    case 'end':
      return readFields(stepShapes.end, value, path, reading)
    case 'approval':
      return readFields(stepShapes.approval, value, path, reading)
    case 'ask':
      if (isJsonObject(value.answer))
        reading.problems.push(...schemaProblems(value.answer, [...path, 'answer']))
      return readFields(stepShapes.ask, value, path, reading)
    case 'require': {
      checkEndsRun(value.otherwise, path, reading)
      const fields = readFields(stepShapes.require, value, path, reading)
      const otherwise = otherwiseOf(value, trees, ['escalated', 'declined'], path, reading)
      return fields && compact({ ...fields, otherwise })
    }
    case 'choose': {
      const fields = readFields(stepShapes.choose, value, path, reading)
      const otherwise = otherwiseOf(value, trees, ['escalated', 'continue'], path, reading)
      return fields && compact({ ...fields, choose: trees.choices, otherwise })
    }
    case 'steps': {
      const fields = readFields(stepShapes.steps, value, path, reading)
      return fields && { ...fields, steps: trees.steps }
    }
    default:
      return kind satisfies never
  }
}

/** The parts of a step that hold steps. */
interface Trees {
  readonly steps: readonly Step[]
  readonly choices: readonly Choice[]
  readonly otherwise?: readonly Step[]
}

/** Reads what is nested, whatever else is wrong with the step, so that its problems are reported as well. */
function parseTrees(
  value: JsonObject,
  kinds: readonly StepKind[],
  path: Path,
  reading: Reading,
): Trees {
  const branches = kinds.includes('choose') || kinds.includes('require')
  return {
    choices: kinds.includes('choose')
      ? parseChoices(value.choose, [...path, 'choose'], reading)
      : [],
    steps: kinds.includes('steps') ? parseSteps(value.steps, [...path, 'steps'], reading) : [],
    ...(branches &&
      Array.isArray(value.otherwise) && {
        otherwise: parseSteps(value.otherwise, [...path, 'otherwise'], reading),
      }),
  }
}

function parseChoices(value: unknown, path: Path, reading: Reading): readonly Choice[] {
  if (!Array.isArray(value) || value.length === 0) {
    refuse(reading, path, expectation(value, 'a list of at least one { text, when, steps }'))
    return []
  }
  return value.flatMap((choice: unknown, index) => {
    const fields = readFields(choiceShape, choice, [...path, index], reading)
    const steps = isJsonObject(choice)
      ? parseSteps(choice.steps, [...path, index, 'steps'], reading)
      : []
    return fields === undefined ? [] : [{ ...fields, steps }]
  })
}

/** `otherwise` as one of the words (the first is the default) or as the steps that were read. */
function otherwiseOf<W extends string>(
  value: JsonObject,
  trees: Trees,
  words: readonly ['escalated', W],
  path: Path,
  reading: Reading,
): W | readonly Step[] | undefined {
  if (trees.otherwise !== undefined) return trees.otherwise
  const [standard, other] = words
  if (value.otherwise === undefined || value.otherwise === standard) return undefined
  if (value.otherwise === other) return other
  const expected = `${standard}, ${other} or a list of steps`
  refuse(reading, [...path, 'otherwise'], expectation(value.otherwise, expected))
  return undefined
}

/** A requirement that failed must end the run: its last step is an `end` that no `when` can skip. */
function checkEndsRun(otherwise: unknown, path: Path, reading: Reading): void {
  if (!Array.isArray(otherwise) || otherwise.length === 0) return
  const last: unknown = otherwise.at(-1)
  if (isJsonObject(last) && last.end !== undefined && last.when === undefined) return
  const message =
    'the steps for a requirement that failed must close with an end step that has no when, or the run would go on; add one'
  refuse(reading, [...path, 'otherwise', otherwise.length - 1], message)
}

function noteKey(value: JsonObject, path: Path, reading: Reading): void {
  if (typeof value.key !== 'string') return
  const place = pathText([...path, 'key'])
  const first = reading.keyPaths.get(value.key)
  if (first === undefined) reading.keyPaths.set(value.key, place)
  else
    refuse(
      reading,
      [...path, 'key'],
      `'${value.key}' is the key at ${first} as well; a key names one step, rename one`,
    )
}

function checkSequence(value: JsonObject, position: number, path: Path, reading: Reading): void {
  if (value.sequence === undefined || value.sequence === position) return
  const expected = `${position}, its place in the list; correct it or leave sequence out`
  refuse(reading, [...path, 'sequence'], expectation(value.sequence, expected))
}

function refuseKinds(
  value: JsonObject,
  kinds: readonly StepKind[],
  path: Path,
  reading: Reading,
): void {
  if (kinds.length > 1) {
    refuse(
      reading,
      path,
      `has the fields ${kinds.join(' and ')}, which are kinds of their own; a step has one, split it`,
    )
    return
  }
  const unknown = Object.keys(value).filter(
    (field) => !fieldKinds.has(field) && field !== 'sequence',
  )
  const meant = unknown.flatMap((field) => {
    const near = nearestName(field, stepKinds)
    return near === undefined ? [] : [`'${near}' instead of '${field}'`]
  })
  const hint = meant.length > 0 ? ` Did you mean ${orList(meant)}?` : ''
  const found = Object.keys(value).join(', ') || 'nothing'
  refuse(
    reading,
    path,
    `has no kind: expected one of the fields ${orList(stepKinds)}, found ${found}.${hint}`,
  )
  // The unknown field may be the misspelt kind: then it is one mistake and one problem.
  if (meant.length > 0) return
  for (const field of unknown)
    refuse(reading, [...path, field], unknownFieldText(field, fieldKinds.keys()))
}

/** Each field of a step, with the kinds that it is allowed on. */
const fieldKinds: ReadonlyMap<string, readonly StepKind[]> = new Map(
  stepKinds
    .flatMap((kind) => Object.keys(stepShapes[kind].shape))
    .map((field) => [field, stepKinds.filter((kind) => field in stepShapes[kind].shape)]),
)

function checkFieldNames(value: JsonObject, kind: StepKind, path: Path, reading: Reading): void {
  for (const field of Object.keys(value)) {
    const kinds = fieldKinds.get(field)
    if (field === 'sequence' || value[field] === undefined || kinds?.includes(kind)) continue
    const message =
      kinds === undefined
        ? unknownFieldText(field, absentFields(value, kind))
        : `is not allowed on a step of kind ${kind}, only on ${orList(kinds)}; remove it`
    refuse(reading, [...path, field], message)
  }
}

/** The fields that a step of this kind could still be given: what a misspelt one may have meant. */
function absentFields(value: JsonObject, kind: StepKind): readonly string[] {
  return Object.keys(stepShapes[kind].shape).filter((field) => value[field] === undefined)
}

/** Modifiers that say nothing without another field, or that a required step may not have. */
function checkModifiers(value: JsonObject, path: Path, reading: Reading): void {
  if (value.maxItems !== undefined && value.forEach === undefined)
    refuse(reading, [...path, 'maxItems'], 'bounds a forEach, and there is none; remove it')
  if (value.onDeadline !== undefined && value.deadline === undefined)
    refuse(
      reading,
      [...path, 'onDeadline'],
      'says what a deadline does, and there is none; add deadline',
    )
  for (const field of ['onError', 'onDeadline', 'onDenied']) {
    if (value[field] === 'continue' && value.required !== false) {
      const message = `found ${valueText('continue')} on a required step, which cannot be gone past; add required: false`
      refuse(reading, [...path, field], message)
    }
  }
}

function readFields<S extends z.ZodType<object>>(
  shape: S,
  value: unknown,
  path: Path,
  reading: Reading,
): Compact<z.output<S>> | undefined {
  const result = shape.safeParse(value)
  if (result.success) return compact(result.data)
  reading.problems.push(...zodProblems(result.error, value, path))
  return undefined
}

function refuse(reading: Reading, path: Path, message: string): void {
  reading.problems.push({ path: pathText(path), message })
}
