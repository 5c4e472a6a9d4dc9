import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { ServiceError } from '../domain/errors.ts'
import { columnTypes } from './column-types.ts'
import { databaseName, explainDatabaseError } from './database-errors.ts'
import { openEmbedded } from './embedded.ts'
import { type ApprovalsChange, checkSchema, listApplied, migrateSchema } from './migrate.ts'
import { databaseRoles } from './roles.ts'
import { schemaHandle } from './schema-handle.ts'
import { holdAdvisoryLock, type SessionLock } from './session-lock.ts'
import { watchSilence } from './silence-watch.ts'
import { type DatabaseHandle, type TenantDb, TenantPool } from './tenant-pool.ts'

export type { DatabaseHandle, Db, TenantDb, Transaction } from './tenant-pool.ts'

/** What a deployment decides once, and no door can. Written by whoever migrates. */
export interface Deployment {
  /** How many people must approve a version before it goes live, 0 to 10; absent: as it is, and 1 on a new database. */
  readonly requiredApprovals?: number
}

interface PoolOptions {
  /** How long to wait for a free connection; default 10 s. */
  readonly connectionTimeoutMs?: number
}

/** A PostgreSQL server, 15 or newer with pgvector. */
export interface PostgresConfig extends PoolOptions, Deployment {
  /** `postgresql://user:password@host:5432/database` */
  readonly url: string
  /** The most connections at once, from 1; default 10. */
  readonly poolSize?: number
  /** After how long a statement that is not answered ends its connection, in milliseconds; default 60 s. */
  readonly maxSilenceMs?: number
}

/** PGlite in this process. */
export interface EmbeddedConfig extends PoolOptions, Deployment {
  /** A folder, made if absent, or `memory://`. */
  readonly dataDir: string
  /** A dump of a migrated database to begin with, for tests; with `memory://` only. */
  readonly template?: Blob
}

export type DatabaseConfig = PostgresConfig | EmbeddedConfig

/** An open database with an up-to-date schema, as the unprivileged role of the service. */
export interface Database extends AsyncDisposable {
  readonly kind: 'postgres' | 'pglite'
  /** Never fails and costs next to nothing; whether the tenant exists shows in its rows. */
  forTenant(tenantId: string): TenantDb
  /** For what belongs to no tenant: workers, embedding models, functions that cross tenants. It sees no tenant's rows. */
  readonly system: DatabaseHandle
  /**
   * Holds a PostgreSQL advisory lock on a connection of its own until it is disposed or this process dies: other
   * processes see the death at once. `key` is a non-negative safe integer. The embedded database has one session and
   * one process, so there is nothing to hold.
   */
  holdSessionLock(key: number): Promise<SessionLock>
  /** The driver's pool, for those who look after connections. Take clients by `connect()`; a `query` on it is banned. */
  readonly pool: Omit<pg.Pool, 'query'>
}

const defaultConnectionTimeoutMs = 10_000
const defaultPoolSize = 10
const defaultMaxSilenceMs = 60_000
/** Whoever is locked out so long is told so, and does not hold up those that share a transaction with it. */
const lockWait = '-c lock_timeout=5s'
const appRole = `-c role=${databaseRoles.app}`

/**
 * Opens a database. An embedded one is made and migrated as needed; a shared one must have been migrated before.
 * Disposing it waits for connections that are in use.
 *
 * @throws ServiceError `DATABASE_UNAVAILABLE`, `DATABASE_NOT_READY`, `SCHEMA_OUTDATED`, `SCHEMA_NEEDS_NEWER_CODE`;
 *   for a folder `DATA_FOLDER_IN_USE`, `DATA_FOLDER_UNUSABLE`.
 */
export async function openDatabase(config: DatabaseConfig): Promise<Database> {
  return 'url' in config ? openPostgres(config) : openLite(config)
}

/**
 * Migrates a database as the login of its URL, which owns the database or is a superuser, and answers the names of
 * the migrations that were applied; `onApprovals` is told of another number of required approvals. Any number of clients may do so at once.
 *
 * @throws ServiceError as `openDatabase` does, but for `SCHEMA_OUTDATED`.
 */
export async function migrateDatabase(
  config: DatabaseConfig,
  onApprovals?: (change: ApprovalsChange) => void,
): Promise<readonly string[]> {
  const options = { ...config, ...(onApprovals && { onApprovals }) }
  await using login = await openAsLogin(config)
  const name = 'url' in config ? databaseName(config.url) : config.dataDir
  try {
    return await migrateSchema(login.kysely, name, options)
  } catch (error) {
    throw 'url' in config ? explainDatabaseError(error, name) : error
  }
}

/** A database as the login of its URL has it: for those who make and look after its schema. */
export interface LoginDatabase extends AsyncDisposable {
  readonly kind: Database['kind']
  readonly kysely: Kysely<unknown>
}

