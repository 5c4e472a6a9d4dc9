import { canonicalJson } from '../domain/canonical.ts'
import { isJsonObject, type Json, type JsonSchema } from '../domain/json.ts'
import type { ToolContract } from '../domain/tool.ts'
import { type Fact, factsOf } from './demonstration-facts.ts'
import type { OutcomeType } from './experience.ts'

/** One thing that was done, as it is recorded in an experience. */
export interface DemonstratedAction {
  readonly tool: string
  readonly input: Json
  /** What came of it in a few words: `state: none, amount: 49.00 USD`, a JSON object, or prose. */
  readonly outputSummary: string
}

/** How something was done once: what a playbook is generalised from. */
export interface Demonstration {
  /** Of the experience that it was recorded as; null for one that was told. */
  readonly id: string | null
  readonly situation: string
  readonly actions: readonly DemonstratedAction[]
  readonly outcome: string
  readonly outcomeType: OutcomeType
  /** 0 to 1. */
  readonly score: number
}

/** The tools that may be used, by name: the allowlist. */
export type Contracts = ReadonlyMap<string, ToolContract>

/** An action, with what is known of its outcome. */
export interface SeenAction {
  readonly tool: string
  /** Which of the ways it is, of a tool that is used in two of them; 0 until they are told apart. */
  readonly way: number
  readonly input: Json
  readonly facts: ReadonlyMap<string, Fact>
}

export interface Run {
  readonly situation: string
  readonly outcome: string
  readonly isSuccess: boolean
  readonly actions: readonly SeenAction[]
}

/** A demonstration as a run to learn from: the same action again, with the same input, is one that was tried until it did. */
export function runOf(demonstration: Demonstration, isSuccess: boolean, contracts: Contracts): Run {
  const actions: SeenAction[] = []
  let last = ''
  for (const { tool, input, outputSummary } of demonstration.actions) {
    const action = canonicalJson([tool, input])
    if (action === last) actions.pop()
    last = action
    actions.push({
      tool,
      way: 0,
      input,
      facts: factsOf(outputSummary, contracts.get(tool)?.output),
    })
  }
  const { situation, outcome } = demonstration
  return { situation, outcome, isSuccess, actions }
}

/** The schema of a member, where a schema names it; undefined where none does. */
export function memberSchema(
  schema: JsonSchema | undefined,
  path: readonly string[],
): JsonSchema | undefined {
  let found: Json | undefined = schema
  for (const name of path) {
    const members: Json | undefined = isJsonObject(found) ? found.properties : undefined
    found = isJsonObject(members) && Object.hasOwn(members, name) ? members[name] : undefined
  }
  return isJsonObject(found) ? found : undefined
}
