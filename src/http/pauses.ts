import { once } from 'node:events'

/**
 * Resolves when the reader has caught up, or is gone; it does not throw then. It listens to `signal` no longer than it
 * waits: a stream may go on for weeks.
 */
export async function drained(out: NodeJS.WritableStream, signal: AbortSignal): Promise<void> {
  await once(out, 'drain', { signal }).catch(() => {})
}
