import type pg from 'pg'

/** What the driver keeps of a connection, and its types leave out. */
interface Wired {
  /** The statement that is not answered yet. */
  readonly _activeQuery?: unknown
  readonly connection?: { readonly stream?: { destroy(error?: Error): void } }
}

interface Seen {
  readonly query: unknown
  readonly since: number
}

/**
 * Gives connections up that do not answer a statement: one that fell silent without being closed would hold its run for
 * as long as the operating system keeps it, and the worker with it.
 *
 * One timer looks at all of them: a timer for each statement would be a tenth of what it costs.
 */
export function watchSilence(pool: pg.Pool, maxMs: number): Disposable {
  const seen = new Map<pg.PoolClient, Seen | undefined>()
  pool.on('connect', (client) => seen.set(client, undefined))
  pool.on('remove', (client) => seen.delete(client))
  const timer = setInterval(
    () => {
      const now = performance.now()
      for (const [client, before] of seen) {
        const { _activeQuery: query, connection } = client as Wired
        if (query === undefined || query === null) seen.set(client, undefined)
        else if (before?.query !== query) seen.set(client, { query, since: now })
        else if (now - before.since >= maxMs) {
          const error = new Error(`Connection terminated: no answer for ${maxMs} ms`)
          connection?.stream?.destroy(error)
        }
      }
    },
    Math.ceil(maxMs / 4),
  )
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
