import type { Case, Domain } from '../../../conformance/sopbench/cases.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../src/domain/json.ts'
import { ToolRefused } from '../../../src/index.ts'

/** A rule told in words, with what customers supply for whom it holds, and for whom it does not. */
export interface InventedRule {
  readonly name: string
  readonly inputs: readonly string[]
  readonly via: readonly string[]
  readonly holdsWhen: string
  /** What differs from the domain's own customer; `$now` and `$change` differ in the state. */
  readonly holds: JsonObject
  readonly fails: JsonObject
}

/** A tool that reads a place of the state, such as `guests[username].points`. */
export interface InventedTool {
  readonly inputs: readonly string[]
  readonly reads: string
  readonly result: string
  /** What it answers where that is not the place itself. */
  readonly answer?: (state: JsonObject, args: JsonObject) => Json
}

export interface Invented {
  readonly name: string
  readonly state: string
  readonly database: JsonObject
  readonly policy: JsonObject
  readonly user: JsonObject
  readonly tools: Readonly<Record<string, InventedTool>>
  readonly rules: readonly InventedRule[]
}

export function reader(
  inputs: string,
  reads: string,
  result: string,
  answer?: InventedTool['answer'],
): InventedTool {
  return { inputs: wordsIn(inputs), reads, result, ...(answer !== undefined && { answer }) }
}

export function rule(
  name: string,
  inputs: string,
  via: string,
  holdsWhen: string,
  holds: JsonObject,
  fails: JsonObject,
): InventedRule {
  return { name, inputs: wordsIn(inputs), via: wordsIn(via), holdsWhen, holds, fails }
}

function wordsIn(text: string): readonly string[] {
  return text.split(', ').filter((word) => word !== '')
}

/** A customer of the domain and the state that they meet. */
export function situation(
  of: Invented,
  { $now, $change, ...differs }: JsonObject,
): { readonly user: JsonObject; readonly state: JsonObject } {
  const user = { ...of.user, ...differs }
  for (const [name, value] of Object.entries(differs)) if (value === null) delete user[name]
  const clock = Object.keys(of.database).find((name) => name.endsWith('_time')) ?? ''
  const state = changed(of.database, $change ?? {})
  return { user, state: $now === undefined ? state : { ...state, [clock]: $now } }
}

function changed(value: JsonObject, change: Json): JsonObject {
  const changes = Object.entries(isJsonObject(change) ? change : {}).map(([name, to]) => {
    const before = value[name]
    return [name, isJsonObject(to) && isJsonObject(before) ? changed(before, to) : to]
  })
  return { ...value, ...Object.fromEntries(changes) }
}

/** Calls a tool on a state. Throws `ToolRefused` where what it reads is not there. */
export function call(of: Invented, state: JsonObject, tool: string, args: JsonObject): Json {
  const found = of.tools[tool]
  if (found === undefined) throw new Error(`${of.name} has no tool ${tool}`)
  if (found.answer !== undefined) return found.answer(state, args)
  return found.reads === 'everything' ? state : at(state, found.reads, args)
}

/** The value at a path such as `guests[username].points`; names in brackets are arguments. */
function at(state: JsonObject, path: string, args: JsonObject): Json {
  let value: Json = state
  for (const [, name, argument] of path.matchAll(/(\w+)(?:\[(\w+)\])?/g)) {
    value = member(value, name ?? '')
    if (argument !== undefined) value = member(value, String(args[argument]))
  }
  return value
}

function member(of: Json, key: string): Json {
  const value = isJsonObject(of) ? of[key] : undefined
  if (value === undefined) throw new ToolRefused(`there is no ${key}`)
  return value
}

/** The domain as the suite reads it: a case for each customer, in which every tool was asked what it could be asked. */
export function domainOf(of: Invented): Domain {
  const situations = [{}, ...of.rules.flatMap(({ holds, fails }) => [holds, fails])]
  const checks = of.rules.map(({ name, inputs, via, holdsWhen }) => [
    name,
    { inputs: [...inputs], via: [...via], holdsWhen, reads: '' },
  ])
  const tools = Object.entries(of.tools).map(([name, { inputs, reads, result }]) => [
    name,
    { kind: 'read', inputs: [...inputs], reads, result, refuses: 'what is not there', writes: '-' },
  ])
  return {
    name: of.name,
    procedures: [],
    cases: situations.map((differs, index) => caseOf(of, `${of.name}/${index}`, differs)),
    tools: {
      state: of.state,
      session: {},
      tools: Object.fromEntries(tools),
      checks: Object.fromEntries(checks),
    },
  }
}

function caseOf(of: Invented, id: string, differs: JsonObject): Case {
  const { user, state } = situation(of, differs)
  return {
    id,
    goal: 'do_it',
    procedure: id,
    user,
    goalArgs: {},
    policy: of.policy,
    initialDatabase: state,
    checks: [],
    toolResults: Object.entries(of.tools).flatMap(([tool, { inputs, reads }]) => {
      const isAskable = inputs.every((name) => user[name] !== undefined) && reads !== 'everything'
      const args = Object.fromEntries(inputs.map((name) => [name, user[name] ?? null]))
      return isAskable ? [{ tool, args, ...recorded(() => call(of, state, tool, args)) }] : []
    }),
    expected: { outcome: 'success' },
  }
}

function recorded(ask: () => Json): { readonly ok: boolean; readonly value?: Json } {
  try {
    return { ok: true, value: ask() }
  } catch (error) {
    if (!(error instanceof ToolRefused)) throw error
    return { ok: false }
  }
}
