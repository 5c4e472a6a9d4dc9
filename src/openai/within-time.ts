import { ModelFailed } from './failure.ts'

/**
 * Runs something that asks a model, and gives up when the time is over or `signal` is aborted. `run` is told by the
 * signal that it gets; the promise settles in time even when it does not heed that.
 *
 * @throws ModelFailed `timed_out`; what `run` throws comes out as it is.
 */
export async function withinTime<T>(
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<T>,
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
    return await Promise.race([run(ends), ended])
  } finally {
    clearTimeout(timeout)
  }
}

function timedOut(): ModelFailed {
  return new ModelFailed('timed_out', 'The model server did not answer in time.')
}
