import { pathOf } from '../domain/expression/reads.ts'
import type { Node } from '../domain/expression/syntax.ts'
import type { Expression } from '../domain/expression.ts'
import { isJsonObject } from '../domain/json.ts'
import { schemasOfMember } from '../domain/scalars.ts'
import type { Step } from '../domain/step.ts'
import type { DefinitionCheck } from './check.ts'
import type { Path } from './findings.ts'
import { partsOf } from './liveness.ts'
import { type InnerList, innerLists } from './step-table.ts'

/** A condition on the way to a step. */
interface Guard {
  readonly path: Path
  /** Absent for a yes of a person, which is a guard as well. */
  readonly expression: Expression | undefined
  /** Whether no way leads past it. */
  readonly isSure: boolean
}

/** Checks what stands before each write: whether something does, and whether the customer's text could satisfy it. */
export function checkGuards(check: DefinitionCheck): void {
  const { preconditions = [], escalationRules = [], steps } = check.definition
  const before = [
    ...preconditions.flatMap(({ when }, index) =>
      guardOf(check, when, ['preconditions', index, 'when'], true),
    ),
    ...escalationRules.flatMap(({ when }, index) =>
      guardOf(check, when, ['escalationRules', index, 'when'], false),
    ),
  ]
  visitList(check, { steps, path: ['steps'] }, before)
}

/** Gives the guards that stand before what follows the list. */
function visitList(
  check: DefinitionCheck,
  { steps, path }: InnerList,
  before: readonly Guard[],
): readonly Guard[] {
  let guards = before
  for (const [index, step] of steps.entries()) {
    guards = visitStep(check, step, [...path, index], guards)
  }
  return guards
}

function visitStep(
  check: DefinitionCheck,
  step: Step,
  path: Path,
  before: readonly Guard[],
): readonly Guard[] {
  const own = guardOf(check, step.when, [...path, 'when'], true)
  const inside = [...before, ...own]
  const isSure = step.when === undefined
  const passed = (...guards: readonly Guard[]): readonly Guard[] => [
    ...before,
    ...guards.map((guard) => (isSure ? guard : { ...guard, isSure: false })),
  ]
  if ('tool' in step) {
    const contract = check.findContract(step.tool)
    if (contract?.effect === 'write')
      checkWrite(check, step.tool, !contract.idempotent, path, inside)
    return passed(...guardOf(check, step.expect, [...path, 'expect'], step.onError !== 'continue'))
  }
  if ('require' in step) {
    const conditions = step.require.flatMap(({ when }, index) =>
      guardOf(check, when, [...path, 'require', index, 'when'], true),
    )
    for (const list of innerLists(step, path)) visitList(check, list, [...inside, ...conditions])
    return passed(...conditions)
  }
  if ('choose' in step) return visitChoose(check, step, path, before, inside, isSure)
  if ('steps' in step) {
    const [list] = innerLists(step, path)
    if (list === undefined) return before
    const within = visitList(check, list, inside).slice(inside.length)
    // A loop may have no round at all.
    return passed(...('forEach' in step ? [] : within))
  }
  if ('approval' in step && step.onDenied !== 'continue' && step.onDeadline !== 'continue') {
    return passed({ path, expression: undefined, isSure: true })
  }
  // What follows a guarded end runs only where the guard did not hold.
  return 'end' in step ? [...before, ...own] : before
}

