import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { type Database, type DatabaseConfig, openDatabase } from '../../src/db/connect.ts'
import { databaseRoles } from '../../src/db/roles.ts'
import type { TestBackend } from './database-setup.ts'

/** What a hand-written statement may do; used by tests that attack. */
export type RawClient = Pick<pg.ClientBase, 'query'>

/** A migrated database that one test file has for itself. */
export interface TestDatabase {
  readonly kind: Database['kind']
  readonly database: Database
  /** Opens the same database once more, where there is a server. */
  readonly config: DatabaseConfig
  /** Runs statements as the application's role, tagged with a tenant, past all code of the service. */
  asApp<T>(tenantId: string, run: (client: RawClient) => Promise<T>): Promise<T>
  /** Runs statements as the role that owns the tables. */
  asOwner<T>(tenantId: string, run: (client: RawClient) => Promise<T>): Promise<T>
  /** Sets how many people must approve what goes live, as whoever migrates does; told in the audit log. */
  requireApprovals(count: number): Promise<void>
  /** Adds a tenant, besides `default`. */
  addTenant(tenantId: string): Promise<void>
}

/** What may be set otherwise than in production. */
export interface TestDatabaseOptions {
  readonly poolSize?: number
  readonly connectionTimeoutMs?: number
}

/**
 * Gives a test file its own database, cloned from the migrated template of the backend that the run has chosen:
 * `const db = await openTestDatabase()` at the top of the file. It is closed and dropped after the file's last test,
 * which fails if a connection is still in use then.
 */
export async function openTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const backend = inject('backend')
  const { config, drop } = await clone(backend)
  const database = await openDatabase({ ...config, ...options })
  afterAll(async () => {
    const inUse = database.pool.totalCount - database.pool.idleCount
    if (inUse > 0) throw new Error(`${inUse} connections were still in use after the last test`)
    await database[Symbol.asyncDispose]()
    await drop()
  })
  const as = 'url' in config ? overConnection(config.url) : overSession(database)
  return {
    kind: database.kind,
    database,
    config,
    asApp: (tenantId, run) => as(databaseRoles.app, tenantId, run),
    asOwner: (tenantId, run) => as(databaseRoles.owner, tenantId, run),
    requireApprovals: (count) =>
      as(databaseRoles.owner, 'default', async (client) => {
        await client.query('UPDATE governance SET required_approvals = $1', [count])
      }),
    async addTenant(tenantId) {
      const row = { id: tenantId, name: tenantId, created_at: new Date() }
      await database.forTenant(tenantId).kysely.insertInto('tenants').values(row).execute()
    },
  }
}

interface Clone {
  readonly config: DatabaseConfig
  readonly drop: () => Promise<void>
}

async function clone(backend: TestBackend): Promise<Clone> {
  if (backend.kind === 'pglite') {
    const template = new Blob([readFileSync(backend.templateFile)])
    return { config: { dataDir: 'memory://', template }, drop: async () => {} }
  }
  const name = `stepwarden_test_${process.pid}_${randomBytes(4).toString('hex')}`
  await onServer(backend.url, `CREATE DATABASE ${name} TEMPLATE ${backend.template}`)
  // What `prepareDatabase` takes away is a right of the database, which no copy has.
  await onServer(backend.url, `REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC`)
  const url = new URL(backend.url)
  url.pathname = `/${name}`
  return {
    config: { url: url.href },
    async drop() {
      try {
        // Without FORCE, so that a connection which somebody left open is an error.
        await onServer(backend.url, `DROP DATABASE ${name}`)
      } catch (error) {
        await onServer(backend.url, `DROP DATABASE ${name} WITH (FORCE)`)
        throw error
      }
    },
  }
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

type RunAs = <T>(
  role: string,
  tenantId: string,
  run: (client: RawClient) => Promise<T>,
) => Promise<T>

function overConnection(url: string): RunAs {
  return async (role, tenantId, run) => {
    const client = new pg.Client({ connectionString: url, options: `-c role=${role}` })
    await client.connect()
    try {
      await client.query("SELECT set_config('stepwarden.tenant', $1, false)", [tenantId])
      return await run(client)
    } finally {
      await client.end()
    }
  }
}

/** PGlite has one session: it is borrowed, and given back with the role and the tag that it had. */
function overSession(database: Database): RunAs {
  return async (role, tenantId, run) => {
    const client = await database.pool.connect()
    try {
      const { rows } = await client.query<{ tag: string }>(
        "SELECT coalesce(current_setting('stepwarden.tenant', true), '') AS tag",
      )
      try {
        await client.query(`SET ROLE ${role}`)
        await client.query("SELECT set_config('stepwarden.tenant', $1, false)", [tenantId])
        return await run(client)
      } finally {
        await client.query(`SET ROLE ${databaseRoles.app}`)
        await client.query("SELECT set_config('stepwarden.tenant', $1, false)", [rows[0]?.tag])
      }
    } finally {
      client.release()
    }
  }
}
