import { isRoot, type Path } from './scope.ts'
import type { Node } from './syntax.ts'

/** One place of an expression that reads the scope. */
export interface Read {
  /** As far as it is plain from the text: what follows a computed index is left out. */
  readonly path: Path
  /** `has`: asked about by has(). `firstOf`: a step named in firstOf(). Else its value is needed. */
  readonly use: 'value' | 'has' | 'firstOf'
  /**
   * Paths that are known to exist, and not to be null, wherever this read happens: from `has(a.b) && …`,
   * `a.b != null && …`, and `steps.k.status == 'completed' && …`, which stands for `steps.k.output`.
   */
  readonly guards: readonly Path[]
  /** Offset in the source. */
  readonly at: number
}

/** A path that may also begin with the variable of a macro. */
export type LinkPath = readonly (string | number)[]

/** Whether one of the guards makes a path certain: it names it, or something inside it. */
export function isGuarded(path: LinkPath, guards: readonly LinkPath[]): boolean {
  return guards.some((guard) => path.every((part, place) => guard[place] === part))
}

/** All places that read, in the order of the text. */
export function collectReads(node: Node): readonly Read[] {
  const reads: Read[] = []
  visit(node, [], reads)
  return reads
}

/** The path of a read whose parts are all written out; `undefined` for anything else. */
export function pathOf(node: Node): LinkPath | undefined {
  switch (node.kind) {
    case 'root':
    case 'variable':
      return [node.name]
    case 'member': {
      const path = pathOf(node.of)
      return path === undefined ? undefined : [...path, node.name]
    }
    case 'index': {
      const path = pathOf(node.of)
      const key = node.key.kind === 'literal' ? node.key.value : undefined
      if (path === undefined || (typeof key !== 'string' && typeof key !== 'number')) {
        return undefined
      }
      return [...path, key]
    }
    default:
      return undefined
  }
}

/** Paths that exist and are not null once a condition was found to be true, or false. */
export function proofsOf(node: Node, truth: boolean): readonly LinkPath[] {
  const known = truth ? provenByTrue : provenByFalse
  const proofs = known.get(node) ?? findProofs(node, truth)
  known.set(node, proofs)
  return proofs
}

// A long chain of conditions asks for those of its left side at each of its operators.
const provenByTrue = new WeakMap<Node, readonly LinkPath[]>()
const provenByFalse = new WeakMap<Node, readonly LinkPath[]>()

function findProofs(node: Node, truth: boolean): readonly LinkPath[] {
  switch (node.kind) {
    case 'has': {
      const path = pathOf(node.path)
      return truth && path !== undefined ? [path] : []
    }
    case 'not':
      return proofsOf(node.of, !truth)
    case 'and':
    case 'or': {
      const [left, right] = [proofsOf(node.left, truth), proofsOf(node.right, truth)]
      // A true `&&` and a false `||` say something of both sides, the other two of either.
      if ((node.kind === 'and') === truth) return [...left, ...right]
      return left.filter((path) => isGuarded(path, right))
    }
    case 'binary':
      return comparisonProofs(node, truth)
    default:
      return []
  }
}

function comparisonProofs(node: Node & { kind: 'binary' }, truth: boolean): readonly LinkPath[] {
  const [literal, other] =
    node.left.kind === 'literal' ? [node.left, node.right] : [node.right, node.left]
  const path = pathOf(other)
  if (path === undefined && truth) return sizeProofs(node)
  if (path === undefined || literal.kind !== 'literal') return []
  if (node.operator !== '==' && node.operator !== '!=') return []
  const isSame = (node.operator === '==') === truth
  if (literal.value === null) return isSame ? [] : [path]
  const [root, key, member] = path
  if (isSame && isStatusOfVariable(path) && literal.value === 'completed') return [completed(root)]
  if (!isSame || root !== 'steps' || key === undefined || member !== 'status') return []
  if (literal.value === 'completed') return [['steps', key, 'output']]
  return literal.value === 'failed' ? [['steps', key, 'error']] : []
}

function isStatusOfVariable([root, key, ...further]: LinkPath): boolean {
  return typeof root === 'string' && !isRoot(root) && key === 'status' && further.length === 0
}

/** What stands for `x.status == 'completed'`: of the items of a loop it makes `x.output` certain. */
export function completed(variable: string | number = ''): LinkPath {
  return [variable, 'status', 'completed']
}

