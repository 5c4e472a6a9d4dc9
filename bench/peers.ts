/**
 * Stepwarden beside other durable-execution engines, in the harness that measures them all. See docs/performance.md.
 *
 *   TEST_DATABASE_URL=… npm run bench:peers [-- options of the harness]
 *
 * STEPWARDEN_PEERS names the harness's folder; default: ../shared/bench/peers. It is copied to a temporary folder,
 * where its packages are installed once and its report is left. Exit codes: the harness's; 1 when it cannot be run.
 */
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const defaults = {
  only: 'raw-b,raw-b-prep,dbos,restate,stepwarden-step,stepwarden-effect',
  phases: 'loop,pair,cost',
}
const adapter = fileURLToPath(new URL('./peers/stepwarden.js', import.meta.url))

/** Copies the harness to where it can be written, and installs its packages there unless they are those of its lock file. */
function prepareHarness(source: string): string {
  const folder = join(tmpdir(), 'stepwarden-peers')
  const lock = readFileSync(join(source, 'package-lock.json'), 'utf8')
  const installed = join(folder, 'node_modules', '.installed-lock.json')
  for (const entry of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    const from = join(source, entry)
    if (/^(node_modules|out)(\W|$)/.test(entry) || !statSync(from).isFile()) continue
    // By content and not as files: the copies must not be read-only.
    mkdirSync(dirname(join(folder, entry)), { recursive: true })
    writeFileSync(join(folder, entry), readFileSync(from))
  }
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return folder
  console.error(`installing the packages of the harness in ${folder} (some minutes, once)`)
  const npm = (...args: string[]) =>
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] })
  // It runs on a Node of its own, which is among its packages, so this one's version does not matter.
  npm('ci', '--engine-strict=false', '--loglevel=error')
  // Where npm holds install scripts back, this one brings the Node that the harness runs on.
  if (!existsSync(nodeOf(folder))) npm('rebuild', 'node', '--loglevel=error')
  writeFileSync(installed, lock)
  return folder
}

function nodeOf(folder: string): string {
  return join(folder, 'node_modules', 'node', 'bin', 'node')
}

/** Runs the harness against a database of its own, and answers its exit code. */
async function runHarness(
  folder: string,
  serverUrl: string,
  args: readonly string[],
): Promise<number> {
  const name = `stepwarden_peers_${process.pid}_${randomBytes(4).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const server = new pg.Client(serverUrl)
  server.on('error', () => {})
  await server.connect()
  try {
    await server.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
    // Until the harness reads the log back, no checkpoint may take it away. The slot ends with this session.
    await server.query('SELECT pg_create_physical_replication_slot($1, true, true)', [name])
    const harness = spawn(nodeOf(folder), ['run.mjs', '--fresh', ...args], {
      cwd: folder,
      stdio: 'inherit',
      env: {
        ...process.env,
        PEERS_PG_URL: url.href,
        PEERS_EXTRA: adapter,
        STEPWARDEN_PEERS: folder,
      },
    })
    // A signal goes to the harness as well; the database is dropped when that has ended.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => harness.kill(signal))
    }
    return await new Promise((done, fail) => {
      harness.on('error', fail)
      harness.on('exit', (code) => done(code ?? 130))
    })
  } finally {
    await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    await server.end()
  }
}

/** Answers the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const serverUrl = process.env.TEST_DATABASE_URL ?? ''
  const source = resolve(process.env.STEPWARDEN_PEERS ?? '../shared/bench/peers')
  const problems = [
    serverUrl === '' &&
      'TEST_DATABASE_URL is not set: set it to a PostgreSQL 15+ with pgvector, as a superuser.',
    !existsSync(join(source, 'run.mjs')) &&
      `There is no harness in ${source}: name its folder in STEPWARDEN_PEERS.`,
  ].filter((problem) => problem !== false)
  if (problems.length > 0) {
    console.error(problems.join('\n'))
    return 1
  }
  const given = Object.entries(defaults)
    .filter(([option]) => !args.some((arg) => arg.startsWith(`--${option}=`)))
    .map(([option, value]) => `--${option}=${value}`)
  return runHarness(prepareHarness(source), serverUrl, [...given, ...args])
}

process.exitCode = await main(process.argv.slice(2))
