import { isPassing, ModelFailed, toModelFailure } from './failure.ts'

/** How long one thing that is asked of a model server may take. */
export interface CallLimits {
  /** For all attempts and the waits between them, in milliseconds. */
  readonly timeoutMs: number
  /** Counts the first; default 2. Only what may pass by itself is tried again. */
  readonly maxAttempts?: number
}

/** Before an attempt is repeated. A server that asks for more is not going to answer in the time that there is. */
const retryDelayMs = 200

/**
 * Calls a model server, again where that can help, and gives up when the time is over. `call` passes the signal on;
 * the promise settles in time even when `call` does not heed it. `signal` ends it earlier.
 *
 * The SDK's own time limit does not cover the body of an answer, so a server that stops in the middle of one would
 * never be given up.
 *
 * @throws ModelFailed; an error that is none of the SDK's comes out as it is.
 */
export async function callWithin<T>(
  { timeoutMs, maxAttempts = 2 }: CallLimits,
  call: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const timer = new AbortController()
  const timeout = setTimeout(() => timer.abort(), timeoutMs)
  const ends = AbortSignal.any([timer.signal, ...(signal === undefined ? [] : [signal])])
  const ended = new Promise<never>((_, reject) => {
    ends.addEventListener('abort', () => reject(timedOut()), { once: true })
  })
  try {
    if (ends.aborted) throw timedOut()
    return await Promise.race([attemptAll(call, ends, maxAttempts), ended])
  } finally {
    clearTimeout(timeout)
  }
}

async function attemptAll<T>(
  call: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
  maxAttempts: number,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call(signal)
    } catch (error) {
      if (signal.aborted) throw timedOut()
      const failure = toModelFailure(error)
      if (!(failure instanceof ModelFailed && isPassing(failure)) || attempt >= maxAttempts) {
        throw failure
      }
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs))
      if (signal.aborted) throw timedOut()
    }
  }
}

function timedOut(): ModelFailed {
  return new ModelFailed('timed_out', 'The model server did not answer in time.')
}
