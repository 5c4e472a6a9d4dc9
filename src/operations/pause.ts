import { setTimeout } from 'node:timers/promises'

/** Waits for some milliseconds, or until `signal` is aborted; false when it is. */
export async function pause(ms: number, signal?: AbortSignal): Promise<boolean> {
  if (ms > 0 && signal?.aborted !== true) {
    // An abort is all that can end it early.
    await setTimeout(ms, undefined, signal && { signal }).catch(() => undefined)
  }
  return signal?.aborted !== true
}
