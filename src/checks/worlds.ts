import type { StepStatus } from '../domain/execution.ts'
import { isExclusion, type Tokens, truthTokens } from './tokens.ts'

/**
 * The abstract interpretation of a definition goes from point to point with a list of *worlds*. Each stands for all
 * runs that may have come to the point in one way: what the statuses of the steps are, and what is known of the values
 * that conditions asked about. Together they leave out no run that is possible; where there would be too many worlds,
 * some are merged into one that allows all that they allow.
 */
export interface World {
  /** By place of the step, the statuses that are possible there, as bits. */
  readonly statuses: Uint8Array
  /** By the key of a path or condition, the tokens that are possible; absent: all of its domain (see tokens.ts). */
  readonly values: ReadonlyMap<string, readonly string[]>
}

/** A status as a bit. `waiting` never shows: while a step waits, nothing is evaluated. */
export const statusBits: { readonly [S in StepStatus]: number } = {
  pending: 1,
  running: 2,
  waiting: 4,
  completed: 8,
  failed: 16,
  skipped: 32,
  expired: 64,
  denied: 128,
}

const anyStatus = 255

/** The statuses of a step that has ended, in whatever way. */
export const endedBits =
  statusBits.completed |
  statusBits.failed |
  statusBits.skipped |
  statusBits.expired |
  statusBits.denied

/** The only world before the first step: all are pending, and nothing was asked. */
export function firstWorld(stepCount: number): World {
  return { statuses: new Uint8Array(stepCount).fill(statusBits.pending), values: new Map() }
}

export function statusOf(world: World, place: number): number {
  return world.statuses[place] ?? anyStatus
}

/** A world in which a step has one of these statuses, whatever it had. */
export function withStatus(world: World, place: number, bits: number): World {
  return withStatuses(world, place, place, bits)
}

/** The same for all steps from one place to another, both included. */
export function withStatuses(world: World, from: number, to: number, bits: number): World {
  const statuses = world.statuses.slice()
  statuses.fill(bits, from, to + 1)
  return { ...world, statuses }
}

/** A world in which something has one of these tokens. */
export function withTokens(world: World, key: string, tokens: readonly string[]): World {
  return { ...world, values: new Map(world.values).set(key, tokens) }
}

/** A world that knows nothing of what `isForgotten` says. */
export function withoutValues(world: World, isForgotten: (key: string) => boolean): World {
  let values: Map<string, readonly string[]> | undefined
  for (const key of world.values.keys()) {
    if (!isForgotten(key)) continue
    values ??= new Map(world.values)
    values.delete(key)
  }
  return values === undefined ? world : { ...world, values }
}

/** What still matters at a point: nothing else keeps two worlds apart. */
export interface Relevance {
  readonly isValueAsked: (key: string) => boolean
  /** Places of the steps. */
  readonly steps: readonly number[]
}

/** The worlds without those that differ in nothing that matters, and at most `most` of them. */
export function joinWorlds(
  worlds: readonly World[],
  relevance: Relevance,
  most: number,
): readonly World[] {
  const leanWorlds = worlds.map((world) =>
    withoutValues(world, (key) => !relevance.isValueAsked(key)),
  )
  if (most === 1) return mergeTo(leanWorlds, 1)
  const joined = new Map<string, World>()
  for (const lean of leanWorlds) {
    const key = keyOf(lean, relevance)
    const same = joined.get(key)
    joined.set(key, same === undefined ? lean : mergeWorlds(same, lean))
  }
  return mergeTo([...joined.values()], most)
}

/** At most so many worlds that allow the same: those that follow each other came by the same ways longest. */
export function mergeTo(worlds: readonly World[], most: number): readonly World[] {
  if (worlds.length <= most) return worlds
  const size = Math.ceil(worlds.length / most)
  return Array.from({ length: Math.ceil(worlds.length / size) }, (_, chunk) =>
    worlds.slice(chunk * size, (chunk + 1) * size).reduce(mergeWorlds),
  )
}

function keyOf({ statuses, values }: World, { steps }: Relevance): string {
  let key = ''
  for (const place of steps) key += String.fromCharCode(statuses[place] ?? 0)
  const known: string[] = []
  for (const [name, tokens] of values) known.push(`${name}=${tokens.join('|')}`)
  return `${key}\n${known.sort().join('\n')}`
}

/** The one world that allows what either does. */
function mergeWorlds(a: World, b: World): World {
  if (a === b) return a
  const isSame = a.statuses === b.statuses
  const statuses = isSame
    ? a.statuses
    : a.statuses.map((bits, place) => bits | (b.statuses[place] ?? 0))
  const values = new Map<string, readonly string[]>()
  for (const [key, tokens] of a.values) {
    const others = b.values.get(key)
    if (others === undefined) continue
    const all = unionOf(tokens, others)
    // A condition that may be either is one of which nothing is known.
    if (all.length < truthTokens.length || !isCondition(key)) values.set(key, all)
  }
  return { statuses, values }
}

function unionOf(a: Tokens, b: Tokens): Tokens {
  if (a === b || (a.length === b.length && a.every((token, at) => token === b[at]))) return a
  const all = [...a.filter((token) => !b.includes(token)), ...b]
  // Only what both exclude is excluded.
  return all
    .filter((token) => !isExclusion(token) || (a.includes(token) && b.includes(token)))
    .sort()
}

/** Whether a key stands for a condition: one of a path has no brackets; see node-key.ts. */
export function isCondition(key: string): boolean {
  return key.includes('(')
}
