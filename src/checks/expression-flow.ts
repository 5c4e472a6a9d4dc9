import { type LinkPath, proofsOf } from '../domain/expression/reads.ts'
import type { MacroNode, Node } from '../domain/expression/syntax.ts'
import { partsOf } from './liveness.ts'
import { factOf, fullPathOf, pathKey, stepOf } from './node-key.ts'
import {
  excluded,
  falseToken,
  isNothing,
  otherToken,
  type Tokens,
  tokenOf,
  trueToken,
  truthTokens,
} from './tokens.ts'
import { statusBits, statusOf, type World, withStatus, withTokens } from './worlds.ts'

/** The work of a test in one world, beside the copies that it makes. */
const testCost = 8

/** The worlds in which a condition holds, and those in which it does not; a world may be in both. */
export interface Split {
  readonly yes: readonly World[]
  readonly no: readonly World[]
}

/** What an expression needs to know of the definition around it. */
export interface FlowGround {
  /** The place of a step; undefined for a key that does not exist. */
  readonly placeOf: (stepKey: string) => number | undefined
  readonly domainOf: (path: LinkPath) => Tokens
  /** Whether a value or condition is worth to be known to a world that knows so many already. */
  readonly isKept: (key: string, known: number) => boolean
  /** Bounds the number of worlds. */
  readonly trim: (worlds: readonly World[]) => readonly World[]
  /** Told of the work that is done: worlds that were looked at. */
  readonly spend: (count: number) => void
  /** Told of every output that is read, with the worlds in which that happens. */
  readonly onRead?: (node: Node, path: LinkPath, worlds: readonly World[]) => void
  /** Told of every `firstOf`, likewise. */
  readonly onFirstOf?: (node: Node & { kind: 'firstOf' }, worlds: readonly World[]) => void
  /** The step whose `output` is in scope. */
  readonly own?: string
}

/**
 * Evaluates a condition in all worlds at once, part by part, as a run would: the right side of `&&` only where the left
 * one held. Each part is looked at once, so the work is linear in the expression.
 */
export function testNode(node: Node, worlds: readonly World[], ground: FlowGround): Split {
  switch (node.kind) {
    case 'literal':
      return { yes: node.value === false ? [] : worlds, no: node.value === true ? [] : worlds }
    case 'not': {
      const { yes, no } = testNode(node.of, worlds, ground)
      return { yes: no, no: yes }
    }
    case 'and': {
      const left = testNode(node.left, worlds, ground)
      const right = testNode(node.right, left.yes, ground)
      return { yes: right.yes, no: ground.trim([...left.no, ...right.no]) }
    }
    case 'or': {
      const left = testNode(node.left, worlds, ground)
      const right = testNode(node.right, left.no, ground)
      return { yes: ground.trim([...left.yes, ...right.yes]), no: right.no }
    }
    case 'if': {
      const test = testNode(node.test, worlds, ground)
      const [whenTrue, whenFalse] = [
        testNode(node.yes, test.yes, ground),
        testNode(node.no, test.no, ground),
      ]
      return {
        yes: ground.trim([...whenTrue.yes, ...whenFalse.yes]),
        no: ground.trim([...whenTrue.no, ...whenFalse.no]),
      }
    }
    case 'has':
      return testHas(node.path, worlds, ground)
    case 'binary':
      return testBinary(node, worlds, ground)
    default: {
      const path = fullPathOf(node, ground.own)
      readNode(node, worlds, ground)
      if (path === undefined) return testFact(node, worlds, ground)
      return testEqual(path, [true], worlds, ground)
    }
  }
}

