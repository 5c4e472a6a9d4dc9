import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts'
import { type StepKind, stepKinds } from '../domain/step.ts'
import { stepShapes } from '../domain/step-fields.ts'
import type { Place } from './change.ts'
import { isList, memberOf, ordered } from './compare-values.ts'

/** The fields of steps as they are written, each once. */
export const stepFields: readonly string[] = [
  ...new Set(stepKinds.flatMap((kind: StepKind) => Object.keys(stepShapes[kind].shape))),
]
export const branchFields: readonly string[] = ['text', 'when']

type Path = readonly (string | number)[]

/** A branch of a `choose`, without its steps. */
export interface BranchEntry {
  readonly own: JsonObject
  readonly path: Path
  /** Keys of the steps that stand in it directly. */
  readonly keys: readonly string[]
}

/** A step of a definition, without the steps in it. */
export interface StepEntry {
  readonly key: string
  readonly own: JsonObject
  readonly path: Path
  readonly place: Place
  /** The list that it stands in. */
  readonly list: StepList
  readonly index: number
  readonly branches: readonly BranchEntry[]
  /** Keys of the steps that stand in it directly. */
  readonly keys: readonly string[]
}

/** A list of steps: that of the definition, of a block, an `otherwise`, or of a branch by its index. */
export interface StepList {
  /** The key of the step around it; null at the top. */
  readonly parent: string | null
  readonly branch: 'steps' | 'otherwise' | number
}

/** All steps of a definition by their keys, in the order of the document: a step before those in it. */
export function stepTable(definition: JsonObject): ReadonlyMap<string, StepEntry> {
  const table = new Map<string, StepEntry>()
  addSteps(table, memberOf(definition, 'steps'), ['steps'], { parent: null, branch: 'steps' }, null)
  return table
}

function addSteps(
  table: Map<string, StepEntry>,
  steps: Json | undefined,
  path: Path,
  list: StepList,
  branchText: string | null,
): void {
  for (const [index, step] of objectsIn(steps).entries()) {
    const key = keyOf(step)
    const here = [...path, index]
    const { own, branches, nested } = partsOf(step, here)
    const place = { step: list.parent, branch: branchText, position: index + 1 }
    const keys = nested.flatMap((one) => objectsIn(one.steps).map(keyOf))
    table.set(key, { key, own, path: here, place, list, index, branches, keys })
    for (const one of nested) {
      addSteps(table, one.steps, one.path, { parent: key, branch: one.branch }, one.text)
    }
  }
}

interface NestedList {
  readonly steps: Json | undefined
  readonly path: Path
  readonly branch: StepList['branch']
  readonly text: string | null
}

/** A step apart: its own fields, its branches, and the lists of steps in it. */
function partsOf(
  step: JsonObject,
  path: Path,
): {
  readonly own: JsonObject
  readonly branches: readonly BranchEntry[]
  readonly nested: readonly NestedList[]
} {
  const { steps, choose, otherwise, ...rest } = step
  const choices = objectsIn(choose)
  const branches = choices.map(({ steps: inBranch, ...fields }, index) => ({
    own: ordered(fields, branchFields),
    path: [...path, 'choose', index],
    keys: objectsIn(inBranch).map(keyOf),
  }))
  const nested: NestedList[] = choices.map((choice, index) => ({
    steps: choice.steps,
    path: [...path, 'choose', index, 'steps'],
    branch: index,
    text: typeof choice.text === 'string' ? choice.text : '',
  }))
  if (isList(steps)) nested.push({ steps, path: [...path, 'steps'], branch: 'steps', text: null })
  if (isList(otherwise)) {
    nested.push({
      steps: otherwise,
      path: [...path, 'otherwise'],
      branch: 'otherwise',
      text: 'otherwise',
    })
  }
  // As a word (`declined`, `continue`) it is a field like any other.
  const own = otherwise === undefined || isList(otherwise) ? rest : { ...rest, otherwise }
  return { own: ordered(own, stepFields), branches, nested }
}

function objectsIn(list: Json | undefined): readonly JsonObject[] {
  return isList(list) ? list.filter(isJsonObject) : []
}

function keyOf({ key }: JsonObject): string {
  return typeof key === 'string' ? key : ''
}