/** What a schema is looked after with. */
export interface LoginOptions {
  /** Default 1. */
  readonly poolSize?: number
  /** What the server has to say beside its answers. An embedded one says nothing. */
  readonly onNotice?: (message: string) => void
}

/**
 * Opens a database as the login of its URL, whose statements may take as long as they like.
 *
 * @throws ServiceError for a folder what `openDatabase` throws.
 */
export async function openAsLogin(
  config: DatabaseConfig,
  { poolSize = 1, onNotice }: LoginOptions = {},
): Promise<LoginDatabase> {
  if (!('url' in config)) {
    const lite = await openEmbedded(embeddedOptions(config))
    return {
      kind: 'pglite',
      kysely: schemaHandle(lite.pool),
      [Symbol.asyncDispose]: () => lite.close(),
    }
  }
  const pool = postgresPool({ ...config, poolSize }, '')
  pool.on('connect', (client) => {
    client.on('notice', ({ message }) => onNotice?.(message ?? ''))
  })
  return {
    kind: 'postgres',
    kysely: schemaHandle(pool),
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

async function openPostgres(config: PostgresConfig): Promise<Database> {
  const database = databaseName(config.url)
  const pool = postgresPool(config, appRole, lockWait)
  const watch = watchSilence(pool, config.maxSilenceMs ?? defaultMaxSilenceMs)
  try {
    const schema = schemaHandle(pool)
    await refuseOtherEncoding(schema, database)
    checkSchema(await listApplied(schema), database)
  } catch (error) {
    watch[Symbol.dispose]()
    await pool.end()
    throw explainDatabaseError(error, database)
  }
  const lockConfig = clientConfig(config, appRole)
  return assemble('postgres', pool, config, {
    async close() {
      using _watch = watch
      await pool.end()
    },
    holdSessionLock: (key) => holdAdvisoryLock(lockConfig, key),
  })
}

async function openLite(config: EmbeddedConfig): Promise<Database> {
  const lite = await openEmbedded(embeddedOptions(config))
  try {
    const schema = schemaHandle(lite.pool)
    await migrateSchema(schema, config.dataDir, config)
    // The one session stays this role from now on.
    await sql`SET ROLE ${sql.id(databaseRoles.app)}`.execute(schema)
  } catch (error) {
    await lite.close()
    throw error
  }
  return assemble('pglite', lite.pool, config, {
    close: lite.close,
    holdSessionLock: async () => ({ isSteady: () => true, [Symbol.asyncDispose]: async () => {} }),
  })
}

function assemble(
  kind: Database['kind'],
  pool: pg.Pool,
  config: PoolOptions,
  { close, holdSessionLock }: Pick<Database, 'holdSessionLock'> & { close: () => Promise<void> },
): Database {
  const tenants = new TenantPool(pool, config.connectionTimeoutMs ?? defaultConnectionTimeoutMs)
  return {
    kind,
    forTenant: (tenantId) => tenants.handle(tenantId),
    // No tenant has an empty id, so the tag of an earlier user of the connection is taken off.
    system: tenants.handle(''),
    holdSessionLock,
    pool,
    [Symbol.asyncDispose]: close,
  }
}

function embeddedOptions(config: EmbeddedConfig) {
  return {
    ...config,
    connectionTimeoutMs: config.connectionTimeoutMs ?? defaultConnectionTimeoutMs,
  }
}

function postgresPool(config: PostgresConfig, startOptions: string, defaults = ''): pg.Pool {
  const pool = new pg.Pool({
    ...clientConfig(config, startOptions, defaults),
    max: config.poolSize ?? defaultPoolSize,
  })
  // A connection that the server ends while it is idle is dropped from the pool, and the next user opens another; while it
  // is in use, its next query fails. Without listeners either event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  return pool
}

/** `startOptions` are added to what the URL itself gives as `options`. */
/** Of the options that the server is sent, the URL's own take the place of `defaults`, and `startOptions` that of both. */
function clientConfig(config: PostgresConfig, startOptions: string, defaults = '') {
  const url = new URL(config.url)
  const own = url.searchParams.get('options') ?? ''
  const options = [defaults, own, startOptions].join(' ').trim()
  if (options !== '') url.searchParams.set('options', options)
  return {
    connectionString: url.href,
    connectionTimeoutMillis: config.connectionTimeoutMs ?? defaultConnectionTimeoutMs,
    keepAlive: true,
    application_name: 'stepwarden',
    types: columnTypes,
  }
}

/** Hashes are taken over UTF-8 bytes, in the database as well. */
async function refuseOtherEncoding(db: Kysely<unknown>, database: string): Promise<void> {
  const { rows } = await sql<{ server_encoding: string }>`SHOW server_encoding`.execute(db)
  const encoding = rows[0]?.server_encoding
  if (encoding === 'UTF8') return
  throw new ServiceError('DATABASE_NOT_READY', {
    database,
    problem: `its encoding is ${encoding}, not UTF8`,
    nextMove: "Create another with ENCODING 'UTF8' and run 'stepwarden migrate' there.",
  })
}
