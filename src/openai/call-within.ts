import { isPassing, ModelFailed } from './failure.ts'
import { toModelFailure } from './sdk-failure.ts'
import { withinTime } from './within-time.ts'

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
 * Calls a model server through the SDK, again where that can help, and gives up when the time is over. `call` passes
 * the signal on. `signal` ends it earlier.
 *
 * The SDK's own time limit does not cover the body of an answer, so a server that stops in the middle of one would
 * never be given up.
 *
 * @throws ModelFailed; an error that is none of the SDK's comes out as it is.
 */
export function callWithin<T>(
  { timeoutMs, maxAttempts = 2 }: CallLimits,
  call: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return withinTime(timeoutMs, (ends) => attemptAll(call, ends, maxAttempts), signal)
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
      const failure = toModelFailure(error)
      const isLast = signal.aborted || attempt >= maxAttempts
      if (isLast || !(failure instanceof ModelFailed && isPassing(failure))) throw failure
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs))
      if (signal.aborted) throw failure
    }
  }
}
