/**
 * How experiences are found, on a server of one's own.
 *
 *   npm run bench:learning [-- --rows N] [-- --queries N] [-- --database NAME] [-- --json]
 *
 * A tenant has N experiences (default 20,000) of one agent, with vectors of 1,024 dimensions in clusters of fifty, the
 * clusters in 200 topics, and random scores. An HNSW index is made with `--memory` (2GB; a million takes 5GB), and each
 * query, near a random cluster, is answered by
 * the exact scan and by the index with the bound of `findByIndex`: `recallAt5` is what the index has found of what the scan
 * finds, `decided` the share of queries that the index decides at all; p50 and p95 are in milliseconds, without embedding
 * the query.
 *
 * `--recording` measures instead what it costs the executor that runs record themselves, in `--pairs` pairs of rounds.
 *
 * TEST_DATABASE_URL names a PostgreSQL 15 or newer with pgvector 0.8, as a superuser; a database is made there and dropped.
 * `--database` keeps it, under a name of yours that begins with stepwarden_bench, and measures again on what it holds.
 */
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { openDatabase } from '../src/db/connect.ts'
import { indexExperiences } from '../src/db/experience-index.ts'
import { scanExperiences } from '../src/db/queries/experience-search.ts'
import { findByIndex } from '../src/operations/find-experiences.ts'
import { agentId, fill, makeQueries, model } from './learning/fill.ts'
import { keepDatabase } from './learning/keep-database.ts'
import { measureRecording } from './learning/recording.ts'
import { createScratchDatabase } from './scratch-database.ts'

const asked = { minSimilarity: 0.39, topK: 5 }

/** As `stepwarden experiences index` does it; 0 seconds of one that is there. */
async function makeIndex(
  url: string,
  memory: string,
  tell: (line: string) => void,
): Promise<number> {
  const [made] = await indexExperiences(
    { url },
    { model, anyway: true, memory },
    { tell: () => {}, warn: tell },
  )
  return made?.seconds ?? 0
}

function at(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10
}

async function timed<T>(times: number[], run: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await run()
  times.push(performance.now() - began)
  return result
}

async function main(server: string): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '20000' },
      queries: { type: 'string', default: '100' },
      database: { type: 'string' },
      recording: { type: 'boolean' },
      memory: { type: 'string', default: '2GB' },
      pairs: { type: 'string', default: '10' },
      json: { type: 'boolean' },
    },
  })
  const tell = (line: string) => console.error(`${new Date().toISOString()} ${line}`)
  if (values.recording === true) {
    const rounds = { pairs: Number(values.pairs), roundSeconds: 32 }
    console.log(JSON.stringify(await measureRecording(server, rounds, tell), null, 2))
    return
  }
  await using scratch = await (values.database === undefined
    ? createScratchDatabase(server)
    : keepDatabase(server, values.database))
  if ((await countRows(scratch.admin)) === 0) await fill(scratch.admin, Number(values.rows), tell)
  tell('making the index')
  const madeInSeconds = await makeIndex(scratch.url, values.memory, tell)
  tell(`made in ${madeInSeconds} s`)
  const queries = await makeQueries(scratch.admin, Number(values.queries))
  await using database = await openDatabase({ url: scratch.url, maxSilenceMs: 600_000 })
  const db = database.forTenant('default')
  const scanTimes: number[] = []
  const indexTimes: number[] = []
  let [wanted, hits, decided] = [0, 0, 0]
  const searches = queries.map((vector) => ({
    ...{ model, vector, outcomeType: 'success' as const, agentIds: [agentId] },
  }))
  // One after the other, because a scan of everything drives the index out of the server's memory.
  const byIndex = []
  for (const search of searches) {
    byIndex.push(await timed(indexTimes, () => findByIndex(db, search, asked)))
  }
  for (const [n, search] of searches.entries()) {
    const exact = await timed(scanTimes, () => scanExperiences(db, search, asked))
    const found = byIndex[n]
    if (n % 10 === 9) tell(`${n + 1} of ${queries.length} queries`)
    if (found === undefined) continue
    decided += 1
    const ids = new Set(found.map(({ id }) => id))
    wanted += exact.length
    hits += exact.filter(({ id }) => ids.has(id)).length
  }
  const report = {
    rows: await countRows(scratch.admin),
    recallAt5: wanted === 0 ? null : Math.round((hits / wanted) * 1_000) / 1_000,
    decided: decided / queries.length,
    index: { p50: at(indexTimes, 0.5), p95: at(indexTimes, 0.95), madeInSeconds },
    scan: { p50: at(scanTimes, 0.5), p95: at(scanTimes, 0.95) },
  }
  if (values.json === true) console.log(JSON.stringify(report, null, 2))
  else console.dir(report)
}

async function countRows(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ n: number }>(
    'SELECT count(*)::integer AS n FROM experiences',
  )
  return rows[0]?.n ?? 0
}

const server = process.env.TEST_DATABASE_URL
if (server === undefined) {
  console.error('TEST_DATABASE_URL is not set: nothing was measured.')
  process.exitCode = 1
} else {
  await main(server)
}