/** What is certain of each item of a list that was filtered, said of the variable that stands for it. */
export function itemProofs(list: Node, variable: string): readonly LinkPath[] {
  if (list.kind !== 'macro' || (list.name !== 'filter' && list.name !== 'sortBy')) return []
  const before = itemProofs(list.over, variable)
  if (list.name === 'sortBy') return before
  const proven = proofsOf(list.body, true).flatMap(([root, ...links]): readonly LinkPath[] =>
    root === list.variable ? [[variable, ...links]] : [],
  )
  return [...before, ...proven]
}

/** `size(list) == 2`, `size(list) > 1` and `size(list) >= 2` make the first two items of a list certain. */
function sizeProofs({ operator, left, right }: Node & { kind: 'binary' }): readonly LinkPath[] {
  if (left.kind !== 'call' || left.call.name !== 'size' || right.kind !== 'literal') return []
  const [of] = left.args
  const path = of && pathOf(of)
  const { value } = right
  if (path === undefined || typeof value !== 'number') return []
  const least = operator === '>' ? value + 1 : value
  if (!['==', '>', '>='].includes(operator) || !(least > 0)) return []
  // Nobody writes out more places than these.
  return Array.from({ length: Math.min(Math.floor(least), 10) }, (_, place) => [...path, place])
}

/** The paths among them that begin in the scope. */
export function scopePaths(paths: readonly LinkPath[]): readonly Path[] {
  if (paths.length === 0) return []
  return paths.flatMap(([root, ...links]) =>
    typeof root === 'string' && isRoot(root) ? [[root, ...links] as const] : [],
  )
}

/** The parts of a node, with what is certain by the time that they are evaluated. */
function partsOf(node: Node): readonly { part: Node; proofs: readonly LinkPath[] }[] {
  const plain = (parts: readonly Node[]) => parts.map((part) => ({ part, proofs: [] }))
  switch (node.kind) {
    case 'literal':
    case 'root':
    case 'variable':
    case 'firstOf':
      return []
    case 'member':
    case 'not':
    case 'negate':
      return plain([node.of])
    case 'index':
      return plain([node.of, node.key])
    case 'list':
      return plain(node.items)
    case 'object':
      return plain(node.fields.map(([, value]) => value))
    case 'binary':
      return plain([node.left, node.right])
    case 'and':
    case 'or':
      return [
        { part: node.left, proofs: [] },
        { part: node.right, proofs: proofsOf(node.left, node.kind === 'and') },
      ]
    case 'if':
      return [
        { part: node.test, proofs: [] },
        { part: node.yes, proofs: proofsOf(node.test, true) },
        { part: node.no, proofs: proofsOf(node.test, false) },
      ]
    case 'has':
      return plain([node.path])
    case 'matches':
      return plain([node.text])
    case 'call':
      return plain(node.args)
    case 'macro':
      return plain([node.over, ...(node.where === undefined ? [] : [node.where]), node.body])
  }
}

function visit(node: Node, guards: readonly LinkPath[], reads: Read[]): void {
  if (node.kind === 'root' || node.kind === 'member' || node.kind === 'index') {
    visitPath(node, 'value', guards, reads)
  } else if (node.kind === 'has') {
    visitPath(node.path, 'has', guards, reads)
  } else if (node.kind === 'firstOf') {
    for (const key of node.steps) {
      reads.push({ path: ['steps', key], use: 'firstOf', guards: scopePaths(guards), at: node.at })
    }
  } else {
    for (const { part, proofs } of partsOf(node)) {
      visit(part, proofs.length === 0 ? guards : [...guards, ...proofs], reads)
    }
  }
}

/** A chain of links is one read, as far as it is plain, and one more for each computed index. */
function visitPath(
  node: Node,
  use: 'value' | 'has',
  guards: readonly LinkPath[],
  reads: Read[],
): void {
  const path = pathOf(node)
  if (path !== undefined) {
    for (const found of scopePaths([path])) {
      reads.push({ path: found, use, guards: scopePaths(guards), at: node.at })
    }
  } else if (node.kind === 'member') {
    visitPath(node.of, use, guards, reads)
  } else if (node.kind === 'index') {
    visitPath(node.of, use, guards, reads)
    visit(node.key, guards, reads)
  } else {
    visit(node, guards, reads)
  }
}
