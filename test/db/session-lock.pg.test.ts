import { createServer, connect as dial } from 'node:net'
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { holdAdvisoryLock } from '../../src/db/session-lock.ts'
import { openTestDatabase } from '../support/database.ts'

const db = await openTestDatabase()
const server = new URL('url' in db.config ? db.config.url : '')

/** Once set, nothing passes on the connections that are open, and nothing says so: as when a firewall forgets them. */
let silenced = false
const network = createServer((client) => {
  const upstream = dial(Number(server.port), server.hostname)
  const isOld = () => silenced && openedBefore
  const openedBefore = !silenced
  client.on('data', (sent) => isOld() || upstream.write(sent))
  upstream.on('data', (received) => isOld() || client.write(received))
  // The server frees what a connection held, as it does for one that has timed out.
  client.on('close', () => upstream.destroy())
  for (const socket of [client, upstream]) socket.on('error', () => {})
})
await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve))
afterAll(() => new Promise<void>((resolve) => network.close(() => resolve())))

it('a lock whose connection falls silent is taken again on another', async () => {
  const address = network.address()
  const url = new URL(server)
  url.port = String(typeof address === 'object' ? address?.port : '')
  const lock = await holdAdvisoryLock({ connectionString: url.href }, 42)
  await expect.poll(lock.isSteady, { timeout: 15_000 }).toBe(true)

  silenced = true

  await expect.poll(lock.isSteady, { timeout: 15_000 }).toBe(false)
  await expect.poll(lock.isSteady, { timeout: 15_000 }).toBe(true)
  const admin = new pg.Client(server.href)
  await admin.connect()
  const { rows } = await admin.query('SELECT pg_try_advisory_lock(42) AS mine')
  await admin.end()
  expect(rows).toEqual([{ mine: false }])
  await lock[Symbol.asyncDispose]()
}, 60_000)
