import pg from 'pg'

type Statement = readonly [text: string, values: unknown[]]

/**
 * The statements that `work` sends to the database, on whichever connection. Only of what reads: it has to bear being
 * repeated.
 */
async function recordStatements(work: () => Promise<unknown>): Promise<readonly Statement[]> {
  const { prototype } = pg.Client
  const original = prototype.query
  const statements: Statement[] = []
  prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [first, values] = given
    const { text, values: own } =
      typeof first === 'string' ? { text: first, values } : Object(first)
    // What marks a connection is sent once, and says nothing of this operation.
    if (!text.includes('set_config')) statements.push([text, Array.isArray(own) ? own : []])
    return Reflect.apply(original, this, given)
  } as typeof original
  try {
    await work()
  } finally {
    prototype.query = original
  }
  return statements
}

/** The bare database work of an operation that reads: its own statements over a plain pool, and nothing else. */
export async function openBareReads(url: string, poolSize: number, work: () => Promise<unknown>) {
  // The first read of a run is noted in the audit log; those that follow at once are not.
  await work()
  const statements = await recordStatements(work)
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    options: '-c stepwarden.tenant=default',
  })
  return {
    async runOne() {
      const client = await pool.connect()
      try {
        for (const [text, values] of statements) await client.query(text, values)
      } finally {
        client.release()
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
