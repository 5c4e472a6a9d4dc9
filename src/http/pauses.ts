import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'

/** Both listen to `signal` no longer than they wait: a stream may go on for weeks. Neither throws when it is aborted. */

/** Resolves when the reader has caught up, or is gone. */
export async function drained(out: NodeJS.WritableStream, signal: AbortSignal): Promise<void> {
  await once(out, 'drain', { signal }).catch(() => {})
}

/** Resolves after so many milliseconds, or when nobody waits any more. */
export async function passed(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {})
}
