import type { LinkPath } from '../domain/expression/reads.ts'
import type { Node } from '../domain/expression/syntax.ts'
import type { Expression } from '../domain/expression.ts'
import type { ChooseStep } from '../domain/step.ts'
import { atEnd, type DefinitionCheck } from './check.ts'
import type { Path } from './findings.ts'
import { partsOf } from './liveness.ts'
import { fullPathOf, pathKey, stepOf } from './node-key.ts'
import { isExclusion, isNothing, otherToken } from './tokens.ts'
import { statusBits, statusOf, type World, withStatus, withTokens } from './worlds.ts'

/** The record tells choices apart by their text. */
export function checkChoices(check: DefinitionCheck, step: ChooseStep, path: Path): void {
  const seen = new Set<string>()
  for (const [index, { text }] of step.choose.entries()) {
    if (seen.has(text)) {
      const message = `'${text}' names two choices; the record tells them apart by their text, rename one`
      check.add('choice-repeated', [...path, 'choose', index, 'text'], message)
    }
    seen.add(text)
  }
}

/**
 * Where choices ask for the values of a list that a schema names, finds those that no choice can be taken for: with
 * them the run escalates, which nobody may have meant.
 */
export function checkMissingChoice(
  check: DefinitionCheck,
  step: ChooseStep,
  path: Path,
  worlds: readonly World[],
): void {
  const choices = step.choose.map(({ when }, index) =>
    check.parsed(when, [...path, 'choose', index, 'when']),
  )
  const asked = new Map<string, LinkPath>()
  for (const choice of choices) if (choice !== undefined) collectCompared(choice.node, asked)
  for (const [key, asking] of asked) {
    const possible = [
      ...new Set(worlds.flatMap((w) => w.values.get(key) ?? check.domain(asking, atEnd))),
    ]
    if (possible.includes(otherToken) || check.isExhausted) continue
    const left = possible.filter((token) => {
      if (isNothing(token) || isExclusion(token)) return false
      const open = worlds.flatMap((world) => {
        const tokens = world.values.get(key) ?? check.domain(asking, atEnd)
        return tokens.includes(token) ? [withTokens(world, key, [token])] : []
      })
      return !isTaken(check, choices, open)
    })
    if (left.length === 0) continue
    const values = left.map((token) => token.replaceAll('"', "'"))
    addMissing(check, path, key, values)
  }
  checkMissingStatus(check, choices, path, worlds)
}

/** The same for the statuses of steps that choices ask for: what may have become of a step. */
function checkMissingStatus(
  check: DefinitionCheck,
  choices: readonly (Expression | undefined)[],
  path: Path,
  worlds: readonly World[],
): void {
  const asked = choices.flatMap((choice) =>
    (choice?.reads.paths ?? []).flatMap(({ path: [root, key, member] }) =>
      root === 'steps' && member === 'status' ? [`${key}`] : [],
    ),
  )
  for (const key of new Set(asked)) {
    const place = check.table.get(key)?.place
    if (place === undefined) continue
    const left = Object.entries(statusBits).filter(([, bit]) => {
      const open = worlds.flatMap((world) =>
        (statusOf(world, place) & bit) === 0 ? [] : [withStatus(world, place, bit)],
      )
      return open.length > 0 && !isTaken(check, choices, open)
    })
    if (left.length === 0) continue
    const values = left.map(([status]) => `'${status}'`)
    addMissing(check, path, `steps.${key}.status`, values)
  }
}

/** Whether some choice may be taken in one of these worlds. */
function isTaken(
  check: DefinitionCheck,
  choices: readonly (Expression | undefined)[],
  worlds: readonly World[],
): boolean {
  let open = worlds
  return choices.some((choice) => {
    if (choice === undefined) return true
    const { yes, no } = check.split(choice, open)
    open = no
    return yes.length > 0
  })
}

function addMissing(
  check: DefinitionCheck,
  path: Path,
  what: string,
  values: readonly string[],
): void {
  const message = `no choice is taken when ${what} is ${values.join(', ')}, and the run escalates; add a choice, or say with 'otherwise' what follows`
  check.add('choice-missing', [...path, 'choose'], message)
}

/** The paths that a condition compares with values that are written out. */
function collectCompared(node: Node, asked: Map<string, LinkPath>): void {
  if (node.kind === 'binary' && ['==', '!=', 'in'].includes(node.operator)) {
    for (const side of [node.left, node.right]) {
      const path = fullPathOf(side, undefined)
      if (path === undefined || stepOf(path)?.member === 'status') continue
      if (node.left.kind === 'literal' || node.right.kind === 'literal' || node.operator === 'in') {
        asked.set(pathKey(path), path)
      }
    }
  }
  for (const part of partsOf(node)) collectCompared(part, asked)
}
