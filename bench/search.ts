/**
 * How fast a search is, as a ratio to the bare SQL that finds the nearest vectors, in the same run.
 *
 *   npm run bench:search [-- --json] [-- --versions N] [-- --rounds N]
 *
 * A tenant has 10,000 active versions and as many deprecated ones, 1,000 other tenants have one active version each, and
 * there are 20,000 past executions. The search is the operation `searchProcedures`, its embedder one that answers at
 * once with a random vector; the bare SQL is one prepared statement on a connection of the same role and tenant: the ids
 * of the three nearest vectors of what serves, with their distances. Both take turns, search by search, and a ratio is
 * taken in each round.
 *
 * TEST_DATABASE_URL names a PostgreSQL 15 or newer with pgvector, as a superuser; the bench makes a database of its own
 * there and drops it. A server just for this: eval "export $(.ci/postgres)"
 */
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createContext } from '../src/context.ts'
import { openDatabase } from '../src/db/connect.ts'
import type { Caller } from '../src/operations/define.ts'
import { operations } from '../src/operations/registry.ts'
import { type Embedder, toUnitLength } from '../src/search/embedder.ts'
import { createBenchDatabase } from './executor/database.ts'

const tenantId = 'default'
const dimensions = 1024
const issue = 'I was charged twice for my order and nobody answers, please give me my money back'

const caller: Caller = {
  principal: { id: 'bench', kind: 'human', roles: ['agent'], groups: [], tenantId },
  origin: 'library',
}

const embedder: Embedder = {
  model: 'random-1024',
  dimensions,
  maxCharacters: 8000,
  thresholds: { minSimilarity: 0.4, margin: 0.07, calibrated: true },
  embed: async (texts) => texts.map(() => randomVector()),
}

function randomVector(): Float32Array {
  return toUnitLength(Float32Array.from({ length: dimensions }, () => Math.random() - 0.5))
}

/** Twice as many versions as are to be active, the older half deprecated, and the vectors of all. */
async function fill(client: pg.Client, versions: number): Promise<void> {
  const definition = (key: string) => `jsonb_build_object(
    'key', ${key}, 'name', 'Procedure ' || i, 'description', 'What is done in case ' || i,
    'category', 'category-' || i % 100,
    'issuePatterns', jsonb_build_array('I want case ' || i, 'case ' || i || ' does not work',
      'please help me with ' || i, 'broken thing ' || i, 'what about ' || i),
    'steps', jsonb_build_array(jsonb_build_object('key', 'look', 'action', repeat('Look. ', 200))))`
  const insertVersions = (tenant: string, number: number, first: number, last: number) => `
    INSERT INTO procedure_versions (tenant_id, id, procedure_id, version_number, definition, definition_hash, summary,
      purpose, tool_contracts, findings, author_ids, created_by, created_at, updated_by, updated_at)
    SELECT ${tenant}, 'v' || i || '_${number}', 'p' || i, ${number}, ${definition("'P' || i")}, repeat('0', 64),
      repeat('Summary. ', 50), 'Procedure ' || i, '{}', '[]', '{bench}', '{"id":"bench","kind":"human"}', now(),
      '{"id":"bench","kind":"human"}', now()
    FROM generate_series(${first}, ${last}) i`
  const insertVectors = (tenant: string) => `
    INSERT INTO version_embeddings (tenant_id, model, version_id, text_hash, embedding)
    SELECT ${tenant}, '${embedder.model}', v.id, repeat('0', 64), (
      SELECT ('[' || string_agg((random() - 0.5)::float4::text, ',') || ']')::vector
      FROM generate_series(1, ${dimensions}) WHERE v.id IS NOT NULL)
    FROM procedure_versions v WHERE v.tenant_id = ${tenant}`
  const insertProcedures = (tenant: string, first: number, last: number) => `
    INSERT INTO procedures (tenant_id, id, key, latest_version_number, created_at)
    SELECT ${tenant}, 'p' || i, 'P' || i, 2, now() FROM generate_series(${first}, ${last}) i`

  await client.query(insertProcedures(`'${tenantId}'`, 1, versions))
  for (const number of [1, 2]) {
    await client.query(insertVersions(`'${tenantId}'`, number, 1, versions))
    await client.query(
      "UPDATE procedure_versions SET status = 'deprecated' WHERE status = 'active'",
    )
    await client.query(
      `UPDATE procedure_versions SET status = 'active' WHERE version_number = ${number}`,
    )
  }
  await client.query(insertVectors(`'${tenantId}'`))
  await client.query(`
    INSERT INTO literal_patterns (tenant_id, version_id, position, tail, pattern)
    SELECT v.tenant_id, v.id, p.position, right(lower(p.value), CASE WHEN char_length(p.value) < 8 THEN 4 ELSE 8 END), lower(p.value)
    FROM procedure_versions v, jsonb_array_elements_text(v.issue_patterns) WITH ORDINALITY p (value, position)
    WHERE v.status = 'active'`)
  await client.query(`
    INSERT INTO executions (tenant_id, id, procedure_id, procedure_key, version_id, version_number, definition_hash,
      status, outcome, semantics_version, durability, mode, input, requester, tool_contracts, created_at, ended_at)
    SELECT '${tenantId}', 'e' || lpad(i::text, 6, '0'), 'p' || 1 + i % 50, 'P' || 1 + i % 50, 'v' || 1 + i % 50 || '_2',
      2, repeat('0', 64), 'completed', 'resolved', 1, 'effect', 'automatic',
      jsonb_build_object('text', repeat('x', 400)), '{}', '{}', now(), now()
    FROM generate_series(1, 20000) i`)
  await client.query(`
    INSERT INTO tenants (id, name, created_at) SELECT 'other-' || i, 'Other', now() FROM generate_series(1, 1000) i`)
  // One statement per tenant and table would take minutes; the series stands for tenant and procedure at once.
  const other = "'other-' || i"
  await client.query(insertProcedures(other, 1, 1000))
  await client.query(insertVersions(other, 2, 1, 1000))
  await client.query(
    "UPDATE procedure_versions SET status = 'active' WHERE tenant_id LIKE 'other-%'",
  )
  await client.query(`
    INSERT INTO version_embeddings (tenant_id, model, version_id, text_hash, embedding)
    SELECT v.tenant_id, '${embedder.model}', v.id, repeat('0', 64), e.embedding
    FROM procedure_versions v JOIN version_embeddings e ON e.tenant_id = '${tenantId}' AND e.version_id = v.id
    WHERE v.tenant_id LIKE 'other-%'`)
  await client.query('VACUUM ANALYZE')
}

