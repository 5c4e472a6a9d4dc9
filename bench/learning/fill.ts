import type pg from 'pg'
import { toUnitLength } from '../../src/search/embedder.ts'

export const model = 'made-1024'
const dimensions = 1_024
export const agentId = 'bench'

/** How many experiences say nearly the same, and of how many things they are. */
const clusterSize = 50
const topicCount = 200

/** How many vectors the noise is put together from, two at a time. */
const noiseCount = 4_096

const rowsAtOnce = 50_000

/**
 * By how much a vector differs from its cluster's, and a cluster's from its topic's: members of a cluster are some .8 alike,
 * of a topic some .4, and others not at all.
 */
const spread = { member: 0.5, cluster: 1 } as const

const direction = () => toUnitLength(Float32Array.from({ length: dimensions }, gaussian))

function gaussian(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random())
}

/** A vector near a cluster's: the sum of its centre and of two of the noise. `n` is any integer. */
const nearCluster = (cluster: string, n: string) => `
  SELECT l2_normalize(c.v + a.v + b.v) AS v
  FROM bench_clusters c, bench_noise a, bench_noise b
  WHERE c.i = ${cluster} AND a.i = (hashint8(${n}) & ${noiseCount - 1})
    AND b.i = (hashint8(${n} + 4000000000) & ${noiseCount - 1})`

/** Fills an empty database: the vectors are put together by the server, which takes some minutes for a million. */
export async function fill(
  admin: pg.Client,
  rows: number,
  tell: (line: string) => void,
): Promise<void> {
  await admin.query(
    `INSERT INTO embedding_models (name, dimensions, threshold, margin, calibrated) VALUES ($1, $2, 0.39, 0, true)`,
    [model, dimensions],
  )
  await admin.query('CREATE TABLE bench_clusters (i integer PRIMARY KEY, v vector NOT NULL)')
  await admin.query('CREATE TABLE bench_noise (i integer PRIMARY KEY, v vector NOT NULL)')
  const topics = Array.from({ length: topicCount }, direction)
  await store(admin, 'bench_clusters', Math.ceil(rows / clusterSize), (i) => {
    const noise = direction()
    return toUnitLength(
      (topics[i % topicCount] ?? noise).map(
        (value, at) => value + spread.cluster * (noise[at] ?? 0),
      ),
    )
  })
  await store(admin, 'bench_noise', noiseCount, () =>
    direction().map((value) => (value * spread.member) / Math.SQRT2),
  )
  await admin.query('ANALYZE bench_clusters, bench_noise')
  // No trigger and no foreign key is measured here.
  await admin.query('SET session_replication_role = replica')
  const id = (n: string) => `'exp_' || lpad(${n}::text, 9, '0')`
  for (let from = 0; from < rows; from += rowsAtOnce) {
    const upTo = Math.min(rows, from + rowsAtOnce) - 1
    await admin.query(
      `INSERT INTO experiences (tenant_id, id, agent_id, situation, situation_hash, action_sequence, action_hash,
         approach_hash, outcome, outcome_type, score, scored_by, recorded_by, created_at, embedded_with)
       SELECT 'default', i, '${agentId}', i, i, '[{}]', i, i, 'Done', 'success', random(), 'given', '{}', now(), '${model}'
       FROM (SELECT ${id('n')} AS i FROM generate_series(${from}, ${upTo}) n) made`,
    )
    await admin.query(
      `INSERT INTO experience_embeddings (tenant_id, model, experience_id, text_hash, embedding)
       SELECT 'default', '${model}', ${id('n')}, n, made.v
       FROM generate_series(${from}::bigint, ${upTo}) n
       CROSS JOIN LATERAL (${nearCluster(`(n / ${clusterSize})`, 'n')} OFFSET 0) made`,
    )
    tell(`${upTo + 1} of ${rows} rows`)
  }
  await admin.query('SET session_replication_role = DEFAULT')
  await admin.query('VACUUM ANALYZE experiences, experience_embeddings')
}

async function store(
  admin: pg.Client,
  into: string,
  count: number,
  make: (i: number) => Float32Array,
): Promise<void> {
  const atOnce = 500
  for (let from = 0; from < count; from += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, count - from) }, (_, n) => from + n)
    const vectors = numbers.map(
      (i) => `[${[...make(i)].map((value) => value.toPrecision(6)).join(',')}]`,
    )
    await admin.query(
      `INSERT INTO ${into} SELECT i, v::vector FROM unnest($1::integer[], $2::text[]) u (i, v)`,
      [numbers, vectors],
    )
  }
}

/** Situations like those of randomly chosen clusters. */
export async function makeQueries(
  admin: pg.Client,
  count: number,
): Promise<readonly Float32Array[]> {
  const { rows } = await admin.query<{ v: string }>(
    `SELECT made.v::text AS v
     FROM (SELECT i, row_number() OVER () + 7000000000 AS n
       FROM (SELECT i FROM bench_clusters ORDER BY random() LIMIT ${count}) picked) chosen
     CROSS JOIN LATERAL (${nearCluster('chosen.i', 'chosen.n')} OFFSET 0) made`,
  )
  return rows.map(({ v }) => Float32Array.from(JSON.parse(v) as number[]))
}
