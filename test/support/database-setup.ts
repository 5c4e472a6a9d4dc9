import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgreSqlContainer } from '@testcontainers/postgresql'
import { sql } from 'kysely'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrateDatabase } from '../../src/db/connect.ts'
import { memoryDataDir, openEmbedded } from '../../src/db/embedded.ts'
import { migrateSchema } from '../../src/db/migrate.ts'
import { schemaHandle } from '../../src/db/schema-handle.ts'
import { findPostgres } from './backends.ts'

/** What each test file needs to clone the migrated template of its project's backend. */
export type TestBackend =
  | { readonly kind: 'pglite'; readonly templateFile: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly template: string }

declare module 'vitest' {
  interface ProvidedContext {
    backend: TestBackend
  }
}

/** Runs once per project, before its first file: makes the template, or finds the one that is there, and says so. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (project.name === 'pglite') {
    const templateFile = await embeddedTemplate()
    project.provide('backend', { kind: 'pglite', templateFile })
    say('pglite: runs in this process')
    if ((await findPostgres()) === undefined) {
      say('postgres: skipped: set TEST_DATABASE_URL or start a container engine')
    }
    return async () => {}
  }
  const server = await startPostgres()
  const template = await postgresTemplate(server.url)
  project.provide('backend', { kind: 'postgres', url: server.url, template })
  say(`postgres: runs on ${server.name}`)
  return server.stop
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function startPostgres() {
  const url = process.env.TEST_DATABASE_URL
  if (url) {
    return { url, name: `${new URL(url).host} (TEST_DATABASE_URL)`, stop: async () => {} }
  }
  const image = 'pgvector/pgvector:pg15'
  const container = await new PostgreSqlContainer(image).start()
  return {
    url: container.getConnectionUri(),
    name: `a container of ${image}`,
    stop: async () => {
      await container.stop()
    },
  }
}

/** Reviews have tests of their own. Past the trigger, so that every audit log begins empty. */
const requireNothing = `DO $$ BEGIN
  SET LOCAL session_replication_role = replica;
  UPDATE public.governance SET required_approvals = 0;
END $$`

/** Stands for all that a template is made from: another migration gives another template. */
function templateHash(): string {
  const hash = createHash('sha256')
  const files = readdirSync('migrations')
    .sort()
    .map((name) => join('migrations', name))
  const own = ['src/db/migrate.ts', 'src/db/roles.ts', 'test/support/database-setup.ts']
  for (const file of [...files, ...own]) {
    hash.update(readFileSync(file))
  }
  hash.update(readFileSync('node_modules/@electric-sql/pglite/package.json'))
  return hash.digest('hex').slice(0, 16)
}

async function embeddedTemplate(): Promise<string> {
  const file = join(tmpdir(), `stepwarden-template-${templateHash()}.tar`)
  if (existsSync(file)) return file
  const { pool, lite, close } = await openEmbedded({
    dataDir: memoryDataDir,
    connectionTimeoutMs: 10_000,
  })
  try {
    const schema = schemaHandle(pool)
    await migrateSchema(schema, memoryDataDir)
    await sql.raw(requireNothing).execute(schema)
    const dump = await lite.dumpDataDir('none')
    // Another run may be making the same: whoever comes last replaces a whole file by an equal one.
    const unfinished = `${file}.${randomBytes(4).toString('hex')}`
    writeFileSync(unfinished, Buffer.from(await dump.arrayBuffer()))
    renameSync(unfinished, file)
    removeOldTemplates()
  } finally {
    await close()
  }
  return file
}

/** Each has 40 MB. One that is younger than a day may be in use by another checkout. */
function removeOldTemplates(): void {
  for (const name of readdirSync(tmpdir())) {
    const file = join(tmpdir(), name)
    if (!/^stepwarden-template-.*\.tar/.test(name)) continue
    if (Date.now() - statSync(file).mtimeMs > 24 * 3_600_000) rmSync(file, { force: true })
  }
}

async function postgresTemplate(url: string): Promise<string> {
  const template = `stepwarden_template_${templateHash()}`
  const client = new pg.Client(url)
  await client.connect()
  try {
    // Two runs on one server make it once.
    await client.query(`SELECT pg_advisory_lock(hashtext($1))`, [template])
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [
      template,
    ])
    if (rowCount === 0) {
      const unfinished = `${template}_unfinished`
      await client.query(`DROP DATABASE IF EXISTS ${unfinished}`)
      await client.query(`CREATE DATABASE ${unfinished} TEMPLATE template0 ENCODING 'UTF8'`)
      const target = new URL(url)
      target.pathname = `/${unfinished}`
      await migrateDatabase({ url: target.href })
      const inside = new pg.Client(target.href)
      await inside.connect()
      await inside.query(requireNothing).finally(() => inside.end())
      await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${template}`)
    }
  } finally {
    await client.end()
  }
  return template
}
