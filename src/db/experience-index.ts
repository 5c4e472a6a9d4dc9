import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../domain/errors.ts'
import { type DatabaseConfig, type LoginDatabase, openAsLogin, openDatabase } from './connect.ts'
import { databaseName, explainDatabaseError } from './database-errors.ts'
import { experienceIndexName } from './queries/experience-indexes.ts'
import { comparedOneByOne } from './queries/experience-search.ts'

/**
 * pgvector's own default for links is 16. Where many situations are nearly the same, all of these lead from one of them to
 * another, and nothing leads to them: of a million in clusters of fifty such an index has found .80 to .91, however far it
 * was followed.
 */
const graph = { links: 32, breadth: 64 } as const

/** What an HNSW index of pgvector takes: halfvec, as it is off by less than what is told apart here. */
const maxDimensions = 4_000
const lookEveryMs = 1_000

export interface IndexOptions {
  /** Only of this model; default: of every model for which it is worth it. */
  readonly model?: string | undefined
  /** Also where it is not worth it. */
  readonly anyway?: boolean
  /** Build one anew that is there and whole; it serves until then. */
  readonly rebuild?: boolean
  /** What the build may take, as PostgreSQL writes it: `4GB`. */
  readonly memory?: string | undefined
  /** pgvector's `m`, 2 to 100; default 32, or what an index has that is built anew. */
  readonly links?: number | undefined
  /** pgvector's `ef_construction`, 4 to 1,000, and twice `links` at least; default 64, or what it has. */
  readonly breadth?: number | undefined
}

/** Who is told of a build that goes on. */
export interface IndexTold {
  /** How far it is, about once a second. */
  readonly tell: (line: string) => void
  /** What the server says of it, such as that it has too little memory. */
  readonly warn: (line: string) => void
}

/** What became of the index of one model. */
export interface IndexedModel {
  readonly model: string
  /** `there`: it was whole already; `not_worth_it`: no tenant has so many; `too_wide`: its vectors have too many numbers. */
  readonly status: 'made' | 'rebuilt' | 'there' | 'not_worth_it' | 'too_wide'
  readonly seconds: number
}

interface Model {
  readonly name: string
  readonly dimensions: number
  readonly isWorthIt: boolean
}

/**
 * Makes the indexes of experiences of a database, as the login of its URL, which is to have what migrating needs.
 *
 * @throws ServiceError what `openDatabase` throws; `DATABASE_NOT_READY` where pgvector is too old for them.
 */
export async function indexExperiences(
  config: DatabaseConfig,
  options: IndexOptions,
  { tell, warn }: IndexTold,
): Promise<readonly IndexedModel[]> {
  // It brings an embedded folder up to date, and says what is wrong with a server.
  await (await openDatabase(config))[Symbol.asyncDispose]()
  await using login = await openAsLogin(config, { poolSize: 2, onNotice: warn })
  const where = 'url' in config ? databaseName(config.url) : config.dataDir
  try {
    await refuseOldPgvector(login.kysely, where)
    return await makeExperienceIndexes(login, options, tell)
  } catch (error) {
    throw 'url' in config ? explainDatabaseError(error, where) : error
  }
}

/** Before 0.8 an index stops short when the filter lets few pass, and finds too little. */
const leastPgvector = '0.8'

async function refuseOldPgvector(db: Kysely<unknown>, database: string): Promise<void> {
  const { rows } = await sql<{ version: string }>`
    SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'`.execute(db)
  const version = rows[0]?.version ?? '0'
  if (version.localeCompare(leastPgvector, 'en', { numeric: true }) >= 0) return
  throw new ServiceError('DATABASE_NOT_READY', {
    database,
    problem: `its pgvector is ${version}, and an index of experiences needs ${leastPgvector}`,
    nextMove:
      "Install a newer one and run 'ALTER EXTENSION vector UPDATE'; until then all experiences are compared.",
  })
}

/**
 * Makes the indexes of experiences, beside the service, which goes on reading and writing; on the embedded database
 * nothing goes on beside it. What an interrupted build has left is dropped. Any number may do so at once: one builds, and
 * the others follow it. Answers what became of each model; nothing of one that is not known.
 */
export async function makeExperienceIndexes(
  login: LoginDatabase,
  options: IndexOptions,
  tell: (line: string) => void,
): Promise<readonly IndexedModel[]> {
  const done: IndexedModel[] = []
  for (const model of await listModels(login.kysely, options.model)) {
    const began = performance.now()
    const status = await makeOne(login, model, options, tell)
    const seconds = Math.round((performance.now() - began) / 1_000)
    done.push({ model: model.name, status, seconds })
  }
  return done
}

async function listModels(
  db: Kysely<unknown>,
  only: string | undefined,
): Promise<readonly Model[]> {
  const { rows } = await sql<{ name: string; dimensions: number; is_worth_it: boolean }>`
    SELECT m.name, m.dimensions,
      EXISTS (SELECT FROM tenants_beyond_scan(m.name, ${sql.lit(comparedOneByOne)})) AS is_worth_it
    FROM embedding_models m WHERE ${only === undefined ? sql`true` : sql`m.name = ${only}`}
    ORDER BY m.name`.execute(db)
  return rows.map((row) => ({ ...row, isWorthIt: row.is_worth_it }))
}

