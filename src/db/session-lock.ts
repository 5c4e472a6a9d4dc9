import pg from 'pg'

const retryEveryMs = 1_000

/**
 * Holds an advisory lock on a connection of its own until it is disposed, so that the server frees it the moment this
 * process is gone. A connection that is lost is opened anew every second; until that succeeds, others may believe
 * that the process is gone, and fencing keeps that harmless.
 *
 * Throws what the driver throws if the lock cannot be taken at first.
 */
export async function holdAdvisoryLock(
  config: pg.ClientConfig,
  key: number,
): Promise<AsyncDisposable> {
  let retry: NodeJS.Timeout | undefined
  let disposed = false

  async function take(): Promise<pg.Client> {
    const client = new pg.Client({ ...config, keepAlive: true })
    // Before there is a connection the error also rejects `connect`; after that it means that the lock is lost.
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('SELECT pg_advisory_lock($1)', [key])
    } catch (error) {
      await client.end().catch(() => undefined)
      throw error
    }
    client.once('end', takeAgain)
    return client
  }

  function takeAgain(): void {
    if (disposed) return
    retry = setTimeout(() => {
      holder = take()
      // What keeps it from coming back now is tried again; the next query of anyone reports the cause.
      holder.catch(takeAgain)
    }, retryEveryMs)
    retry.unref()
  }

  let holder = take()
  await holder
  return {
    async [Symbol.asyncDispose]() {
      disposed = true
      clearTimeout(retry)
      const client = await holder.catch(() => undefined)
      await client?.end()
    },
  }
}
