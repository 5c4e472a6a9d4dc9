import type { Json } from '../../../src/domain/json.ts'
import { ToolRefused } from '../../../src/index.ts'

/** A JSON value that tools change in place. */
export type Value = string | number | boolean | null | Value[] | State
export interface State {
  [key: string]: Value
}

/** One tool on the state of a case. Throws `ToolRefused`. */
export type LiveTool = (state: State, args: State) => Value

export const done: State = { done: true }

export function refuse(why: string): never {
  throw new ToolRefused(why)
}

/** A member that is a record. Throws `ToolRefused` when it is not there. */
export function record(of: Value | undefined, ...path: string[]): State {
  const found = at(of, path)
  return isRecord(found) ? found : refuse(`there is no ${path.join('.')}`)
}

export function list(of: Value | undefined, ...path: string[]): Value[] {
  const found = at(of, path)
  return Array.isArray(found) ? found : refuse(`there is no list ${path.join('.')}`)
}

export function number(of: Value | undefined, ...path: string[]): number {
  const found = at(of, path)
  return typeof found === 'number' ? found : refuse(`there is no number ${path.join('.')}`)
}

export function text(of: Value | undefined, ...path: string[]): string {
  const found = at(of, path)
  return typeof found === 'string' ? found : refuse(`there is no text ${path.join('.')}`)
}

export function value(of: Value | undefined, ...path: string[]): Value {
  return at(of, path) ?? null
}

function at(of: Value | undefined, path: readonly string[]): Value | undefined {
  return path.reduce<Value | undefined>((sofar, name) => {
    return isRecord(sofar) && Object.hasOwn(sofar, name) ? sofar[name] : undefined
  }, of)
}

export function isRecord(found: Value | undefined): found is State {
  return typeof found === 'object' && found !== null && !Array.isArray(found)
}

export function has(of: Value | undefined, key: Value | undefined): boolean {
  return isRecord(of) && typeof key === 'string' && Object.hasOwn(of, key)
}

export function add(of: State, name: string, by: number): void {
  of[name] = number(of, name) + by
}

/** A state of one's own, to change. */
export function stateOf(initial: Json): State {
  return record(structuredClone(initial) as Value)
}

/** Logs in by a field that must be what was stored, objects by content. */
export function login(field: string, accounts: string): LiveTool {
  return (state, args) => {
    const stored = value(record(state, accounts, text(args, 'username')), field)
    const isKnown = canonical(stored) === canonical(args[field] ?? null)
    return isKnown ? done : refuse(`${field} is not what was stored`)
  }
}

function canonical(found: Value): string {
  if (!isRecord(found)) return JSON.stringify(found)
  return JSON.stringify(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** `2024-10-10`, moved by days. */
export function movedDate(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}
