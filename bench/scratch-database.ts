import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { migrateDatabase } from '../src/db/connect.ts'

/** A migrated database that is dropped again, and a superuser's way into it. */
export interface ScratchDatabase extends AsyncDisposable {
  readonly url: string
  readonly admin: Admin
}

/** A superuser's session. While the server is away, a query waits for it. */
export interface Admin {
  query<Row extends pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: Row[] }>
}

export async function createScratchDatabase(serverUrl: string): Promise<ScratchDatabase> {
  const name = `stepwarden_scratch_${process.pid}_${randomBytes(4).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const server = openAdmin(serverUrl)
  const drop = async (): Promise<void> => {
    await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    await server.end()
  }
  try {
    await server.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
    await migrateDatabase({ url: url.href })
  } catch (error) {
    await drop()
    throw error
  }
  const admin = openAdmin(url.href)
  return {
    url: url.href,
    admin,
    async [Symbol.asyncDispose]() {
      await admin.end()
      await drop()
    },
  }
}

/** How long a server may be away. */
const maxAwayMs = 180_000

function openAdmin(url: string): Admin & { readonly end: () => Promise<void> } {
  const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0 })
  // A connection that the server ends is dropped from the pool; without a listener it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  return {
    async query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) {
      const deadline = performance.now() + maxAwayMs
      for (;;) {
        try {
          return await pool.query<Row>(text, [...values])
        } catch (error) {
          // What the server refuses it refuses again; all else is a server that is away, or full.
          const isRefused =
            error instanceof pg.DatabaseError && !/^(53|57P|58)/.test(error.code ?? '')
          if (isRefused || performance.now() > deadline) throw error
          await sleep(100)
        }
      }
    },
    end: () => pool.end(),
  }
}
