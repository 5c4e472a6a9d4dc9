import { createHash } from 'node:crypto'

/** Merkle trees after RFC 6962, section 2.1. Hashes are lower-case hex. */

/** One step of a path: the sibling, and on which side of the hash so far it stands. */
export interface PathStep {
  readonly side: 'left' | 'right'
  readonly hash: string
}

/** What a hash looks like. */
export const isHash = /^[0-9a-f]{64}$/

/** SHA-256 over `0x00` and the UTF-8 bytes of a record. */
export function leafHash(record: string): string {
  return createHash('sha256').update(leafMark).update(record, 'utf8').digest('hex')
}

const leafMark = Buffer.of(0)
const nodeMark = Buffer.of(1)

function nodeHash(left: string, right: string): string {
  return createHash('sha256')
    .update(nodeMark)
    .update(left, 'hex')
    .update(right, 'hex')
    .digest('hex')
}

/** Makes the root of leaves that come one by one, in memory that grows with the logarithm of their number. */
export class MerkleRoot {
  count = 0
  /** Roots of whole trees, each at most half as large as the one before it. */
  readonly #trees: { readonly size: number; readonly hash: string }[] = []

  add(leaf: string): void {
    this.count += 1
    let tree = { size: 1, hash: leaf }
    for (let last = this.#trees.at(-1); last?.size === tree.size; last = this.#trees.at(-1)) {
      this.#trees.pop()
      tree = { size: 2 * tree.size, hash: nodeHash(last.hash, tree.hash) }
    }
    this.#trees.push(tree)
  }

  /** Undefined without a leaf. */
  root(): string | undefined {
    const [last, ...others] = this.#trees.map(({ hash }) => hash).reverse()
    return last === undefined
      ? undefined
      : others.reduce((right, left) => nodeHash(left, right), last)
  }
}

/** @throws TypeError for no leaves. */
export function merkleRoot(leaves: readonly string[]): string {
  const tree = new MerkleRoot()
  for (const leaf of leaves) tree.add(leaf)
  const root = tree.root()
  if (root === undefined) throw new TypeError('a tree has at least one leaf')
  return root
}

/** The path from the leaf at `index` (from 0) up to the root of `leaves`. */
export function merklePath(leaves: readonly string[], index: number): readonly PathStep[] {
  if (leaves.length <= 1) return []
  const half = 2 ** Math.floor(Math.log2(leaves.length - 1))
  const left = leaves.slice(0, half)
  const right = leaves.slice(half)
  return index < half
    ? [...merklePath(left, index), { side: 'right', hash: merkleRoot(right) }]
    : [...merklePath(right, index - half), { side: 'left', hash: merkleRoot(left) }]
}

/** The root that a leaf and its path lead to. */
export function rootOfPath(leaf: string, path: readonly PathStep[]): string {
  return path.reduce(
    (hash, step) => (step.side === 'left' ? nodeHash(step.hash, hash) : nodeHash(hash, step.hash)),
    leaf,
  )
}

/** The place of the leaf that a path belongs to in a tree of `count` leaves; undefined where there is none of its form. */
export function placeOfPath(path: readonly PathStep[], count: number): number | undefined {
  let first = 0
  let size = count
  for (const { side } of [...path].reverse()) {
    if (size <= 1) return undefined
    const half = 2 ** Math.floor(Math.log2(size - 1))
    if (side === 'right') size = half
    else {
      first += half
      size -= half
    }
  }
  return size === 1 ? first : undefined
}