/** Evaluates an expression that is no condition, for what it reads and in which worlds. */
export function readNode(node: Node, worlds: readonly World[], ground: FlowGround): void {
  switch (node.kind) {
    case 'and':
    case 'or':
    case 'not':
    case 'has':
      testNode(node, worlds, ground)
      return
    case 'if': {
      const { yes, no } = testNode(node.test, worlds, ground)
      readNode(node.yes, yes, ground)
      readNode(node.no, no, ground)
      return
    }
    case 'firstOf':
      ground.onFirstOf?.(node, worlds)
      return
    case 'macro':
      readMacro(node, worlds, ground)
      return
    default: {
      const path = fullPathOf(node, ground.own)
      const step = path && stepOf(path)
      if (step?.member === 'output' || step?.member === 'items') {
        // That a step has an output of its own where `output` is in scope needs no proof.
        if (step.key !== ground.own) ground.onRead?.(node, path ?? [], worlds)
      }
      if (path === undefined) for (const part of partsOf(node)) readNode(part, worlds, ground)
    }
  }
}

/** What is learned about one item says nothing of the others. */
function readMacro(node: MacroNode, worlds: readonly World[], ground: FlowGround): void {
  readNode(node.over, worlds, ground)
  const inside = node.where === undefined ? worlds : testNode(node.where, worlds, ground).yes
  readNode(node.body, inside, ground)
}

function testHas(node: Node, worlds: readonly World[], ground: FlowGround): Split {
  const path = fullPathOf(node, ground.own)
  const step = path && stepOf(path)
  if (path === undefined) return testFact({ kind: 'has', at: node.at, path: node }, worlds, ground)
  const held = step && heldBy(step.member)
  const place = step && ground.placeOf(step.key)
  const isThere = (token: string): boolean => !isNothing(token)
  if (held === undefined || place === undefined) {
    return splitTokens(path, worlds, ground, isThere)
  }
  const withMember = worlds.flatMap((world) => withAnyStatus(world, place, held))
  const { yes, no } = splitTokens(path, withMember, ground, isThere)
  const without = worlds.flatMap((world) => withAnyStatus(world, place, 255 & ~held))
  return { yes, no: ground.trim([...without, ...no]) }
}

/** The statuses with which a step has this member; undefined for those that it always has. */
function heldBy(member: string | undefined): number | undefined {
  if (member === 'output' || member === 'items') return statusBits.completed
  return member === 'error' ? statusBits.failed : undefined
}

function withAnyStatus(world: World, place: number, bits: number): readonly World[] {
  const left = statusOf(world, place) & bits
  if (left === 0) return []
  return left === statusOf(world, place) ? [world] : [withStatus(world, place, left)]
}

function testBinary(
  node: Node & { kind: 'binary' },
  before: readonly World[],
  ground: FlowGround,
): Split {
  readNode(node.left, before, ground)
  readNode(node.right, before, ground)
  const { operator } = node
  const worlds = withOperands(node, before, ground)
  if (operator === '==' || operator === '!=') {
    const [literal, other] =
      node.left.kind === 'literal' ? [node.left, node.right] : [node.right, node.left]
    const path = fullPathOf(other, ground.own)
    if (literal.kind !== 'literal' || path === undefined) return testFact(node, worlds, ground)
    const split = testEqual(path, [literal.value], worlds, ground)
    return operator === '==' ? split : { yes: split.no, no: split.yes }
  }
  const path = fullPathOf(node.left, ground.own)
  if (operator === 'in' && path !== undefined && node.right.kind === 'list') {
    const values = node.right.items.flatMap((item) => (item.kind === 'literal' ? [item.value] : []))
    if (values.length === node.right.items.length) return testEqual(path, values, worlds, ground)
  }
  return testFact(node, worlds, ground)
}

/** Whatever a comparison came to, its operands were there: one that is absent or null is an error, and ends the run. */
function withOperands(
  node: Node & { kind: 'binary' },
  worlds: readonly World[],
  ground: FlowGround,
): readonly World[] {
  const sides = [node.left, node.right]
  if (sides.some((side) => side.kind === 'literal' && side.value === null)) return worlds
  let going = worlds
  for (const path of sides.flatMap((side) => operandsOf(side, ground.own))) {
    const domain = ground.domainOf(path)
    if (domain.some(isNothing)) going = going.map((world) => withValue(world, path, domain, ground))
  }
  return going
}

