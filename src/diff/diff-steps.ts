import type { JsonObject } from '../domain/json.ts'
import { Alignment, longestRise } from './alignment.ts'
import { alignItems, type Comparison, type Scope } from './compare-values.ts'
import type { StepTable } from './match-steps.ts'
import type { Renames } from './renames.ts'
import {
  type BranchEntry,
  branchFields,
  type StepEntry,
  type StepList,
  stepFields,
} from './step-table.ts'

/** Two tables of steps, and which of their steps are the same. */
interface Pairing {
  readonly before: StepTable
  readonly after: StepTable
  /** From each new key to the old one. */
  readonly oldKeys: ReadonlyMap<string, string>
  readonly renames: Renames
}

/** Tells in what the steps of two definitions differ, in the order of the later one; what was removed comes last. */
export function compareSteps(
  comparison: Comparison,
  before: StepTable,
  after: StepTable,
  renamed: ReadonlyMap<string, string>,
  renames: Renames,
): void {
  const oldKeys = new Map(Array.from(renamed, ([old, key]) => [key, old] as const))
  const pairing = { before, after, oldKeys, renames }
  const branches = alignBranches(pairing)
  const moved = movedSteps(pairing, branches)
  for (const step of after.values()) {
    const old = oldStepOf(pairing, step.key)
    if (old === undefined) addStep(comparison, step)
    else {
      compareStep(comparison, old, step, moved.has(step.key))
      compareBranches(comparison, old, step, branches.get(step.key))
    }
  }
  for (const step of before.values()) {
    if (renamed.has(step.key) || after.has(step.key)) continue
    comparison.add('removed', scopeOf(step, step), { before: step.own, beforePlace: step.place })
  }
}

function scopeOf(before: StepEntry, after: StepEntry): Scope {
  return { of: 'step', name: after.key, field: [], before: before.path, after: after.path }
}

function oldStepOf({ before, oldKeys }: Pairing, key: string): StepEntry | undefined {
  return before.get(oldKeys.get(key) ?? key)
}

function addStep(comparison: Comparison, step: StepEntry): void {
  comparison.add('added', scopeOf(step, step), { after: step.own, afterPlace: step.place })
  for (const [index, branch] of step.branches.entries()) addBranch(comparison, step, branch, index)
}

function compareStep(
  comparison: Comparison,
  before: StepEntry,
  after: StepEntry,
  isMoved: boolean,
): void {
  const scope = scopeOf(before, after)
  if (before.key !== after.key) {
    comparison.add('renamed', scope, { before: before.key, after: after.key })
  }
  if (isMoved) {
    comparison.add('moved', scope, { beforePlace: before.place, afterPlace: after.place })
  }
  comparison.compareMembers(withoutKey(before.own), withoutKey(after.own), scope, stepFields)
}

function withoutKey({ key: _key, ...rest }: JsonObject): JsonObject {
  return rest
}

/** By the key of each `choose` that is in both, which of its branches are the same. */
function alignBranches(pairing: Pairing): ReadonlyMap<string, Alignment> {
  const { after, renames } = pairing
  const found = new Map<string, Alignment>()
  for (const step of after.values()) {
    const old = oldStepOf(pairing, step.key)
    if (old === undefined) continue
    const alignment = alignItems(
      old.branches.map(({ own }) => own),
      step.branches.map(({ own }) => own),
      renames,
    )
    // Where text and condition are others, a branch is known by what it does first.
    alignment.pairBy(
      (index) => renames.follow(old.branches[index]?.keys[0] ?? ''),
      (index) => step.branches[index]?.keys[0],
    )
    found.set(step.key, alignment)
  }
  return found
}

function compareBranches(
  comparison: Comparison,
  before: StepEntry,
  after: StepEntry,
  alignment = new Alignment(0, after.branches.length),
): void {
  const moved = alignment.moved()
  for (const [index, branch] of after.branches.entries()) {
    const from = alignment.beforeOf(index)
    const old = before.branches[from ?? -1]
    if (from === undefined || old === undefined) {
      addBranch(comparison, after, branch, index)
      continue
    }
    const scope = branchScope(after, index, old, branch)
    if (moved.has(index)) {
      comparison.add('moved', scope, {
        beforePlace: branchPlace(before, from),
        afterPlace: branchPlace(after, index),
      })
    }
    comparison.compareMembers(old.own, branch.own, scope, branchFields)
  }
  for (const [index, branch] of before.branches.entries()) {
    if (alignment.afterOf(index) !== undefined) continue
    comparison.add('removed', branchScope(after, index, branch, branch), {
      before: branch.own,
      beforePlace: branchPlace(before, index),
    })
  }
}

function addBranch(
  comparison: Comparison,
  step: StepEntry,
  branch: BranchEntry,
  index: number,
): void {
  comparison.add('added', branchScope(step, index, branch, branch), {
    after: branch.own,
    afterPlace: branchPlace(step, index),
  })
}

function branchScope(
  step: StepEntry,
  index: number,
  before: BranchEntry,
  after: BranchEntry,
): Scope {
  return {
    of: 'step',
    name: step.key,
    field: ['choose', index],
    before: before.path,
    after: after.path,
  }
}

function branchPlace({ key }: StepEntry, index: number) {
  return { step: key, branch: null, position: index + 1 }
}

/** Keys of the steps that stand in another list than before, or in another order within theirs. */
function movedSteps(
  pairing: Pairing,
  branches: ReadonlyMap<string, Alignment>,
): ReadonlySet<string> {
  const moved = new Set<string>()
  const stayed = new Map<string, { key: string; index: number }[]>()
  for (const step of pairing.after.values()) {
    const old = oldStepOf(pairing, step.key)
    if (old === undefined) continue
    const list = listSign(step.list)
    if (laterSign(old.list, pairing, branches) !== list) moved.add(step.key)
    else {
      const others = stayed.get(list)
      const one = { key: step.key, index: old.index }
      if (others === undefined) stayed.set(list, [one])
      else others.push(one)
    }
  }
  for (const steps of stayed.values()) {
    const kept = new Set(longestRise(steps.map(({ index }) => index)))
    for (const [place, { key }] of steps.entries()) if (!kept.has(place)) moved.add(key)
  }
  return moved
}

function listSign({ parent, branch }: StepList): string {
  return `${parent ?? ''} ${branch}`
}

/** The sign of the list in the later definition that a list of the earlier one is; undefined when it is gone. */
function laterSign(
  { parent, branch }: StepList,
  { before, after, oldKeys }: Pairing,
  branches: ReadonlyMap<string, Alignment>,
): string | undefined {
  if (parent === null) return listSign({ parent, branch })
  const key = after.has(parent) && before.has(parent) ? parent : keyOfOld(oldKeys, parent)
  if (key === undefined) return undefined
  if (typeof branch !== 'number') return listSign({ parent: key, branch })
  const later = branches.get(key)?.afterOf(branch)
  return later === undefined ? undefined : listSign({ parent: key, branch: later })
}

function keyOfOld(oldKeys: ReadonlyMap<string, string>, old: string): string | undefined {
  for (const [key, was] of oldKeys) if (was === old) return key
  return undefined
}
