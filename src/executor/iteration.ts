import type { StepRow } from '../domain/execution.ts'
import { loopDepth, type PlanNode } from './plan-nodes.ts'

/**
 * Which round of which loops: `''` outside loops, else a number from 0 for each loop around, the outermost first: `4`,
 * `4.0`.
 */
export type Iteration = string

/** How many loops an iteration lies in. */
export function depthOf(iteration: Iteration): number {
  return iteration === '' ? 0 : iteration.split('.').length
}

export function roundOf(iteration: Iteration, round: number): Iteration {
  return iteration === '' ? String(round) : `${iteration}.${round}`
}

/** The iteration of the loop that an iteration is a round of. */
export function outerOf(iteration: Iteration): Iteration {
  return iteration.slice(0, Math.max(0, iteration.lastIndexOf('.')))
}

/** The number of the round in the loop at a depth. */
export function roundAt(iteration: Iteration, depth: number): number {
  return Number(iteration.split('.')[depth])
}

/** How many of its own loops a row of a step lies in: 0 for the step as those around it see it. */
export function ownDepth(node: PlanNode, { iteration }: Pick<StepRow, 'iteration'>): number {
  return depthOf(iteration) - node.depth
}

/** Whether a row stands for a loop, and not for a round or a single run of its step. */
export function isLoopRow(node: PlanNode, row: Pick<StepRow, 'iteration'>): boolean {
  return ownDepth(node, row) < loopDepth(node)
}

/** Whether the loop that a row stands for goes through a list; otherwise it goes on until a condition holds. */
export function isEachRow(node: PlanNode, row: Pick<StepRow, 'iteration'>): boolean {
  return node.loops.each !== undefined && ownDepth(node, row) === 0
}
