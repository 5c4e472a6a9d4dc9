import { canonicalJson, canonicalValue } from '../domain/canonical.ts'
import type { Definition } from '../domain/definition.ts'
import { isJsonObject, type JsonObject } from '../domain/json.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { ToolContract } from '../domain/tool.ts'
import { Alignment } from './alignment.ts'
import type { Change } from './change.ts'
import { Comparison, ordered, type Scope } from './compare-values.ts'
import { compareSteps } from './diff-steps.ts'
import { findRenames } from './match-steps.ts'
import { noRenames, Renames } from './renames.ts'
import { stepTable } from './step-table.ts'

/** What of a version is compared. */
export interface Comparable {
  readonly definition: Definition
  readonly scenarios: readonly Scenario[]
  /** The contracts that it pins, by the names of the tools; undefined where none are known. */
  readonly contracts?: ReadonlyMap<string, ToolContract> | undefined
}

/** The fields of a definition as they are written; its steps have an order of their own. */
const fieldOrder: readonly string[] = Object.keys({
  key: true,
  name: true,
  description: true,
  category: true,
  issuePatterns: true,
  examples: true,
  internal: true,
  input: true,
  policy: true,
  preconditions: true,
  steps: true,
  completionConditions: true,
  escalationRules: true,
  escalateTo: true,
  successCriteria: true,
  timeLimit: true,
  due: true,
  output: true,
  replies: true,
  metadata: true,
} satisfies Record<keyof Definition, true>)

/**
 * In what one version differs from another, by meaning: first the definition outside its steps, then its steps in the
 * later order, then scenarios, then contracts of tools. Nothing is told of the order of keys, of `sequence` and of fields
 * that equal their default: the definitions differ in something exactly when their hashes do.
 */
export function diffVersions(before: Comparable, after: Comparable): readonly Change[] {
  const { changes, renames } = compareDefinitions(before.definition, after.definition)
  return [
    ...changes,
    ...compareScenarios(before.scenarios, after.scenarios, renames),
    ...compareContracts(before.contracts, after.contracts),
  ]
}

/** The part of a diff that is about definitions alone. */
export function diffDefinitions(before: Definition, after: Definition): readonly Change[] {
  return compareDefinitions(before, after).changes
}

function compareDefinitions(
  before: Definition,
  after: Definition,
): { readonly changes: readonly Change[]; readonly renames: Renames } {
  const [was, is] = [objectOf(before), objectOf(after)]
  const [oldSteps, newSteps] = [stepTable(was), stepTable(is)]
  const renamed = findRenames(oldSteps, newSteps)
  const renames = new Renames(renamed)
  const comparison = new Comparison(renames)
  const scope: Scope = { of: 'definition', name: null, field: [], before: [], after: [] }
  comparison.compareMembers(withoutSteps(was), withoutSteps(is), scope, fieldOrder)
  compareSteps(comparison, oldSteps, newSteps, renamed, renames)
  return { changes: comparison.changes, renames }
}

function withoutSteps({ steps: _steps, ...rest }: JsonObject): JsonObject {
  return rest
}

/** The fields of a scenario as they are written. */
const scenarioFields: readonly string[] = Object.keys({
  name: true,
  text: true,
  input: true,
  ticket: true,
  context: true,
  customerId: true,
  requester: true,
  onBehalfOf: true,
  startedAt: true,
  mode: true,
  steps: true,
  tools: true,
  expect: true,
} satisfies Record<keyof Scenario, true>)

/** Scenarios are known by their names, and one with a new name by all else. */
function compareScenarios(
  before: readonly Scenario[],
  after: readonly Scenario[],
  renames: Renames,
): readonly Change[] {
  const [was, is] = [before.map(partsOf), after.map(partsOf)]
  const comparison = new Comparison(renames)
  const alignment = new Alignment(was.length, is.length)
  alignment.pairBy(
    (index) => was[index]?.name,
    (index) => is[index]?.name,
  )
  alignment.pairBy(
    (index) => canonicalJson(was[index]?.rest ?? null),
    (index) => canonicalJson(is[index]?.rest ?? null),
  )
  const moved = alignment.moved()
  for (const [index, { name, rest }] of is.entries()) {
    const from = alignment.beforeOf(index)
    const old = was[from ?? -1]
    const scope = scenarioScope(name, index, from)
    if (old === undefined) {
      comparison.add('added', scope, { after: { name, ...ordered(rest, scenarioFields) } })
      continue
    }
    if (old.name !== name) comparison.add('renamed', scope, { before: old.name, after: name })
    if (moved.has(index)) comparison.add('moved', scope, {})
    comparison.compareMembers(old.rest, rest, scope, scenarioFields)
  }
  for (const [index, { name, rest }] of was.entries()) {
    if (alignment.afterOf(index) !== undefined) continue
    comparison.add('removed', scenarioScope(name, index), { before: { name, ...rest } })
  }
  return comparison.changes
}

function partsOf(scenario: Scenario): { readonly name: string; readonly rest: JsonObject } {
  const { name: _name, ...rest } = objectOf(scenario)
  return { name: scenario.name, rest }
}

function scenarioScope(name: string, after: number, before = after): Scope {
  const path = (index: number) => ['scenarios', index]
  return { of: 'scenario', name, field: [], before: path(before), after: path(after) }
}

/** Contracts that only one of the two pins are told of as added or removed, others field by field. */
function compareContracts(
  before: Comparable['contracts'],
  after: Comparable['contracts'],
): readonly Change[] {
  if (before === undefined || after === undefined) return []
  const comparison = new Comparison(noRenames)
  for (const name of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const path = ['tools', name]
    const scope: Scope = { of: 'tool', name, field: [], before: path, after: path }
    const [was, is] = [before.get(name), after.get(name)]
    if (was === undefined && is !== undefined)
      comparison.add('added', scope, { after: objectOf(is) })
    else if (was !== undefined && is === undefined) {
      comparison.add('removed', scope, { before: objectOf(was) })
    } else if (was !== undefined && is !== undefined) {
      comparison.compareMembers(objectOf(was), objectOf(is), scope)
    }
  }
  return comparison.changes
}

/** The canonical form of a part of a version, which is an object of JSON. */
function objectOf(part: Definition | Scenario | ToolContract): JsonObject {
  const value = canonicalValue(part)
  return isJsonObject(value) ? value : {}
}
