import { createHash } from 'node:crypto'

/** Numbers from 0 to below 1 that are the same for the same seed. */
export function randomOf(seed: number): () => number {
  let count = 0
  return () => {
    count += 1
    return createHash('sha256').update(`${seed} ${count}`).digest().readUInt32BE() / 2 ** 32
  }
}
