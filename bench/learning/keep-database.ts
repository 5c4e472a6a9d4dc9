import pg from 'pg'
import { migrateDatabase } from '../../src/db/connect.ts'
import type { ScratchDatabase } from '../scratch-database.ts'

/** A migrated database that stays: made on the server, unless it is there already. */
export async function keepDatabase(serverUrl: string, name: string): Promise<ScratchDatabase> {
  if (!/^stepwarden_bench[a-z0-9_]*$/.test(name)) {
    throw new Error(`${name}: a database that is kept has a name like stepwarden_bench_million.`)
  }
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const server = new pg.Client(serverUrl)
  await server.connect()
  try {
    const { rowCount } = await server.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) {
      await server.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
    }
  } finally {
    await server.end()
  }
  await migrateDatabase({ url: url.href, requiredApprovals: 0 })
  const admin = new pg.Client(url.href)
  await admin.connect()
  return { url: url.href, admin, [Symbol.asyncDispose]: () => admin.end() }
}
