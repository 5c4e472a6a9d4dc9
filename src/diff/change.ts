import type { Json } from '../domain/json.ts'

/**
 * One thing in which the later of two versions differs from the earlier. The shape is for ever:
 * docs/decisions/0014-diff.md.
 */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed' | 'moved' | 'renamed'
  /** What it is part of: the definition outside its steps, a step, a scenario, or the pinned contract of a tool. */
  readonly of: 'definition' | 'step' | 'scenario' | 'tool'
  /** Which one: key or name in the later version, of what was removed in the earlier; null for the definition. */
  readonly name: string | null
  /** Where in it: `retry.maxAttempts`, `require[1].when`; empty for the whole of it. */
  readonly field: string
  /** Where it stands in the earlier version: `steps[2].retry`; null for what was added. */
  readonly beforePath: string | null
  /** Where it stands in the later version; null for what was removed. */
  readonly afterPath: string | null
  /** What was there; absent when something was added or only moved. A step or branch is without the steps in it. */
  readonly before?: Json
  /** What is there now; absent when something was removed, and for a step or branch that only moved. */
  readonly after?: Json
  /** Of a step or branch that was removed or moved. */
  readonly beforePlace?: Place
  /** Of a step or branch that was added or moved. */
  readonly afterPlace?: Place
  /** True when it says the same as before, with a step under its new key. */
  readonly follows?: true
}

/** Where in the tree of steps something stands. */
export interface Place {
  /** The key of the step around it; null at the top. */
  readonly step: string | null
  /** The text of the branch in that step, or `otherwise`; null in a block, of a branch, and at the top. */
  readonly branch: string | null
  /** From 1. */
  readonly position: number
}
