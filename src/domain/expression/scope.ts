import type { Json } from '../json.ts'
import type { Calendar } from './time.ts'
import { findLink, Instant, type Value } from './value.ts'

/**
 * What an expression or a template may read, and nothing else. All of it is canonical JSON, so that the same scope gives
 * the same result live and on load.
 */
export interface Scope {
  readonly input: Json
  readonly ticket: Json
  readonly policy: Json
  /** Every step key of the definition, from the start: `{ status, attempts, output?, error?, items? }`. */
  readonly steps: { readonly [key: string]: Json }
  /** `{ id, startedAt }` */
  readonly execution: Json
  /** Epoch milliseconds: the recorded start of the step. */
  readonly now: number
  /** Inside a `forEach`. */
  readonly item?: Json
  /** Inside a `forEach`, from 0. */
  readonly index?: number
  /** In `expect` and `until`: this step's own output. */
  readonly output?: Json
  /** For working days; default Monday to Friday without holidays. */
  readonly calendar?: Calendar
}

/** The first word of every path. */
export const roots = [
  'input',
  'ticket',
  'policy',
  'steps',
  'execution',
  'now',
  'item',
  'index',
  'output',
] as const

export type Root = (typeof roots)[number]

/** Where a value is read: a root, then keys and list indexes. */
export type Path = readonly [Root, ...(string | number)[]]

export function isRoot(word: string): word is Root {
  return roots.some((root) => root === word)
}

/** The value of a root; `undefined` when it stands outside the place that has it. */
export function findRoot(scope: Scope, root: Root): Value | undefined {
  return root === 'now' ? new Instant(scope.now) : scope[root]
}

/** Follows a path; `undefined` when a link is absent. */
export function findValue(scope: Scope, path: Path): Value | undefined {
  let value = findRoot(scope, path[0])
  for (let link = 1; link < path.length && value !== undefined; link += 1) {
    value = findLink(value, path[link] ?? '')
  }
  return value
}

/** Why a root may be missing, for messages. */
export const absentRoot: { readonly [root: string]: string } = {
  item: 'item stands only inside a forEach',
  index: 'index stands only inside a forEach',
  output: 'output stands only in expect and until',
}
