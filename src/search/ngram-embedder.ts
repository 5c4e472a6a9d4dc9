import { cutText, type Embedder, toUnitLength } from './embedder.ts'
import { textFeatures } from './text-features.ts'

const dimensions = 512

/**
 * The embedder that is always there: offline, without a model file, and the same on every machine. It compares the
 * words of two texts, not what they mean, and works in any language as long as both are in the same one.
 */
export const ngramEmbedder: Embedder = {
  model: 'ngram-512-v1',
  dimensions,
  maxCharacters: 8000,
  // Measured by bench/retrieval.ts; docs/search.md has the figures.
  thresholds: { minSimilarity: 0.32, margin: 0.1, calibrated: true },
  embed: async (texts) => texts.map((text) => ngramVector(cutText(text, 8000))),
}

/**
 * The unit vector of a text, 512 long: feature hashing after Weinberger et al. (2009). Each feature is added at two
 * places, with a sign each, so that features that share one place seldom share both and collisions cancel out on
 * average. Counts enter by their square root: a word that stands five times does not say five times as much.
 */
export function ngramVector(text: string): Float32Array {
  const vector = new Float32Array(dimensions)
  for (const { name, count, weight } of textFeatures(text)) {
    const amount = weight * Math.sqrt(count)
    const hash = hashOfName(name)
    addSigned(vector, hash & 0xffff, amount)
    addSigned(vector, hash >>> 16, amount)
  }
  return toUnitLength(vector)
}

/** The lowest bit of 16 gives the sign, the others the place. */
function addSigned(vector: Float32Array, bits: number, amount: number): void {
  const place = (bits >>> 1) % dimensions
  vector[place] = (vector[place] ?? 0) + ((bits & 1) === 1 ? amount : -amount)
}

/** FNV-1a over UTF-16 units, then MurmurHash3's finaliser, without which the low bits of like names are alike. */
function hashOfName(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
