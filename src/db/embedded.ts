import { existsSync, fsyncSync, mkdirSync, rmSync } from 'node:fs'
import { open, readdir, rename } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { createPgConfig } from '@electric-sql/pglite/node-postgres'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { vector } from '@electric-sql/pglite-pgvector'
import pg from 'pg'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import { columnTypes } from './column-types.ts'
import { lockDataFolder } from './data-folder-lock.ts'
import { keepUp } from './embedded-upkeep.ts'

/** Keeps everything in memory and nothing after the process; for tests. */
export const memoryDataDir = 'memory://'

const upkeepEveryMs = 30_000

export interface EmbeddedOptions {
  /** A folder, made if absent, or `memory://`. */
  readonly dataDir: string
  readonly connectionTimeoutMs: number
  /** What `PGlite.dumpDataDir` made, to begin with instead of an empty database; with `memory://` only. */
  readonly template?: Blob
}

/** A PostgreSQL inside this process, behind the driver's own pool of one connection. */
export interface EmbeddedPostgres {
  readonly pool: pg.Pool
  readonly lite: PGlite
  /** Waits for the connection to come back, then stops PostgreSQL and gives the folder back. */
  close(): Promise<void>
}

/**
 * Opens PGlite in a data folder that no other process has open.
 *
 * @throws ServiceError `DATA_FOLDER_IN_USE`; `DATA_FOLDER_UNUSABLE` for a folder that cannot be written or read.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  if (options.dataDir === memoryDataDir) {
    const { template } = options
    const lite = await createLite(template === undefined ? {} : { loadDataDir: template })
    const pool = behindPool(lite, options)
    const close = async () => {
      await pool.end()
      await lite.close()
    }
    return { pool, lite, close }
  }
  const folder = resolve(options.dataDir)
  let unlock = () => {}
  try {
    // What customers wrote is in it.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    unlock = lockDataFolder(folder)
    const database = join(folder, 'postgres')
    if (!existsSync(database)) await createCluster(database)
    const lite = await createLite({
      fs: new DurableNodeFS(database),
      startParams: durableStartParams,
    })
    return withUpkeep(lite, behindPool(lite, options), unlock)
  } catch (error) {
    unlock()
    if (isServiceError(error)) throw error
    throw new ServiceError(
      'DATA_FOLDER_UNUSABLE',
      { folder, problem: describeProblem(error) },
      { cause: error },
    )
  }
}

/** PGlite's file system throws objects that are no `Error`, with the error numbers of WebAssembly. */
function describeProblem(error: unknown): string {
  if (error instanceof Error && error.message !== '') return error.message
  const errno = error instanceof Object && 'errno' in error ? Number(error.errno) : undefined
  const known = new Map([
    [2, 'permission denied'],
    [51, 'no space is left on its disk'],
    [69, 'its file system is read-only'],
  ])
  return known.get(errno ?? 0) ?? `PGlite failed on its files (error ${errno ?? 'unknown'})`
}

function withUpkeep(lite: PGlite, pool: pg.Pool, unlock: () => void): EmbeddedPostgres {
  let upkeep = Promise.resolve()
  const timer = setInterval(() => {
    // What fails now is due again the next time; a query that meets the same cause reports it.
    upkeep = upkeep.then(() => keepUpOver(pool)).catch(() => {})
  }, upkeepEveryMs)
  timer.unref()
  return {
    pool,
    lite,
    async close() {
      clearInterval(timer)
      try {
        await upkeep
        // A command that is over within seconds never comes to the timer. Where it fails, the next start takes longer.
        await keepUpOver(pool).catch(() => {})
        await pool.end()
        await lite.close()
      } finally {
        unlock()
      }
    },
  }
}

type Init = NodeFS['init']

/**
 * PGlite's files in a folder, with an fsync that is a real one: as it comes, PGlite never waits for the disk, and a
 * power failure could take back what was committed. To be used with `durableStartParams`.
 */
class DurableNodeFS extends NodeFS {
  override async init(lite: PGlite, options: Parameters<Init>[1]): ReturnType<Init> {
    const { emscriptenOpts } = await super.init(lite, {
      ...options,
      preRun: [...(options.preRun ?? []), ({ FS }) => makeDurable(FS.filesystems.NODEFS, FS)],
    })
    return { emscriptenOpts }
  }
}

/** PostgreSQL's own fsync is on, by the one way to sync that the WebAssembly build can take. */
const durableStartParams: string[] = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
]

// The number of EIO in WebAssembly.
const ioError = 29

function makeDurable(
  files: object,
  { ErrnoError }: { readonly ErrnoError: new (code: number) => Error },
): void {
  if (!('stream_ops' in files) || !(files.stream_ops instanceof Object)) {
    throw new Error('this PGlite has no NODEFS.stream_ops, so its writes cannot be made durable')
  }
  Object.assign(files.stream_ops, {
    fsync({ nfd }: { readonly nfd: number }) {
      try {
        fsyncSync(nfd)
      } catch {
        // PostgreSQL knows what to do with this error: it stops rather than trust a disk that failed to sync.
        throw new ErrnoError(ioError)
      }
    },
  })
}

function createLite(options: PGliteOptions): Promise<PGlite> {
  return PGlite.create({ ...options, extensions: { vector } })
}

/**
 * Makes the files of a new database beside their place and moves them there when they are complete and on disk, so
 * that a process killed while it does so leaves nothing that looks like a database.
 */
async function createCluster(database: string): Promise<void> {
  const unfinished = `${database}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  const lite = await createLite({ fs: new NodeFS(unfinished) })
  await lite.close()
  await syncTree(unfinished)
  await rename(unfinished, database)
  await syncFile(resolve(database, '..'))
}

async function syncTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true })
  await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? syncTree(path) : syncFile(path)
    }),
  )
  await syncFile(folder)
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

function behindPool(lite: PGlite, { connectionTimeoutMs }: EmbeddedOptions): pg.Pool {
  return new pg.Pool({
    ...createPgConfig(lite),
    // One session: the connection must be the same for ever, because its role and its tenant's tag are set on it.
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: connectionTimeoutMs,
    types: columnTypes,
  })
}

async function keepUpOver(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    await keepUp(client)
  } finally {
    client.release()
  }
}