/** The paths that a value is calculated from. */
function operandsOf(node: Node, own: string | undefined): readonly LinkPath[] {
  const path = fullPathOf(node, own)
  if (path !== undefined) return [path]
  if (node.kind === 'negate') return operandsOf(node.of, own)
  if (node.kind !== 'binary') return []
  return [...operandsOf(node.left, own), ...operandsOf(node.right, own)]
}

function withValue(world: World, path: LinkPath, domain: Tokens, ground: FlowGround): World {
  const key = pathKey(path)
  const possible = world.values.get(key) ?? domain
  const there = possible.filter((token) => !isNothing(token))
  // What can only be nothing is told by the type check.
  if (there.length === 0 || there.length === possible.length) return world
  return learned(world, key, there, ground)
}

function testEqual(
  path: LinkPath,
  values: readonly (string | number | boolean | null)[],
  worlds: readonly World[],
  ground: FlowGround,
): Split {
  const step = stepOf(path)
  const place = step && ground.placeOf(step.key)
  if (step?.member === 'status' && place !== undefined) {
    const bits = values
      .map((value) => Object.entries(statusBits).find(([name]) => name === value)?.[1] ?? 0)
      .reduce((all, one) => all | one, 0)
    return {
      yes: worlds.flatMap((world) => withAnyStatus(world, place, bits)),
      no: worlds.flatMap((world) => withAnyStatus(world, place, 255 & ~bits)),
    }
  }
  const tokens = values.map(tokenOf)
  return splitTokens(path, worlds, ground, (token) => tokens.includes(token), tokens)
}

/** Splits by what the value at a path can be; `written` are the tokens of values that are written out. */
function splitTokens(
  path: LinkPath,
  worlds: readonly World[],
  ground: FlowGround,
  isFitting: (token: string) => boolean,
  written: Tokens = [],
): Split {
  const key = pathKey(path)
  ground.spend(worlds.length * testCost)
  const yes: World[] = []
  const no: World[] = []
  for (const world of worlds) {
    const possible = world.values.get(key) ?? ground.domainOf(path)
    // What stands for all other values stands for these as well, unless they were excluded before.
    const named = possible.includes(otherToken)
      ? written.filter((one) => !isNothing(one) && !possible.includes(excluded(one)))
      : []
    const fitting = [...new Set([...possible.filter(isFitting), ...named])]
    const others = [...possible.filter((one) => !isFitting(one)), ...named.map(excluded)]
    if (fitting.length > 0) yes.push(learned(world, key, fitting.sort(), ground))
    if (others.length > 0) no.push(learned(world, key, [...new Set(others)].sort(), ground))
  }
  return { yes, no }
}

/** Splits by a condition of which only its words are known: where the same one was found true, it is true again. */
function testFact(node: Node, worlds: readonly World[], ground: FlowGround): Split {
  const { key, isOpposite } = factOf(node, ground.own)
  ground.spend(worlds.length * testCost)
  if (key === undefined) return { yes: worlds, no: worlds }
  const that = (token: string): readonly World[] =>
    worlds.flatMap((world) => {
      const possible = world.values.get(key) ?? truthTokens
      return possible.includes(token) ? [learned(world, key, [token], ground)] : []
    })
  const [yes, no] = [that(trueToken), that(falseToken)]
  const split = isOpposite ? { yes: no, no: yes } : { yes, no }
  return { yes: withProofs(node, split.yes, ground), no: split.no }
}

/** A size that a list has makes items of it certain. */
function withProofs(node: Node, worlds: readonly World[], ground: FlowGround): readonly World[] {
  if (node.kind !== 'binary') return worlds
  const { own } = ground
  return proofsOf(node, true).reduce((going, proven) => {
    const path: LinkPath = proven[0] === 'output' && own ? ['steps', own, ...proven] : proven
    const there = ground.domainOf(path).filter((token) => !isNothing(token))
    return going.map((world) => learned(world, pathKey(path), there, ground))
  }, worlds)
}

/** Each thing that is learned makes a copy of all the others. */
function learned(world: World, key: string, tokens: Tokens, ground: FlowGround): World {
  const { values } = world
  if (!values.has(key) && !ground.isKept(key, values.size)) return world
  ground.spend(values.size)
  return withTokens(world, key, tokens)
}
