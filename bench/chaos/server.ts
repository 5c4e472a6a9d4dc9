import { execFile } from 'node:child_process'
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { isOutage } from '../../src/db/database-errors.ts'

/** A superuser's queries. Each is asked again until the server is there to answer it, for a minute and a half at most. */
export interface Admin extends AsyncDisposable {
  query<Row extends pg.QueryResultRow>(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: readonly Row[] }>
}

const patienceMs = 90_000
const askEveryMs = 100

export function openAdmin(url: string): Admin {
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  // The next query opens another connection; without a listener the event would end the process.
  pool.on('error', () => {})
  return {
    async query(text, values) {
      const startedAt = performance.now()
      for (;;) {
        try {
          return await pool.query(text, values)
        } catch (error) {
          if (!isOutage(error) || performance.now() - startedAt > patienceMs) throw error
          await sleep(askEveryMs)
        }
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

/** The PostgreSQL server itself, on this machine: what can be done to its process and to its disk. */
export interface Server {
  /** Stops it at once, as a crash does, and starts it again. Resolves when it answers. */
  restart(): Promise<void>
  /**
   * Leaves nothing free on its disk for some seconds, then frees it, and starts the server if it has stopped. `forLog`:
   * its log of changes needs a new file meanwhile, and cannot have it. Resolves, when it answers again, with what was
   * seen of it.
   */
  fillDisk(forLog: boolean): Promise<FullDisk>
}

export interface FullDisk {
  /** A statement was refused because a file of data could not grow. */
  readonly refused: boolean
  /** The server ended all its connections, or was gone altogether. */
  readonly crashed: boolean
}

const fullMs = 4_000
/** What may be filled is made for it: no disk of this size holds anything else of value. */
const largestDiskBytes = 2 * 1024 ** 3

/**
 * The server of `url`, whose folder `.ci/postgres` has printed as TEST_DATABASE_DIR.
 *
 * @throws Error that says what is wrong with the folder.
 */
export async function openServer(
  url: string,
  dir: string | undefined,
  needs: { readonly smallDisk: boolean },
): Promise<Server> {
  if (dir === undefined || dir === '') {
    throw new Error(
      'TEST_DATABASE_DIR is not set: --restarts and --full-disks need the folder of the server, as .ci/postgres prints it.',
    )
  }
  if (!existsSync(join(dir, 'data', 'PG_VERSION'))) {
    throw new Error(`TEST_DATABASE_DIR: '${dir}' holds no server of .ci/postgres.`)
  }
  const data = realpathSync(join(dir, 'data'))
  await refuseOtherServer(url, data)
  if (needs.smallDisk) refuseOtherDisk(dir)
  const ballast = join(dir, 'ballast')
  const pgCtl = pgCtlOf(data, join(dir, 'log'))

  async function untilItAnswers(): Promise<void> {
    const startedAt = performance.now()
    for (;;) {
      const seen = await probe(url, 'SELECT 1')
      if (seen === undefined) return
      if (performance.now() - startedAt > patienceMs) throw seen
      // It starts again by itself after a crash, unless it finds no room for that either.
      if (!(await pgCtl('status'))) await pgCtl('restart', '-m', 'immediate')
      await sleep(askEveryMs)
    }
  }

  return {
    async restart() {
      await pgCtl('restart', '-m', 'immediate')
      await untilItAnswers()
    },
    async fillDisk(forLog) {
      let refused = false
      let crashed = false
      const file = openSync(ballast, 'w')
      try {
        const endsAt = performance.now() + fullMs
        while (performance.now() < endsAt) {
          fill(file)
          const seen = await probe(url, growth)
          if (seen !== undefined) {
            if (codeOf(seen) === '53100') refused = true
            else crashed = true
          }
          if (forLog && !crashed) await probe(url, 'SELECT pg_switch_wal()')
          await sleep(askEveryMs)
        }
      } finally {
        closeSync(file)
        rmSync(ballast)
        await untilItAnswers()
      }
      return { refused, crashed }
    },
  }
}

/** A megabyte of data, which is gone again with the statement. */
const growth = `CREATE TEMP TABLE ballast_probe ON COMMIT DROP AS
  SELECT repeat(md5(n::text), 30) AS text FROM generate_series(1, 1000) AS n`

/** Sends a statement on a connection of its own, and answers what went wrong. */
async function probe(url: string, statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(statement)
    return undefined
  } catch (error) {
    return error
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Takes all that is free on the disk of an open file, down to the last block. */
function fill(file: number): void {
  for (const size of [1024 * 1024, 4096]) {
    const block = Buffer.alloc(size)
    try {
      for (;;) writeSync(file, block)
    } catch (error) {
      if (codeOf(error) !== 'ENOSPC') throw error
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/**
 * Runs `pg_ctl` as the owner of the folder, because PostgreSQL refuses root, and answers whether it succeeded. Port and
 * other options of the server stay what they were.
 */
function pgCtlOf(data: string, log: string): (...args: string[]) => Promise<boolean> {
  const [, postgres = ''] = /^(\S+)/.exec(readFileSync(join(data, 'postmaster.opts'), 'utf8')) ?? []
  const { uid, gid } = statSync(data)
  const isRoot = process.getuid?.() === 0
  return async (command, ...args) => {
    try {
      await promisify(execFile)(
        join(dirname(postgres), 'pg_ctl'),
        [command, '-D', data, '-l', log, '-w', '-t', '60', ...args],
        { cwd: '/', ...(isRoot && { uid, gid }) },
      )
      return true
    } catch (error) {
      // A number is the exit code of pg_ctl itself; anything else means that there is none to run.
      if (Number.isInteger(Object(error).code)) return false
      throw error
    }
  }
}

async function refuseOtherServer(url: string, data: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    const found = rows[0]?.data_directory
    if (found !== data) {
      throw new Error(
        `TEST_DATABASE_DIR is the folder of another server: that of TEST_DATABASE_URL has its data in '${found}', not in '${data}'.`,
      )
    }
  } finally {
    await client.end()
  }
}

function refuseOtherDisk(dir: string): void {
  const { bsize, bavail } = statfsSync(dir)
  const isShared = [tmpdir(), process.cwd()].some(
    (other) => statSync(other).dev === statSync(dir).dev,
  )
  if (!isShared && bsize * bavail <= largestDiskBytes) return
  throw new Error(
    `--full-disks fills the disk of the server: '${dir}' has to be on a small one of its own, such as a tmpfs of ` +
      `512 MB (docs/performance.md says how); this one has ${Math.round((bsize * bavail) / 1024 ** 2)} MB free` +
      `${isShared ? ', and holds other files' : ''}.`,
  )
}
