import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrateDatabase } from '../src/db/connect.ts'

/** A migrated database that is dropped again, and a superuser's way into it. */
export interface ScratchDatabase extends AsyncDisposable {
  readonly url: string
  readonly admin: pg.Client
}

export async function createScratchDatabase(serverUrl: string): Promise<ScratchDatabase> {
  const name = `stepwarden_scratch_${process.pid}_${randomBytes(4).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  // On a connection of its own each, because the server may have been restarted in between.
  const onServer = async (statement: string): Promise<void> => {
    const server = await connect(serverUrl)
    await server.query(statement).finally(() => server.end())
  }
  const drop = () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  try {
    await onServer(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
    await migrateDatabase({ url: url.href, requiredApprovals: 0 })
    const admin = await connect(url.href)
    return {
      url: url.href,
      admin,
      async [Symbol.asyncDispose]() {
        await admin.end()
        await drop()
      },
    }
  } catch (error) {
    await drop()
    throw error
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  // A connection that the server ends rejects the next query; without a listener it would end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}