async function makeOne(
  { kind, kysely }: LoginDatabase,
  model: Model,
  options: IndexOptions,
  tell: (line: string) => void,
): Promise<IndexedModel['status']> {
  if (!model.isWorthIt && options.anyway !== true) return 'not_worth_it'
  if (model.dimensions > maxDimensions) return 'too_wide'
  const name = experienceIndexName(model.name)
  const follow = kind === 'postgres' ? followBuild(kysely, name, model.name, tell) : undefined
  try {
    return await kysely.connection().execute(async (own) => {
      // Nobody may wait for the lock within the server: a build waits for all statements that are older than itself.
      while (!(await tryLock(own, name))) await sleep(lookEveryMs)
      try {
        return await build(own, kind, model, options)
      } finally {
        // A connection that broke has lost it by itself, and its own error is the one to see.
        await sql`SELECT pg_advisory_unlock(${lockKey(name)})`.execute(own).catch(() => undefined)
      }
    })
  } finally {
    await follow?.stop()
  }
}

async function build(
  own: Kysely<unknown>,
  kind: LoginDatabase['kind'],
  { name: model, dimensions }: Model,
  { rebuild, memory, links, breadth }: IndexOptions,
): Promise<IndexedModel['status']> {
  const name = experienceIndexName(model)
  await sql`SELECT set_config('statement_timeout', '0', false)`.execute(own)
  if (memory !== undefined) {
    await sql`SELECT set_config('maintenance_work_mem', ${memory}, false)`.execute(own)
  }
  // The embedded database has nobody beside it.
  const beside = sql.raw(kind === 'postgres' ? 'CONCURRENTLY' : '')
  for (const left of await listUnfinished(own, name)) {
    await sql`DROP INDEX ${beside} ${sql.table(`public.${left}`)}`.execute(own)
  }
  if (await isThere(own, name)) {
    if (rebuild !== true) return 'there'
    const index = sql.table(`public.${name}`)
    const changed = [
      ...(links === undefined ? [] : [sql`m = ${sql.lit(links)}`]),
      ...(breadth === undefined ? [] : [sql`ef_construction = ${sql.lit(breadth)}`]),
    ]
    if (changed.length > 0) await sql`ALTER INDEX ${index} SET (${sql.join(changed)})`.execute(own)
    await sql`REINDEX INDEX ${beside} ${index}`.execute(own)
    return 'rebuilt'
  }
  await sql`
    CREATE INDEX ${beside} ${sql.id(name)} ON public.experience_embeddings
    USING hnsw ((embedding::public.halfvec(${sql.lit(dimensions)})) public.halfvec_cosine_ops)
    WITH (m = ${sql.lit(links ?? graph.links)}, ef_construction = ${sql.lit(breadth ?? graph.breadth)})
    WHERE model = ${sql.lit(model)}`.execute(own)
  return 'made'
}

const lockKey = (name: string) => sql`hashtextextended(${name}, 35)`

async function tryLock(own: Kysely<unknown>, name: string): Promise<boolean> {
  const { rows } = await sql<{ got: boolean }>`
    SELECT pg_try_advisory_lock(${lockKey(name)}) AS got`.execute(own)
  return rows[0]?.got === true
}

/** What is left of builds that were interrupted: the index itself, and the one that was to replace it. */
async function listUnfinished(own: Kysely<unknown>, name: string): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT c.relname AS name FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND NOT i.indisvalid
      AND (c.relname = ${name} OR starts_with(c.relname, ${`${name}_cc`}))
    ORDER BY 1`.execute(own)
  return rows.map((row) => row.name)
}

async function isThere(own: Kysely<unknown>, name: string): Promise<boolean> {
  const { rows } = await sql`SELECT WHERE to_regclass(${`public.${name}`}) IS NOT NULL`.execute(own)
  return rows.length > 0
}

/** Tells how far a build is, whoever does it, until it is stopped. */
function followBuild(
  db: Kysely<unknown>,
  name: string,
  model: string,
  tell: (line: string) => void,
): { readonly stop: () => Promise<void> } {
  const stopped = new AbortController()
  const follow = async () => {
    while (!stopped.signal.aborted) {
      // What cannot be told now may be told the next time; the build itself says what is wrong with it.
      const line = await progressOf(db, name).catch(() => undefined)
      if (line !== undefined) tell(`${model}: ${line}`)
      // Only being stopped ends it early.
      await sleep(lookEveryMs, undefined, { signal: stopped.signal }).catch(() => undefined)
    }
  }
  const following = follow()
  return {
    async stop() {
      stopped.abort()
      await following
    },
  }
}

async function progressOf(db: Kysely<unknown>, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ phase: string; done: number; total: number }>`
    SELECT p.phase, p.tuples_done AS done, greatest(t.reltuples, 0)::bigint AS total
    FROM pg_stat_progress_create_index p
    JOIN pg_class i ON i.oid = p.index_relid JOIN pg_class t ON t.oid = p.relid
    WHERE p.datname = current_database() AND starts_with(i.relname, ${name})`.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  const { phase, done, total } = row
  return done > 0 ? `${phase}: ${done} of some ${total} vectors` : phase
}
