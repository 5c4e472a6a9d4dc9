import { cutText, type Embedder, toUnitLength } from './embedder.ts'
import { ngramVector } from './ngram-embedder.ts'
import { type SentenceModel, sentenceDimensions, sentenceMaxCharacters } from './sentence-model.ts'

/** A change that moves vectors is another name. */
export const sentenceModelName = 'use-ngram-1024-v1'

const ngramDimensions = 512
const dimensions = sentenceDimensions + ngramDimensions
/** Each half has half of the squared length, so that the cosine of two is the mean of the halves' cosines. */
const halfWeight = Math.sqrt(0.5)

/**
 * The offline model: what a sentence means to an English sentence encoder, beside the words that it has
 * (`ngramEmbedder`). Each finds what the other misses.
 *
 * The encoder knows English alone. A text whose letters are mostly of another script, or that has none, is compared by
 * its words only: the first half of its vector is zero and the second is all of its length. Two such texts are as alike
 * as their words; one of them and an English text at most .71.
 */
export function createSentenceEmbedder(model: SentenceModel): Embedder {
  return {
    model: sentenceModelName,
    dimensions,
    // Of the sentence encoder 1,000, see below.
    maxCharacters: 8000,
    // Measured by bench/retrieval.ts; docs/search.md has the figures.
    thresholds: { minSimilarity: 0.39, margin: 0.07, calibrated: true },
    async embed(texts, options) {
      const sentences = texts.map((text) => sentenceOf(text))
      const readable = sentences.filter((sentence) => sentence !== undefined)
      const meanings = await model.embed(readable, options)
      let next = 0
      return texts.map((text, index) => {
        const words = ngramVector(cutText(text, 8000))
        const meaning = sentences[index] === undefined ? undefined : meanings[next++]
        return joined(meaning, words)
      })
    },
  }
}

/** What the encoder is given of a text; undefined for one that it cannot read. */
function sentenceOf(text: string): string | undefined {
  const sentence = cutText(text.toWellFormed().toLowerCase().trim(), sentenceMaxCharacters)
  const letters = sentence.match(/\p{L}/gu)?.length ?? 0
  const latin = sentence.match(/\p{Script=Latin}/gu)?.length ?? 0
  return latin > 0 && latin * 2 >= letters ? sentence : undefined
}

function joined(meaning: Float32Array | undefined, words: Float32Array): Float32Array {
  const vector = new Float32Array(dimensions)
  if (meaning === undefined) {
    vector.set(words, sentenceDimensions)
    return vector
  }
  vector.set(scaled(toUnitLength(meaning)))
  vector.set(scaled(words), sentenceDimensions)
  return vector
}

function scaled(vector: Float32Array): Float32Array {
  return vector.map((value) => value * halfWeight)
}
