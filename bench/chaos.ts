/**
 * Kills workers while they carry runs out, and counts what came of the runs. See docs/performance.md.
 *
 *   TEST_DATABASE_URL=… npm run chaos -- --kills 1000 --seed 1 --json
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStepwarden } from '../src/library.ts'
import { ngramEmbedder } from '../src/search/ngram-embedder.ts'
import { conduct } from './chaos/conduct.ts'
import { createTools } from './chaos/desk.ts'
import { type ChaosOptions, readOptions, usage } from './chaos/options.ts'
import { startPeople } from './chaos/people.ts'
import { definitionOf, procedureKeys } from './chaos/playbooks.ts'
import { randomOf } from './chaos/random.ts'
import { type Admin, openAdmin, openServer, type Server } from './chaos/server.ts'
import { isClean, verify } from './chaos/verify.ts'
import { renewVersions } from './chaos/versions.ts'
import { createScratchDatabase } from './scratch-database.ts'

const principal = {
  id: 'chaos',
  kind: 'service',
  roles: ['admin'],
  groups: [],
  tenantId: 'default',
} as const

async function tryIt(serverUrl: string, server: Server | undefined, options: ChaosOptions) {
  const progress = (line: string): void => console.error(line)
  const folder = mkdtempSync(join(tmpdir(), 'stepwarden-chaos-'))
  const worldFile = join(folder, 'world.jsonl')
  const wordsFile = join(folder, 'words.jsonl')
  for (const file of [worldFile, wordsFile]) writeFileSync(file, '')
  try {
    await using database = await createScratchDatabase(serverUrl)
    const { url } = database
    await using admin = openAdmin(url)
    await using stepwarden = await createStepwarden({
      database: { url },
      tools: createTools(worldFile, Math.random),
      embedder: ngramEmbedder,
    })
    const client = stepwarden.as(principal)
    for (const procedureKey of procedureKeys) {
      await client.createProcedure({ definition: definitionOf(procedureKey) as never })
      await client.activateVersion({ procedureKey, versionNumber: 1, seenActive: null })
    }
    const started = new Set<string>()
    const watched = {
      ...client,
      async startExecution(input: Parameters<typeof client.startExecution>[0]) {
        const run = await client.startExecution(input)
        started.add(run.execution.id)
        return run
      },
    }
    const startedAt = performance.now()
    const order = { url, worldFile, wordsFile }
    const people = startPeople({
      as: (principal) => stepwarden.as(principal),
      wordsFile,
      random: randomOf(options.seed + 4_000_000),
      mayGoOn: (executionId) => isCallerGoing(admin, executionId),
    })
    const versions = renewVersions(client, 'CHAOS_CALLED')
    const disturbed = await conduct(options, admin, server, watched, order, progress)
    await Promise.all([people.stop(), versions.stop()])
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    progress('verifying')
    const files = { worldFile, wordsFile }
    const verdict = await verify(admin, client, files, started, (what, of) =>
      progress(`${what}: ${JSON.stringify(of)}`),
    )
    return {
      options,
      seconds,
      ...disturbed,
      verdict,
      clean: isClean(verdict) && disturbed.died === 0 && disturbed.failures === 0,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function isCallerGoing(admin: Admin, executionId: string): Promise<boolean> {
  const { rows } = await admin.query(
    `SELECT FROM executions e JOIN executions c ON c.tenant_id = e.tenant_id AND c.id = e.parent_id
     WHERE e.id = $1 AND c.ended_at IS NULL`,
    [executionId],
  )
  return rows.length > 0
}

function spread(values: readonly number[]) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}

/** Answers the exit code. */
async function main(
  args: readonly string[],
  { TEST_DATABASE_URL: serverUrl, TEST_DATABASE_DIR: serverDir }: NodeJS.ProcessEnv,
): Promise<number> {
  const options = readOptions(args)
  if (options === 'help') {
    console.log(usage)
    return 0
  }
  if ('problems' in options) {
    console.error([...options.problems, "See 'npm run chaos -- --help'."].join('\n'))
    return 1
  }
  if (serverUrl === undefined || serverUrl === '') {
    console.error(
      'TEST_DATABASE_URL is not set: nothing was tried. Set it to a PostgreSQL server, as a superuser, or start one: ' +
        'eval "export $(.ci/postgres)"',
    )
    return 1
  }
  let server: Server | undefined
  if (options.restarts > 0 || options.fullDisks > 0) {
    try {
      server = await openServer(serverUrl, serverDir, { smallDisk: options.fullDisks > 0 })
    } catch (error) {
      console.error(error instanceof Error ? error.message : String(error))
      return 1
    }
  }
  const { restartMs, goOnMs, amidKillsMs, takeOverMs, replacementMs, ...result } = await tryIt(
    serverUrl,
    server,
    options,
  )
  const report = {
    ...result,
    restartMs: spread(restartMs),
    goOnMs: spread(goOnMs),
    amidKillsMs: spread(amidKillsMs),
    takeOverMs: spread(takeOverMs),
    replacementMs: spread(replacementMs),
  }
  console.log(options.json ? JSON.stringify(report) : JSON.stringify(report, null, 2))
  return report.clean ? 0 : 4
}

process.exitCode = await main(process.argv.slice(2), process.env)
