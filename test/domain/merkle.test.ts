import { describe, expect, it } from 'vitest'
import {
  leafHash,
  MerkleRoot,
  merklePath,
  merkleRoot,
  placeOfPath,
  rootOfPath,
} from '../../src/domain/merkle.ts'

// The leaves and roots that implementations of RFC 6962 are tried with.
const leaves = ['', '\u0000', '\u0010', ' !', '01', '@ABC', 'PQRSTUVW', '`abcdefghijklmno'].map(
  leafHash,
)
const roots: Readonly<Record<number, string>> = {
  1: '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  2: 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  3: 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  7: 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  8: '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
}

describe('a Merkle tree', () => {
  it('has the roots of RFC 6962', () => {
    for (const [count, root] of Object.entries(roots)) {
      expect(merkleRoot(leaves.slice(0, Number(count)))).toBe(root)
    }
  })

  it('has no root without a leaf', () => {
    expect(new MerkleRoot().root()).toBeUndefined()
  })

  it('has a path from every leaf to its root, which says its place', () => {
    for (let count = 1; count <= 33; count += 1) {
      const all = Array.from({ length: count }, (_, index) => leafHash(`leaf ${index}`))
      const root = merkleRoot(all)
      for (const [index, leaf] of all.entries()) {
        const path = merklePath(all, index)

        expect(rootOfPath(leaf, path)).toBe(root)
        expect(placeOfPath(path, count)).toBe(index)
      }
    }
  })

  it('knows a path that is too short or too long for its tree', () => {
    const path = merklePath(leaves, 5)

    expect(placeOfPath(path.slice(1), 8)).toBeUndefined()
    expect(placeOfPath([...path, ...path], 8)).toBeUndefined()
  })
})
