import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type AppContext, createContext } from '../../src/context.ts'
import { readDocument } from '../../src/documents/read-document.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { callerOf } from '../support/caller.ts'
import { openTestDatabase } from '../support/database.ts'
import { answerJson, serveOutside } from '../support/outside-service.ts'

const db = await openTestDatabase()
const caller = callerOf()
const example = fileURLToPath(new URL('../../docs/examples/parcels', import.meta.url))
const token = 'a-very-secret-token'

/** The example of docs/sources.md, for a service of this address; `change` may change its files. */
async function exampleAt(host: string, change = (text: string, _name: string) => text) {
  const folder = await mkdtemp(join(tmpdir(), 'stepwarden-parcels-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp(example, folder, { recursive: true })
  for (const name of ['sources.yaml', 'openapi.yaml', 'playbook.yaml']) {
    const text = await readFile(join(folder, name), 'utf8')
    await writeFile(join(folder, name), change(text.replaceAll('127.0.0.1:8787', host), name))
  }
  return folder
}

async function openApp(folder: string): Promise<AppContext> {
  vi.stubEnv('PARCEL_TOKEN', token)
  const app = await createContext(
    db.database,
    { tenantId: 'default', logLevel: 'silent', toolModule: join(folder, 'sources.yaml') },
    { embedder: ngramEmbedder },
  )
  onTestFinished(() => app[Symbol.asyncDispose]())
  return app
}

/** Makes the playbook of the example under a key of its own, and activates it. */
async function activate(app: AppContext, folder: string, key: string): Promise<void> {
  const text = await readFile(join(folder, 'playbook.yaml'), 'utf8')
  const definition = { ...Object(readDocument(text, { name: 'playbook.yaml' }).value), key }
  await operations.createProcedure.invoke(app, caller, { definition })
  const version = { procedureKey: key, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, version)
}

async function run(app: AppContext, procedureKey: string, parcelId: string, day: string) {
  const { execution } = await operations.startExecution.invoke(app, caller, {
    procedureKey,
    input: { parcelId, day },
  })
  const { divergence } = await operations.replayExecution.invoke(app, caller, {
    executionId: execution.id,
  })
  expect(divergence).toBeNull()
  return execution
}

async function startExample(): Promise<string> {
  const service: ChildProcess = spawn(process.execPath, [join(example, 'service.js'), '0'], {
    env: { PATH: process.env.PATH, PARCEL_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    service.kill()
    await once(service, 'close')
  })
  const [line] = service.stdout === null ? [] : await once(service.stdout, 'data')
  return /http:\/\/(\S+)/.exec(String(line))?.[1] ?? ''
}

/** The tables in which a text stands, whoever's it is. */
async function tablesWith(text: string): Promise<readonly string[]> {
  return db.asOwner('default', async (client) => {
    const { rows } = await client.query(
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
    )
    const found: string[] = []
    for (const { name } of rows) {
      const held = await client.query(
        `SELECT 1 FROM ${name} t WHERE t::text LIKE '%' || $1 || '%'`,
        [text],
      )
      if (held.rows.length > 0) found.push(name)
    }
    return found
  })
}

it('the example of the documentation runs, and no secret of it is kept', async () => {
  const folder = await exampleAt(await startExample())
  const app = await openApp(folder)
  await activate(app, folder, 'PARCEL_REDELIVERY')

  const planned = await run(app, 'PARCEL_REDELIVERY', 'P-100', 'Friday')
  const lost = await run(app, 'PARCEL_REDELIVERY', 'P-100', 'lost')
  const delivered = await run(app, 'PARCEL_REDELIVERY', 'P-200', 'Friday')
  const unknown = await run(app, 'PARCEL_REDELIVERY', 'P-999', 'Friday')

  expect(planned.result).toEqual({ id: 'R-1', day: 'Friday', state: 'planned' })
  expect(lost.result).toEqual({ id: 'R-2', day: 'lost', state: 'planned' })
  expect(delivered.outcome).toBe('declined')
  expect(unknown).toMatchObject({ status: 'escalated', reason: { code: 'tool_failed' } })
  expect(unknown.reason?.message).toContain('answered 404: (NO_PARCEL) There is no such parcel.')
  expect([...app.tools.current.keys()]).toEqual(['get_parcel', 'plan_redelivery'])
  const listed = await operations.listTools.invoke(app, caller, {})
  expect(JSON.stringify(listed)).not.toContain(token)
  // The look finds what is there.
  expect(await tablesWith('delivery_failed')).toContain('step_executions')
  expect(await tablesWith(token)).toEqual([])
  // What the document says and the declaration does not ask for is not recorded.
  expect(await tablesWith('Dog in the garden')).toEqual([])
})

/** A service of parcels that is ended in the middle of the first write. */
async function serveFalling(startAgain: boolean) {
  const made: object[] = []
  const service = await serveOutside((request, response) => {
    if (request.method === 'POST') {
      made.push({ id: 'R-1', state: 'planned', ...JSON.parse(request.body) })
      void service.stop().then(() => startAgain && setTimeout(() => void service.start(), 500))
      return
    }
    if (request.path.startsWith('/redeliveries')) answerJson(response, { items: made })
    else answerJson(response, { id: 'P-100', state: 'delivery_failed' })
  })
  return { ...service, made }
}

it('a write whose service ends in the middle of it is found again, and made once', async () => {
  const service = await serveFalling(true)
  const folder = await exampleAt(service.host)
  const app = await openApp(folder)
  await activate(app, folder, 'FALLS_AND_RISES')

  const execution = await run(app, 'FALLS_AND_RISES', 'P-100', 'Friday')

  expect(execution).toMatchObject({ outcome: 'resolved', result: { id: 'R-1', day: 'Friday' } })
  expect(service.made).toHaveLength(1)
})

it('a write that cannot be looked up stays in doubt, and a person looks', async () => {
  const service = await serveFalling(true)
  const folder = await exampleAt(service.host, (text) =>
    text
      .replace('field: reference }', 'field: reference, repeat: false }')
      .replace(/ +lookup:.*\n/, '')
      .replace(/ +retry: \{ maxAttempts: 3, delay: 2s \}\n/, ''),
  )
  const app = await openApp(folder)
  await activate(app, folder, 'FALLS_UNKNOWN')

  const execution = await run(app, 'FALLS_UNKNOWN', 'P-100', 'Friday')

  expect(execution).toMatchObject({ status: 'escalated', reason: { code: 'outcome_unknown' } })
  expect(service.made).toHaveLength(1)
})

it('a read whose service is gone is tried again, and fails', async () => {
  const service = await serveFalling(false)
  const folder = await exampleAt(service.host)
  const app = await openApp(folder)
  await activate(app, folder, 'GONE')
  await service.stop()

  const execution = await run(app, 'GONE', 'P-100', 'Friday')

  expect(execution).toMatchObject({ status: 'escalated', reason: { code: 'tool_failed' } })
  expect(execution.reason?.message).toContain('was not reached')
})

it.each([
  ['the answer', 'required: [id, state]', 'required: [state]'],
  ['where it is asked', '/parcels/{parcelId}:', '/v2/parcels/{parcelId}:'],
])('a document that has changed %s runs nothing under the old approval', async (what, from, to) => {
  const service = await serveFalling(false)
  const folder = await exampleAt(service.host)
  const key = `CHANGED_${what.length}`
  await activate(await openApp(folder), folder, key)
  const changed = await exampleAt(service.host, (text, name) =>
    name === 'openapi.yaml' ? text.replace(from, to) : text,
  )

  const execution = await run(await openApp(changed), key, 'P-100', 'Friday')

  expect(execution).toMatchObject({ status: 'escalated', reason: { code: 'tool_changed' } })
  expect(service.seen).toEqual([])
})

it('an answer that is no longer what the document says is not recorded', async () => {
  const service = await serveOutside((_request, response) =>
    answerJson(response, { id: 'P-100', state: 'eaten' }),
  )
  const folder = await exampleAt(service.host)
  const app = await openApp(folder)
  await activate(app, folder, 'DRIFTED')

  const execution = await run(app, 'DRIFTED', 'P-100', 'Friday')

  expect(execution).toMatchObject({ status: 'escalated', reason: { code: 'output_invalid' } })
})
