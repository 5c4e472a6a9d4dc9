import pg from 'pg'

const retryEveryMs = 200
/** How long the others get to take their locks again as well: five tries. */
const settleMs = 1_000

/** True of a server that has begun so lately that the locks of others may not be taken again yet. */
const isFreshServer = `SELECT clock_timestamp() - pg_postmaster_start_time() < interval '10 seconds' AS is_fresh`

/** A lock that the server frees the moment this process is gone. */
export interface SessionLock extends AsyncDisposable {
  /**
   * False from when the lock was lost until a while after it was taken again, and for that while on a server that has just
   * begun. What cut its connection, a restart of the server for one, may have cut those of all others: locks that nobody
   * holds then say nothing of who is gone.
   */
  isSteady(): boolean
}

/**
 * Holds an advisory lock on a connection of its own until it is disposed. A connection that is lost is opened anew as soon
 * as the server allows; until then, others may believe that the process is gone, and fencing keeps that harmless.
 *
 * Throws what the driver throws if the lock cannot be taken at first.
 */
export async function holdAdvisoryLock(config: pg.ClientConfig, key: number): Promise<SessionLock> {
  let retry: NodeJS.Timeout | undefined
  let disposed = false
  let steadyFrom = 0

  async function take(): Promise<pg.Client> {
    const client = new pg.Client(config)
    // Before there is a connection the error also rejects `connect`; after that it means that the lock is lost.
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('SELECT pg_advisory_lock($1)', [key])
    } catch (error) {
      await client.end().catch(() => undefined)
      throw error
    }
    client.once('end', () => {
      steadyFrom = Number.POSITIVE_INFINITY
      takeAgain()
    })
    return client
  }

  function takeAgain(): void {
    if (disposed) return
    retry = setTimeout(() => {
      holder = take()
      holder.then(
        () => {
          steadyFrom = performance.now() + settleMs
        },
        // What keeps it from coming back now is tried again; the next query of anyone reports the cause.
        takeAgain,
      )
    }, retryEveryMs)
    retry.unref()
  }

  let holder = take()
  const { rows } = await (await holder).query<{ is_fresh: boolean }>(isFreshServer)
  if (rows[0]?.is_fresh === true) steadyFrom = performance.now() + settleMs
  return {
    isSteady: () => performance.now() >= steadyFrom,
    async [Symbol.asyncDispose]() {
      disposed = true
      clearTimeout(retry)
      const client = await holder.catch(() => undefined)
      await client?.end()
    },
  }
}