function visitChoose(
  check: DefinitionCheck,
  step: Extract<Step, { readonly choose: unknown }>,
  path: Path,
  before: readonly Guard[],
  inside: readonly Guard[],
  isSure: boolean,
): readonly Guard[] {
  const conditions = step.choose.map(({ when }, index) =>
    guardOf(check, when, [...path, 'choose', index, 'when'], true),
  )
  for (const [index, { steps }] of step.choose.entries()) {
    const list = { steps, path: [...path, 'choose', index, 'steps'] }
    visitList(check, list, [...inside, ...conditions.slice(0, index + 1).flat()])
  }
  if (typeof step.otherwise === 'object') {
    const list = { steps: step.otherwise, path: [...path, 'otherwise'] }
    visitList(check, list, [...inside, ...conditions.flat()])
  }
  // A choice in which some way ends the run is a guard of what follows.
  const lists = [...step.choose.map(({ steps }) => steps), ...innerOtherwise(step)]
  const mayEnd =
    step.otherwise === undefined || lists.some((steps) => steps.some((one) => 'end' in one))
  if (!mayEnd) return before
  return [...before, ...conditions.flat().map((guard) => ({ ...guard, isSure }))]
}

function innerOtherwise(step: Extract<Step, { readonly choose: unknown }>): (readonly Step[])[] {
  return typeof step.otherwise === 'object' ? [step.otherwise] : []
}

function guardOf(
  check: DefinitionCheck,
  source: string | undefined,
  path: Path,
  isSure: boolean,
): readonly Guard[] {
  const expression = source === undefined ? undefined : check.parsed(source, path)
  return expression === undefined ? [] : [{ path, expression, isSure }]
}

function checkWrite(
  check: DefinitionCheck,
  tool: string,
  needsGuard: boolean,
  path: Path,
  guards: readonly Guard[],
): void {
  const looks = ({ expression, isSure }: Guard): boolean =>
    isSure && (expression === undefined || expression.reads.steps.size > 0)
  if (needsGuard && !guards.some(looks)) {
    const message = `'${tool}' is not idempotent, and nothing before it looks whether this was done already; guard it with what a tool that reads has found, or with an approval`
    check.add('unguarded-write', [...path, 'tool'], message)
  }
  for (const { path: at, expression } of guards) {
    if (expression === undefined) continue
    for (const source of textSources(check, expression.node)) {
      const message = `this guards the write '${tool}' and reads ${source}, which the customer's text could supply; mark the property 'source: caller', or ask a tool instead`
      check.add('text-sourced-guard', at, message, { line: 1, column: 1 })
      break
    }
  }
}

/** What of a condition a text could have supplied: values that are compared, not whether they are there. */
function textSources(
  check: DefinitionCheck,
  node: Node,
  seen: ReadonlySet<string> = new Set(),
): readonly string[] {
  if (node.kind === 'has' || isNullQuestion(node)) return []
  const path = pathOf(node)
  if (path === undefined) return partsOf(node).flatMap((part) => textSources(check, part, seen))
  const [root, name, member, value] = path
  if (root === 'ticket' && (name === undefined || name === 'text')) return ['ticket.text']
  if (root === 'input') {
    if (name === undefined) return ['input']
    return isOfText(check, `${name}`) ? [`input.${name}`] : []
  }
  if (root !== 'steps' || member !== 'output' || seen.has(`${name}`)) return []
  const entry = check.table.get(`${name}`)
  if (entry === undefined || !('compute' in entry.step)) return []
  return Object.entries(entry.step.compute).flatMap(([computed, source]) => {
    if (value !== undefined && value !== computed) return []
    const expression = check.parsed(source, [...entry.path, 'compute', computed])
    if (expression === undefined) return []
    return textSources(check, expression.node, new Set([...seen, `${name}`]))
  })
}

function isNullQuestion(node: Node): boolean {
  if (node.kind !== 'binary') return false
  return [node.left, node.right].some((side) => side.kind === 'literal' && side.value === null)
}

/** Only properties that the schema names are looked for in a text, and only values that can stand there. */
function isOfText({ definition: { input = {} } }: DefinitionCheck, name: string): boolean {
  const { properties } = input
  if (!isJsonObject(properties) || !Object.hasOwn(properties, name)) return false
  const property = properties[name]
  if (isJsonObject(property) && ['object', 'array', 'boolean'].includes(`${property.type}`))
    return false
  return !schemasOfMember(input, name).some(({ source }) => source === 'caller')
}
