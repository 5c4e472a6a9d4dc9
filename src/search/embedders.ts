import type { Logger } from '../logger.ts'
import { ModelFailed } from '../openai/failure.ts'
import { type Embedder, embedOne } from './embedder.ts'
import { ngramEmbedder } from './ngram-embedder.ts'
import { createSentenceEmbedder, sentenceModelName } from './sentence-embedder.ts'
import { createSentenceModel, isSentenceModelInstalled } from './sentence-model.ts'

/** How long a ticket waits for a model that is asked over the network. */
const searchWithinMs = 2_000
/** For how long a model that did not answer is not asked again by searches. */
const restMs = 30_000

/** The models that need no server, of which the first needs optional packages. */
export const offlineModels: readonly string[] = [sentenceModelName, ngramEmbedder.model]

/** The vector of what is searched for, and the model that it is of. */
export interface EmbeddedQuery {
  readonly model: string
  readonly vector: Float32Array
  /** True when it is not of the model that was asked for. */
  readonly fellBack: boolean
}

/** The models that this process can make vectors with. */
export interface Embedders extends AsyncDisposable {
  /** Answers without a network: what search falls back on. */
  readonly offline: Embedder
  /** All of them, each once: the offline one, that of words alone, and the hosted one if there is one. */
  readonly all: readonly Embedder[]
  find(model: string): Embedder | undefined
  /** Whether texts leave this process to be embedded by a model. */
  isHosted(model: string): boolean
  /**
   * Embeds a search by a model, or by the offline one when this process does not have it, or it does not answer in 2 s.
   * It then rests for 30 s. `log`: that of the request, in place of the process's.
   *
   * @throws ServiceError `EMBEDDER_UNAVAILABLE` when the offline one fails as well.
   */
  embedQuery(model: string, text: string, log?: Logger): Promise<EmbeddedQuery>
}

export interface EmbeddersOptions {
  /** In place of the sentence model. */
  readonly offline?: Embedder | undefined
  /** One that is asked over the network. */
  readonly hosted?: Embedder | undefined
  /** Milliseconds from any fixed point on; default the process's own. */
  readonly now?: () => number
}

/** Puts the models of a process together. The sentence model is loaded when it is first asked. */
export function createEmbedders(
  log: Logger,
  { offline: given, hosted, now = () => performance.now() }: EmbeddersOptions = {},
): Embedders {
  const sentences =
    given === undefined && isSentenceModelInstalled() ? createSentenceModel() : undefined
  const offline = given ?? (sentences ? createSentenceEmbedder(sentences) : ngramEmbedder)
  const byName = new Map(
    [offline, ngramEmbedder, ...(hosted ? [hosted] : [])].map((one) => [one.model, one]),
  )
  let restsUntil = Number.NEGATIVE_INFINITY

  async function askFirst(
    embedder: Embedder,
    text: string,
    ofRequest: Logger,
  ): Promise<Float32Array | undefined> {
    if (embedder === hosted && now() < restsUntil) return undefined
    try {
      return await embedOne(embedder, text, { withinMs: searchWithinMs, isUrgent: true })
    } catch (error) {
      if (embedder !== hosted) throw error
      // One text that a server does not take says nothing about the next.
      const isOfText = error instanceof ModelFailed && error.code === 'request_rejected'
      if (!isOfText) restsUntil = now() + restMs
      // Of other errors nobody knows what they quote.
      const problem = error instanceof ModelFailed ? error.message : 'it failed'
      ofRequest.warn({ model: embedder.model, problem }, 'search falls back on the offline model')
      return undefined
    }
  }

  return {
    offline,
    all: [...byName.values()],
    find: (model) => byName.get(model),
    isHosted: (model) => model === hosted?.model,
    async embedQuery(model, text, ofRequest = log) {
      const asked = byName.get(model)
      const vector = asked && (await askFirst(asked, text, ofRequest))
      if (vector !== undefined) return { model, vector, fellBack: false }
      const offlineVector = await embedOne(offline, text, { isUrgent: true })
      return { model: offline.model, vector: offlineVector, fellBack: true }
    },
    async [Symbol.asyncDispose]() {
      await sentences?.[Symbol.asyncDispose]()
    },
  }
}
