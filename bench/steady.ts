/**
 * Steady load for minutes: whether memory stays flat, what an execution in flight takes, which tables grow, and how long
 * executions take. See docs/performance.md.
 *
 *   TEST_DATABASE_URL=… npm run bench:steady -- [--minutes 10] [--rate 40] [--json]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { defineTool } from '../src/domain/define-tool.ts'
import { createStepwarden, type Stepwarden } from '../src/library.ts'
import { ngramEmbedder } from '../src/search/ngram-embedder.ts'
import { accountStanding } from './executor/playbook.ts'
import { heldBytes } from './held-memory.ts'
import { createScratchDatabase, type ScratchDatabase } from './scratch-database.ts'

const principal = {
  id: 'steady',
  kind: 'service',
  roles: ['admin'],
  groups: [],
  tenantId: 'default',
} as const
/** Executions that are in flight at once where memory per execution is measured. */
const inFlight = 1_000

/** Ends when it is told to: what an execution is at while its memory is measured. */
let letAllGo = (): void => {}
const gate = new Promise<void>((resolve) => {
  letAllGo = resolve
})
let waiting = 0
const waitingTool = defineTool({
  name: 'wait_at_gate',
  description: 'Waits until it is let go.',
  effect: 'read',
  input: z.object({}),
  output: z.object({ ok: z.boolean() }),
  timeout: '1h',
  async run() {
    waiting += 1
    await gate
    return { ok: true }
  },
})
const waitingDefinition = {
  key: 'WAITING_PLAYBOOK',
  name: 'Waiting',
  description: 'Waits until it is let go.',
  issuePatterns: [],
  steps: [{ key: 'wait', action: 'Wait', tool: 'wait_at_gate' }],
}

interface Sample {
  readonly minute: number
  readonly heapMb: number
  readonly rssMb: number
}

type Client = ReturnType<Stepwarden['as']>

function memory(): { readonly heap: number; readonly rss: number } {
  const heap = heldBytes()
  return { heap, rss: process.memoryUsage.rss() }
}

async function memoryPerExecution(client: Client): Promise<number> {
  const before = memory().heap
  const runs = Array.from({ length: inFlight }, () =>
    client.startExecution({ procedureKey: waitingDefinition.key }),
  )
  while (waiting < inFlight) await sleep(20)
  const bytes = (memory().heap - before) / inFlight
  letAllGo()
  await Promise.all(runs)
  return bytes
}

/** An open loop: executions come at their rate, however long the ones before take. */
async function load(
  client: Client,
  minutes: number,
  rate: number,
  progress: (line: string) => void,
) {
  const durations: number[] = []
  const samples: Sample[] = []
  const startedAt = performance.now()
  const total = Math.round(minutes * 60 * rate)
  let open = 0
  let mostOpen = 0
  let sampled = -1
  const runs: Promise<void>[] = []
  for (let index = 0; index < total; index++) {
    const dueAt = startedAt + (index * 1_000) / rate
    if (dueAt > performance.now()) await sleep(dueAt - performance.now())
    open += 1
    mostOpen = Math.max(mostOpen, open)
    runs.push(
      client
        .startExecution({
          procedureKey: accountStanding.definition.key,
          input: accountStanding.inputOf(index),
        })
        .then(({ execution }) => {
          if (execution.outcome !== 'resolved') throw new Error(JSON.stringify(execution.reason))
          durations.push(performance.now() - dueAt)
          open -= 1
        }),
    )
    if (runs.length > 2_000) await Promise.all(runs.splice(0, 1_000))
    const minute = Math.floor((performance.now() - startedAt) / 60_000)
    if (minute > sampled) {
      sampled = minute
      const { heap, rss } = memory()
      samples.push({ minute, heapMb: round(heap / 2 ** 20), rssMb: round(rss / 2 ** 20) })
      progress(`minute ${minute}: heap ${round(heap / 2 ** 20)} MB, ${open} open`)
    }
  }
  await Promise.all(runs)
  durations.sort((a, b) => a - b)
  const at = (share: number) => round(durations[Math.floor(share * (durations.length - 1))] ?? 0)
  return {
    executions: total,
    perSecond: round(total / ((performance.now() - startedAt) / 1_000)),
    mostOpen,
    durationMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
    samples,
  }
}

async function countRows(
  admin: ScratchDatabase['admin'],
): Promise<Readonly<Record<string, number>>> {
  const { rows: tables } = await admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const { rows } = await admin.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${name}`)
    counts[name] = rows[0]?.n ?? 0
  }
  return counts
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '40' },
    json: { type: 'boolean' },
  },
})
const serverUrl = process.env.TEST_DATABASE_URL
const minutes = Number(values.minutes)
const rate = Number(values.rate)
if (serverUrl === undefined || serverUrl === '' || !(minutes > 0) || !(rate > 0)) {
  console.error(
    'Nothing was measured: set TEST_DATABASE_URL to a PostgreSQL server, as a superuser (eval "export $(.ci/postgres)"), and give --minutes and --rate as numbers above 0.',
  )
  process.exitCode = 1
} else {
  await using database = await createScratchDatabase(serverUrl)
  await using stepwarden = await createStepwarden({
    database: { url: database.url },
    tools: [accountStanding.tool, waitingTool],
    embedder: ngramEmbedder,
  })
  const client = stepwarden.as(principal)
  for (const definition of [accountStanding.definition, waitingDefinition]) {
    await client.createProcedure({ definition: definition as never })
    const version = { procedureKey: definition.key, versionNumber: 1, seenActive: null }
    await client.activateVersion(version)
  }
  const kbPerExecution = round((await memoryPerExecution(client)) / 1_024)
  const before = await countRows(database.admin)
  const loaded = await load(client, minutes, rate, (line) => console.error(line))
  const after = await countRows(database.admin)
  const grown = Object.fromEntries(
    Object.entries(after)
      .filter(([name, count]) => count !== before[name])
      .map(([name, count]) => [name, count - (before[name] ?? 0)]),
  )
  const report = { minutes, rate, kbPerExecution, ...loaded, grown }
  console.log(JSON.stringify(report, null, values.json === true ? 0 : 2))
}
