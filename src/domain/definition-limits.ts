import { canonicalJson, findValueProblems } from './canonical.ts'
import { type Problem, pathText } from './problem.ts'

/** How large a definition may be. Byte counts are UTF-8; depth counts objects and lists inside each other. */
export const definitionLimits = {
  /** Of the canonical JSON of the document as it came in. */
  bytes: 256 * 1024,
  stringBytes: 64 * 1024,
  depth: 20,
  /** Nested ones included. */
  steps: 200,
  /** Items or rounds of one loop. */
  loopItems: 1_000,
} as const

// Every node takes at least two bytes of JSON (itself and a comma), so more nodes cannot fit into the limit.
const maxNodes = definitionLimits.bytes / 2

/** What stands in the way of reading a document at all, apart from its shape. */
export interface LimitFindings {
  readonly problems: readonly Problem[]
  /** False when the value is too deep, too large or cyclic, so that walking it is not safe. */
  readonly walkable: boolean
}

/**
 * Finds what is too large or no JSON in a value that may be anything: depth, strings, total size, NUL, lone
 * surrogates, numbers that a double cannot hold. Takes bounded time, also for cycles and shared references.
 */
export function findLimitProblems(value: unknown): LimitFindings {
  const problems: Problem[] = []
  let nodes = 0
  // Of the places that are too deep, the first is told: there may be very many.
  let deepest: readonly PropertyKey[] | undefined

  function walk(node: unknown, path: readonly PropertyKey[], depth: number): void {
    nodes += 1
    if (nodes > maxNodes) return
    if (typeof node === 'string') checkString(node, path)
    if (typeof node !== 'object' || node === null) return
    if (depth === definitionLimits.depth) {
      deepest ??= path
      return
    }
    for (const [key, member] of Object.entries(node)) {
      const memberPath = [...path, Array.isArray(node) ? Number(key) : key]
      // A key of this name would set a host object's prototype in code that is less careful than ours.
      if (key === '__proto__')
        problems.push({ path: pathText(memberPath), message: 'is not a usable name; rename it' })
      walk(member, memberPath, depth + 1)
    }
  }

  function checkString(text: string, path: readonly PropertyKey[]): void {
    const bytes = Buffer.byteLength(text)
    if (bytes <= definitionLimits.stringBytes) return
    const message = `has ${bytes} bytes of text, the limit is ${definitionLimits.stringBytes}`
    problems.push({ path: pathText(path), message })
  }

  walk(value, [], 0)
  if (nodes > maxNodes)
    return { problems: [tooLarge('has more values than fit into')], walkable: false }
  if (deepest !== undefined) {
    const message = `is nested in ${definitionLimits.depth} objects and lists, which is the limit; make it flatter`
    problems.push({ path: pathText(deepest), message })
    return { problems, walkable: false }
  }
  const valueProblems = findValueProblems(value)
  if (valueProblems.length === 0) {
    const bytes = Buffer.byteLength(canonicalJson(value))
    if (bytes > definitionLimits.bytes)
      problems.push(tooLarge(`has ${bytes} bytes of JSON, more than`))
  }
  return { problems: [...problems, ...valueProblems], walkable: true }
}

function tooLarge(found: string): Problem {
  const message = `the definition ${found} the ${definitionLimits.bytes} bytes allowed; split it and use call`
  return { path: '', message }
}
