import { type Embedder, type Thresholds, toUnitLength } from '../../src/search/embedder.ts'

/**
 * An embedder for tests that choose similarities. Each text has a vector by the words that it has: dimension `i`
 * counts the word `words[i]`, so texts with the same known words have similarity 1, and texts with none in common 0.
 * `{ pay: 3, late: 4 }` says how much a word weighs: "pay" and "pay late" then have similarity 3 / 5.
 */
export function fakeEmbedder(
  words: { readonly [word: string]: number },
  options: { readonly model?: string; readonly thresholds?: Thresholds } = {},
): Embedder {
  const known = Object.entries(words)
  // One dimension more, for texts without a known word: they are like each other and like nothing else.
  const dimensions = known.length + 1
  return {
    model: options.model ?? 'fake-v1',
    dimensions,
    maxCharacters: 8000,
    thresholds: options.thresholds ?? { minSimilarity: 0.5, margin: 0.1, calibrated: true },
    embed: async (texts) =>
      texts.map((text) => {
        const present = new Set(text.toLowerCase().match(/\p{L}+/gu))
        const vector = Float32Array.from([
          ...known.map(([word, w]) => (present.has(word) ? w : 0)),
          0,
        ])
        if (vector.every((value) => value === 0)) vector[dimensions - 1] = 1
        return toUnitLength(vector)
      }),
  }
}
