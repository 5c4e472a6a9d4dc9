import type pg from 'pg'

/** Gives connections up that do not answer: one that fell silent without being closed would hold its run for minutes. */
export interface SilenceWatch extends Disposable {
  asks(client: pg.PoolClient): void
  isAnswered(client: pg.PoolClient): void
}

/** The way to a connection's socket, which the driver's types leave out. */
interface Wired {
  readonly connection?: { readonly stream?: { destroy(error?: Error): void } }
}

/** One timer looks after all connections: a timer for each statement would be a tenth of its cost. */
export function watchSilence(maxMs: number): SilenceWatch {
  const askedAt = new Map<pg.PoolClient, number>()
  const timer = setInterval(
    () => {
      const tooLongAgo = performance.now() - maxMs
      for (const [client, at] of askedAt) {
        if (at > tooLongAgo) continue
        askedAt.delete(client)
        const error = new Error(`Connection terminated: no answer for ${maxMs} ms`)
        Object(client as Wired).connection?.stream?.destroy(error)
      }
    },
    Math.ceil(maxMs / 4),
  )
  timer.unref()
  return {
    asks: (client) => void askedAt.set(client, performance.now()),
    isAnswered: (client) => void askedAt.delete(client),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
