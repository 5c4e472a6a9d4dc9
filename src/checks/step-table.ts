import type { Step } from '../domain/step.ts'
import type { Path } from './findings.ts'

/** A step, and where it stands in the tree of its definition. */
export interface StepEntry {
  readonly step: Step
  /** In the order of the document, from 0: a step comes before what is nested in it. */
  readonly place: number
  /** The place of the last step nested in it; its own without any. */
  readonly last: number
  readonly path: Path
  readonly parent: StepEntry | undefined
}

/** A list of steps that stands in a step, and where. */
export interface InnerList {
  readonly steps: readonly Step[]
  readonly path: Path
}

/** All steps of a definition by key, in the order of the document. */
export type StepTable = ReadonlyMap<string, StepEntry>

export function buildStepTable(steps: readonly Step[]): StepTable {
  const table = new Map<string, StepEntry>()
  const add = (list: InnerList, parent: StepEntry | undefined): void => {
    for (const [index, step] of list.steps.entries()) {
      const path = [...list.path, index]
      const entry = { step, place: table.size, last: table.size, path, parent }
      table.set(step.key, entry)
      for (const inner of innerLists(step, path)) add(inner, entry)
      entry.last = table.size - 1
    }
  }
  add({ steps, path: ['steps'] }, undefined)
  return table
}

/** The lists of steps that stand directly in a step, in the order of the document. */
export function innerLists(step: Step, path: Path): readonly InnerList[] {
  const lists: InnerList[] = []
  if ('choose' in step) {
    for (const [index, { steps }] of step.choose.entries()) {
      lists.push({ steps, path: [...path, 'choose', index, 'steps'] })
    }
  } else if ('steps' in step) lists.push({ steps: step.steps, path: [...path, 'steps'] })
  if ('otherwise' in step && typeof step.otherwise === 'object') {
    lists.push({ steps: step.otherwise, path: [...path, 'otherwise'] })
  }
  return lists
}

/** The steps with a `forEach` around a step, innermost first. */
export function loopsAround(entry: StepEntry): readonly StepEntry[] {
  const loops: StepEntry[] = []
  for (let at = entry.parent; at !== undefined; at = at.parent) {
    if ('forEach' in at.step) loops.push(at)
  }
  return loops
}

/** Whether a step stands somewhere inside another one. */
export function isInside(entry: StepEntry, around: StepEntry): boolean {
  return entry.place > around.place && entry.place <= around.last
}
