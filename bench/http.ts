/**
 * What the HTTP door costs: search, start and get over 50 connections, the same operations in the server's process without
 * the door, and the bare database work of them, in turns of one run; and what a shutdown under load loses. See docs/performance.md.
 *
 *   TEST_DATABASE_URL=… npm run bench:http -- [--seconds 5] [--rounds 3] [--json]
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { createRawTables } from './executor/raw-b.ts'
import { type LoadResult, measureLoad } from './http/load.ts'
import { createScratchDatabase } from './scratch-database.ts'

const connections = 50

interface Server {
  readonly child: ChildProcess
  readonly address: string
  readonly key: string
  readonly procedureKey: string
  readonly input: unknown
  readonly executionId: string
  readonly without: (
    way: 'direct' | 'bare',
    asked: Pick<Asked, 'operation' | 'body'>,
    seconds: number,
  ) => Promise<LoadResult>
}

async function startServer(databaseUrl: string): Promise<Server> {
  const script = fileURLToPath(new URL('./http/server.js', import.meta.url))
  const child = spawn(process.execPath, [script, databaseUrl], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextLine = async () => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error('the server has ended')
    return JSON.parse(value)
  }
  return {
    child,
    ...(await nextLine()),
    async without(way, { operation, body }, seconds) {
      child.stdin.write(`${JSON.stringify({ way, operation, body, connections, seconds })}\n`)
      return nextLine()
    },
  }
}

interface Asked {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly operation: string
  readonly body: object
}

function askedOf({ procedureKey, input, executionId }: Server): readonly Asked[] {
  return [
    {
      ...{ name: 'search', method: 'POST', path: '/v1/search', operation: 'searchProcedures' },
      body: { issue: 'how is my account standing today' },
    },
    {
      ...{ name: 'start', method: 'POST', path: '/v1/executions', operation: 'startExecution' },
      body: { procedureKey, input },
    },
    {
      ...{
        name: 'get',
        method: 'GET',
        path: `/v1/executions/${executionId}`,
        operation: 'getExecution',
      },
      body: { executionId },
    },
  ]
}

async function measureDoor(server: Server, rounds: number, seconds: number) {
  const pool = new Pool(server.address, { connections })
  const results: object[] = []
  for (let round = 1; round <= rounds; round += 1) {
    for (const asked of askedOf(server)) {
      console.error(`round ${round}: ${asked.name}`)
      const bare = await server.without('bare', asked, seconds)
      const direct = await server.without('direct', asked, seconds)
      const door = await measureLoad({ connections, seconds }, () => ask(pool, server.key, asked))
      const shareOf = (other: LoadResult) => Number((door.perSecond / other.perSecond).toFixed(2))
      const [ofDirect, ofBare] = [shareOf(direct), shareOf(bare)]
      results.push({ round, name: asked.name, door, direct, bare, ofDirect, ofBare })
    }
  }
  await pool.close()
  return results
}

async function ask(pool: Pool, key: string, { method, path, body }: Asked): Promise<void> {
  const { statusCode, body: answer } = await pool.request({
    method,
    path,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  })
  await answer.arrayBuffer()
  if (statusCode >= 300) throw new Error(`status ${statusCode}`)
}

/** Ends the server under load, and counts what became of the starts that were sent. */
async function measureShutdown(
  server: Server,
  admin: { query: (text: string, values: unknown[]) => Promise<{ rows: object[] }> },
) {
  const pool = new Pool(server.address, { connections, keepAliveTimeout: 60_000 })
  const answered: string[] = []
  const [refused, cutOff]: [string[], string[]] = [[], []]
  let isEnding = false
  const gone = new Promise((resolve) => server.child.once('exit', resolve))
  const sending = Promise.all(
    Array.from({ length: connections }, async (_, lane) => {
      for (let count = 0; !isEnding || count === 0; count += 1) {
        const idempotencyKey = `shutdown ${lane} ${count}`
        const { procedureKey, input } = server
        try {
          const { statusCode, body } = await pool.request({
            ...{ method: 'POST', path: '/v1/executions' },
            headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ procedureKey, input, idempotencyKey }),
          })
          await body.arrayBuffer()
          if (statusCode < 300) answered.push(idempotencyKey)
          else refused.push(idempotencyKey)
        } catch (error) {
          const code = String(Object(error).code)
          if (code === 'ECONNREFUSED') refused.push(idempotencyKey)
          else cutOff.push(idempotencyKey)
        }
      }
    }),
  )
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  server.child.kill('SIGTERM')
  await gone
  isEnding = true
  await sending
  const stored = async (keys: readonly string[]) => {
    const { rows } = await admin.query(
      'SELECT idempotency_key FROM executions WHERE idempotency_key = ANY ($1)',
      [keys],
    )
    return rows.length
  }
  return {
    answered: answered.length,
    answeredAndNotStored: answered.length - (await stored(answered)),
    refused: refused.length,
    refusedAndStored: await stored(refused),
    cutOff: cutOff.length,
    cutOffAndStored: await stored(cutOff),
  }
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
})
const serverUrl = process.env.TEST_DATABASE_URL
if (serverUrl === undefined || serverUrl === '') {
  console.error(
    'Nothing was measured: set TEST_DATABASE_URL to a PostgreSQL server, as a superuser (eval "export $(.ci/postgres)").',
  )
  process.exitCode = 1
} else {
  await using database = await createScratchDatabase(serverUrl)
  await createRawTables(database.admin)
  const server = await startServer(database.url)
  const door = await measureDoor(server, Number(values.rounds), Number(values.seconds))
  const shutdown = await measureShutdown(server, database.admin)
  const report = {
    measuredAt: new Date().toISOString(),
    node: process.version,
    connections,
    door,
    shutdown,
  }
  if (values.json) console.log(JSON.stringify(report))
  else console.dir(report, { depth: 5 })
}
