/**
 * How experiences are found, on a server of one's own.
 *
 *   npm run bench:learning [-- --rows N] [-- --queries N] [-- --json]
 *
 * A tenant has N experiences (default 20,000) of one agent, with vectors of 1,024 dimensions in clusters of some fifty and
 * random scores. An HNSW index is made, and each query, near a random one of them, is answered by the exact scan and by
 * the index with the bound of `findByIndex`: `recallAt5` is what the index has found of what the scan finds, `decided` the
 * share of queries that the index decides at all; p50 and p95 are in milliseconds, without embedding the query.
 *
 * TEST_DATABASE_URL names a PostgreSQL 15 or newer with pgvector 0.8, as a superuser; a database is made there and dropped.
 */
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { openDatabase } from '../src/db/connect.ts'
import { experienceIndexName, scanExperiences } from '../src/db/queries/experience-search.ts'
import { findByIndex } from '../src/operations/find-experiences.ts'
import { toUnitLength } from '../src/search/embedder.ts'
import { createScratchDatabase } from './scratch-database.ts'

const model = 'made-1024'
const dimensions = 1_024
const clusterSize = 50
const rowsAtOnce = 1_000
const asked = { minSimilarity: 0.39, topK: 5 }

/** By how much each number of a vector differs from its cluster's: members are some .8 alike. */
const spread = 0.5

const direction = () => toUnitLength(Float32Array.from({ length: dimensions }, gaussian))

function gaussian(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random())
}

function near(center: Float32Array): Float32Array {
  const noise = direction()
  return toUnitLength(center.map((value, place) => value + spread * (noise[place] ?? 0)))
}

/** Answers some of the centers, to ask near them. */
async function fill(admin: pg.Client, rows: number): Promise<readonly Float32Array[]> {
  await admin.query(
    `INSERT INTO embedding_models (name, dimensions, threshold, margin, calibrated) VALUES ($1, $2, 0.39, 0, true)`,
    [model, dimensions],
  )
  const kept: Float32Array[] = []
  let center = direction()
  for (let from = 0; from < rows; from += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, rows - from)
    const ids = Array.from({ length: count }, (_, n) => `exp_${String(from + n).padStart(9, '0')}`)
    await admin.query(
      `INSERT INTO experiences (tenant_id, id, agent_id, situation, situation_hash, action_sequence, action_hash,
         approach_hash, outcome, outcome_type, score, scored_by, recorded_by, created_at, embedded_with)
       SELECT 'default', i, 'bench', i, i, '[{}]', i, i, 'Done', 'success', random(), 'given', '{}', now(), $2
       FROM unnest($1::text[]) i`,
      [ids, model],
    )
    const vectors = ids.map((_, n) => {
      if ((from + n) % clusterSize === 0) {
        center = direction()
        if (kept.length < 2_000) kept.push(center)
      }
      return `[${[...near(center)].map((value) => value.toFixed(5)).join(',')}]`
    })
    await admin.query(
      `INSERT INTO experience_embeddings (tenant_id, model, experience_id, text_hash, embedding)
       SELECT 'default', $3, i, i, v::vector FROM unnest($1::text[], $2::text[]) u (i, v)`,
      [ids, vectors, model],
    )
  }
  return kept
}

async function makeIndex(admin: pg.Client): Promise<void> {
  await admin.query(`SET maintenance_work_mem = '1GB'`)
  await admin.query(
    `CREATE INDEX ${experienceIndexName(model)} ON experience_embeddings
     USING hnsw ((embedding::halfvec(${dimensions})) halfvec_cosine_ops) WHERE model = '${model}'`,
  )
  await admin.query('ANALYZE')
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

async function main(url: string): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '20000' },
      queries: { type: 'string', default: '50' },
      json: { type: 'boolean' },
    },
  })
  const rows = Number(values.rows)
  await using scratch = await createScratchDatabase(url)
  const centers = await fill(scratch.admin, rows)
  const began = performance.now()
  await makeIndex(scratch.admin)
  const indexSeconds = Math.round((performance.now() - began) / 1_000)
  await using database = await openDatabase({ url: scratch.url, maxSilenceMs: 600_000 })
  const db = database.forTenant('default')
  const scanTimes: number[] = []
  const indexTimes: number[] = []
  let [wanted, hits, decided] = [0, 0, 0]
  for (let n = 0; n < Number(values.queries); n += 1) {
    const center = centers[Math.floor(Math.random() * centers.length)] ?? direction()
    const search = {
      ...{ model, vector: near(center), outcomeType: 'success' as const, agentIds: ['bench'] },
    }
    const exact = await timed(scanTimes, () => scanExperiences(db, search, asked))
    const found = await timed(indexTimes, () => findByIndex(db, search, asked))
    if (found === undefined) continue
    decided += 1
    const ids = new Set(found.map(({ id }) => id))
    wanted += exact.length
    hits += exact.filter(({ id }) => ids.has(id)).length
  }
  const report = {
    rows,
    recallAt5: wanted === 0 ? null : Math.round((hits / wanted) * 1_000) / 1_000,
    decided: decided / Number(values.queries),
    index: { p50: at(indexTimes, 0.5), p95: at(indexTimes, 0.95), madeInSeconds: indexSeconds },
    scan: { p50: at(scanTimes, 0.5), p95: at(scanTimes, 0.95) },
  }
  if (values.json === true) console.log(JSON.stringify(report, null, 2))
  else console.dir(report)
}

const server = process.env.TEST_DATABASE_URL
if (server === undefined) {
  console.error('TEST_DATABASE_URL is not set: nothing was measured.')
  process.exitCode = 1
} else {
  await main(server)
}
