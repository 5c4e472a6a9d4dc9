import type { Clock } from '../executor/ports.ts'

/** A clock that follows the database server's, so that it does not matter how far off that of this machine is. */
export interface ServerClock extends Clock {
  /** Notes what the server's clock has said (epoch milliseconds), between two moments of `performance.now()`. */
  heard(serverMs: number, sentAt: number, receivedAt: number): void
}

/** Runs by the steady clock of this process in between; until the server is heard, from this machine's time. */
export function createServerClock(): ServerClock {
  let startedAt = Date.now() - performance.now()
  return {
    now: () => Math.floor(startedAt + performance.now()),
    heard(serverMs, sentAt, receivedAt) {
      const drift = serverMs - (sentAt + receivedAt) / 2 - startedAt
      // Within the time that the answer took nobody knows which of the two is right.
      if (Math.abs(drift) > (receivedAt - sentAt) / 2) startedAt += drift
    },
  }
}
