import { ServiceError } from '../domain/errors.ts'
import type { OpenAiConnection } from '../openai/client.ts'
import type { Embedder } from './embedder.ts'

/** Which model of a server is asked for. */
export interface HostedModelConfig {
  /** Without one, no server is asked. */
  readonly openai?: OpenAiConnection | undefined
  /** As the server knows it; default OpenAI's text-embedding-3-small. */
  readonly embeddingModel?: string | undefined
  /** Default: what OpenAI's own models have. */
  readonly embeddingDimensions?: number | undefined
}

/** How long the vectors of OpenAI's own models are, at their full length. */
const fullDimensions: ReadonlyMap<string, number> = new Map([
  ['text-embedding-3-small', 1536],
  ['text-embedding-3-large', 3072],
  ['text-embedding-ada-002', 1536],
])

/**
 * The hosted model of a configuration; undefined when none is set up.
 *
 * @throws ServiceError `CONFIG_INVALID` for a model without a key, and for one whose vectors have an unknown length.
 */
export async function openHostedEmbedder({
  openai,
  embeddingModel,
  embeddingDimensions,
}: HostedModelConfig): Promise<Embedder | undefined> {
  if (openai === undefined) {
    if (embeddingModel === undefined) return undefined
    throw refused(
      'STEPWARDEN_EMBEDDING_MODEL',
      `names '${embeddingModel}', a model of a server, and OPENAI_API_KEY is not set; set it as well, or leave both out for the offline model (as options: embeddingModel, openai.apiKey)`,
    )
  }
  const model = embeddingModel ?? 'text-embedding-3-small'
  const full = fullDimensions.get(model)
  const dimensions = embeddingDimensions ?? full
  if (dimensions === undefined) {
    throw refused(
      'STEPWARDEN_EMBEDDING_DIMENSIONS',
      `is not set, and must say how long the vectors of '${model}' are (as an option: embeddingDimensions)`,
    )
  }
  // Loaded only here: the SDK takes a tenth of a second that a start without a key does not need.
  const { createOpenAiEmbedder } = await import('./openai-embedder.ts')
  return createOpenAiEmbedder(openai, {
    // Vectors of two lengths are of two models, also when a server shortens those of one.
    name: dimensions === full ? model : `${model}@${dimensions}`,
    model,
    dimensions,
    isShortened: full !== undefined && dimensions !== full,
  })
}

function refused(path: string, message: string): ServiceError {
  return new ServiceError('CONFIG_INVALID', { problems: [{ path, message }] })
}
