import { callWithin } from '../openai/call-within.ts'
import { createOpenAiClient, type OpenAiConnection } from '../openai/client.ts'
import { ModelFailed } from '../openai/failure.ts'
import { cutText, type Embedder, toUnitLength, unmeasured } from './embedder.ts'

/** A model of a server. */
export interface HostedModel {
  /** As the vectors are named. */
  readonly name: string
  /** As the server knows it. */
  readonly model: string
  /** How long its vectors are, 1 to 4,096. */
  readonly dimensions: number
  /** Whether the server must be asked for that length, as OpenAI's newer models can shorten their vectors. */
  readonly isShortened: boolean
}

const maxCharacters = 8000
/** A token is at least one byte, and the models take 8,191 tokens: what has this many bytes always fits. */
const maxBytes = 8000
/** Texts per request; the API takes 2,048 and about 300,000 tokens. */
const maxBatchTexts = 32
/** What a number of a vector takes in JSON, indented: some servers write one a line. */
const maxNumberBytes = 48
/** For one request, with its repeats. Whoever waits at a ticket gives less. */
const defaultWithinMs = 20_000

/**
 * A model that is asked over the network: OpenAI's, or any server's that speaks its API. Its thresholds are unknown
 * until `embeddings calibrate` measures them.
 *
 * `embed` throws ModelFailed: `answer_invalid` for a vector of another length, one that is not finite or has no
 * direction, and for one too few; else what the call failed of.
 */
export function createOpenAiEmbedder(connection: OpenAiConnection, hosted: HostedModel): Embedder {
  const { name, model, dimensions, isShortened } = hosted
  const client = createOpenAiClient(
    connection,
    64 * 1024 + maxBatchTexts * dimensions * maxNumberBytes,
  )
  return {
    model: name,
    dimensions,
    maxCharacters,
    thresholds: unmeasured,
    async embed(texts, { withinMs: timeoutMs = defaultWithinMs } = {}) {
      const vectors: Float32Array[] = []
      for (let start = 0; start < texts.length; start += maxBatchTexts) {
        const input = texts.slice(start, start + maxBatchTexts).map(toInput)
        const answer = await callWithin({ timeoutMs }, (signal) =>
          client.embeddings.create(
            {
              model,
              input,
              // The SDK asks for base64 otherwise, and reads the numbers of a server that ignores that as nothing.
              encoding_format: 'float',
              ...(isShortened && { dimensions }),
            },
            { signal },
          ),
        )
        vectors.push(...toVectors(answer, input.length, dimensions))
      }
      return vectors
    },
  }
}

/** Cut to what the model takes; the API refuses an empty text. */
function toInput(text: string): string {
  const cut = cutText(text.toWellFormed(), maxCharacters).trim()
  if (cut === '') return '(no text)'
  const bytes = Buffer.from(cut)
  if (bytes.length <= maxBytes) return cut
  // A character that the cut goes through becomes U+FFFD.
  return bytes
    .subarray(0, maxBytes)
    .toString()
    .replace(/\uFFFD$/, '')
}

function toVectors(answer: unknown, count: number, dimensions: number): readonly Float32Array[] {
  const { data } = Object(answer)
  const found = Array.isArray(data) ? data : []
  // In the order of `index`, which is not promised to be that of the answer.
  const byIndex = new Map(found.map((item) => [Object(item).index, Object(item).embedding]))
  return Array.from({ length: count }, (_, index) => {
    const embedding: unknown = byIndex.get(index)
    if (!Array.isArray(embedding)) throw invalid(`gave no vector for text ${index + 1} of ${count}`)
    if (embedding.length !== dimensions) {
      throw invalid(
        `gave a vector of ${embedding.length} dimensions where ${dimensions} were expected`,
      )
    }
    if (!embedding.every((value) => Number.isFinite(value))) {
      throw invalid('gave a vector with a value that is no finite number')
    }
    const vector = Float32Array.from(embedding)
    if (!vector.every((value) => Number.isFinite(value))) {
      throw invalid('gave a vector with a value that is too large')
    }
    if (vector.every((value) => value === 0)) throw invalid('gave a vector of zeros')
    return toUnitLength(vector)
  })
}

function invalid(problem: string): ModelFailed {
  return new ModelFailed('answer_invalid', `The embedding server ${problem}.`)
}
