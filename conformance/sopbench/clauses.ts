import type { Leaf, Tree } from './cases.ts'

/** Rules of which one at least must hold. */
export type Clause = readonly Leaf[]

/** A procedure with more than these would be no text that a person can read. */
const maxClauses = 200

/**
 * Writes a tree as a list of clauses that must all hold, so that each is one condition whose failure says by itself
 * which rules failed: of `a and b, or c` the conditions `a or c` and `b or c`.
 *
 * The order is the tree's own. The first clause that fails therefore names, of each branch, the first rule that
 * failed: the same that one finds who walks the tree and stops early. A clause that holds whatever happens (`a or not
 * a`) is left out.
 */
export function clausesOf(tree: Tree | null): readonly Clause[] {
  if (tree === null) return []
  const clauses = conjunction(tree).filter((clause) => !clause.some(isDenied(clause)))
  const seen = new Set<string>()
  return clauses.filter((clause) => {
    const text = clauseText(clause)
    return !seen.has(text) && seen.add(text)
  })
}

function conjunction(tree: Tree): Clause[] {
  if (!('op' in tree)) return [[tree]]
  if (tree.op === 'and' || tree.op === 'chain') return tree.of.flatMap(conjunction)
  if (tree.of.length === 0) return [[]]
  return tree.of.map(conjunction).reduce<Clause[]>(
    (left, right) => {
      if (left.length * right.length > maxClauses) {
        throw new RangeError(`the rules make more than ${maxClauses} conditions`)
      }
      return left.flatMap((one) => right.map((other) => joined(one, other)))
    },
    [[]],
  )
}

function joined(one: Clause, other: Clause): Clause {
  return [...one, ...other.filter((leaf) => !one.some((known) => isSameLeaf(known, leaf)))]
}

function isDenied(clause: Clause): (leaf: Leaf) => boolean {
  return (leaf) =>
    clause.some((other) => isSameLeaf({ ...other, negate: other.negate !== true }, leaf))
}

export function isSameLeaf(a: Leaf, b: Leaf): boolean {
  return leafText(a) === leafText(b)
}

/** How a condition of no rule is called: of several branches of which there are none, none holds. */
const noRule = 'one of no rules'

/** The name of a rule. What it is asked of is told only where it goes by another name than the check's own. */
export function leafText({ check, args, negate }: Leaf): string {
  const renamed = Object.entries(args)
    .filter(([input, name]) => input !== name)
    .map(([input, name]) => `${name} as ${input}`)
    .sort()
  const of = renamed.length === 0 ? '' : ` (${renamed.join(', ')})`
  return `${negate === true ? 'not ' : ''}${check}${of}`
}

export function clauseText(clause: Clause): string {
  return clause.map(leafText).join(' or ') || noRule
}
