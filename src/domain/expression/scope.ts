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

/** A scope that answers one step without putting all of `steps` together; the language reads them by their keys only. */
export interface StepwiseScope extends Scope {
  /** One of `steps`; undefined for a key that the definition has not. */
  findStep(key: string): Json | undefined
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
  const [root, key] = path
  const isOneStep = root === 'steps' && typeof key === 'string' && isStepwise(scope)
  let value = isOneStep ? scope.findStep(key) : findRoot(scope, root)
  for (let link = isOneStep ? 2 : 1; link < path.length && value !== undefined; link += 1) {
    value = findLink(value, path[link] ?? '')
  }
  return value
}

function isStepwise(scope: Scope): scope is StepwiseScope {
  return 'findStep' in scope
}

/** Why a root may be missing, for messages. */
export const absentRoot: { readonly [root: string]: string } = {
  item: 'item stands only inside a forEach',
  index: 'index stands only inside a forEach',
  output: 'output stands only in expect and until',
}