const bare = (scope: string) => `
  SELECT version_id, embedding OPERATOR(public.<=>) $2::public.vector AS distance
  FROM version_embeddings WHERE tenant_id = '${tenantId}' AND model = $1 AND ${scope}
  ORDER BY distance LIMIT 3`

interface Result {
  readonly name: string
  /** Milliseconds, p50 over all rounds. */
  readonly searchMs: number
  readonly bareMs: number
  /** p50 to p50 within a round: the median over the rounds, the least and the most. */
  readonly ratio: number
  readonly least: number
  readonly most: number
}

const searchesInRound = 21

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await run()
  return performance.now() - startedAt
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** The two take turns, search by search, so that what else the machine does meets both. */
async function compare(
  name: string,
  rounds: number,
  search: () => Promise<unknown>,
  baseline: () => Promise<unknown>,
): Promise<Result> {
  const all: { search: number[]; bare: number[]; ratios: number[] } = {
    search: [],
    bare: [],
    ratios: [],
  }
  // The first round settles plans and caches, and does not count.
  for (let round = 0; round <= rounds; round += 1) {
    const times: { search: number[]; bare: number[] } = { search: [], bare: [] }
    for (let index = 0; index < searchesInRound; index += 1) {
      times.search.push(await timeOf(search))
      times.bare.push(await timeOf(baseline))
    }
    if (round === 0) continue
    all.search.push(...times.search)
    all.bare.push(...times.bare)
    all.ratios.push(median(times.search) / median(times.bare))
  }
  const rounded = (value: number): number => Math.round(value * 100) / 100
  return {
    name,
    searchMs: rounded(median(all.search)),
    bareMs: rounded(median(all.bare)),
    ratio: rounded(median(all.ratios)),
    least: rounded(Math.min(...all.ratios)),
    most: rounded(Math.max(...all.ratios)),
  }
}

async function connect(connectionString: string, options = ''): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, options })
  // When the bench fails, its database goes, and this connection with it; the failure is what should be seen.
  client.on('error', () => {})
  await client.connect()
  return client
}

async function main(serverUrl: string): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean' },
      versions: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '7' },
    },
  })
  await using bench = await createBenchDatabase(serverUrl)
  await using database = await openDatabase({ url: bench.url })
  const config = { tenantId, logLevel: 'silent' } as const
  await using app = await createContext(database, config, { tools: [], embedder })
  const admin = await connect(bench.url)
  console.error(`filling ${values.versions} active versions`)
  await fill(admin, Number(values.versions))
  await admin.end()

  const client = await connect(bench.url, '-c role=stepwarden_app')
  await client.query("SELECT set_config('stepwarden.tenant', $1, false)", [tenantId])
  const search = (more: object) => () =>
    operations.searchProcedures.invoke(app, caller, { issue, ...more })
  const baseline = (name: string, scope: string) => () =>
    client.query({
      name,
      text: bare(scope),
      values: [embedder.model, `[${randomVector().join(',')}]`],
    })
  const rounds = Number(values.rounds)
  const inCategory = { category: 'category-7' }
  const results = [
    await compare('all', rounds, search({}), baseline('all', 'served_in IS NOT NULL')),
    await compare(
      'in a category of 1 %',
      rounds,
      search(inCategory),
      baseline('category', "served_in = 'category-7'"),
    ),
  ]
  await client.end()
  if (values.json === true) {
    console.log(
      JSON.stringify({ server: bench.serverVersion, versions: Number(values.versions), results }),
    )
  } else console.table(results)
}

const url = process.env.TEST_DATABASE_URL
if (url === undefined || url === '') {
  console.error(
    'TEST_DATABASE_URL is not set: nothing was measured. eval "export $(.ci/postgres)" sets it.',
  )
  process.exitCode = 1
} else {
  await main(url)
}
