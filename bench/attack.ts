/**
 * Sends requests to a server that it starts: as the OpenAPI document has them, and as nobody should. See docs/http.md.
 *
 *   npm run attack -- [--requests N] [--seed S] [--json]
 *
 * Exits with 1 when an answer was wrong: a status of 500 or more, one of which the document does not tell, an answer that takes
 * more than 10 s, or one that shows a stack, SQL or a secret. The server runs on the embedded database.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Generator, targetsOf } from './attack/generate.ts'
import { faultOf } from './attack/judge.ts'
import { randomOf } from './chaos/random.ts'

const longestMs = 10_000
const atOnce = 4

interface Fault {
  readonly what: string
  readonly request: string
  readonly answer: string
}

async function attack(url: string, keys: readonly string[], requests: number, seed: number) {
  const random = randomOf(seed)
  const document: unknown = await (await fetch(`${url}/openapi.json`)).json()
  const targets = targetsOf(document)
  const generator = new Generator(random, document)
  const counts = new Map<number, number>()
  const faults: Fault[] = []
  let sent = 0

  // The first is the admin's, whom most is open to.
  const keyFor = (at: number) => keys[Math.max(0, Math.floor((2 * at - 1) * keys.length))]

  async function one(): Promise<void> {
    const target = targets[Math.floor(random() * targets.length)]
    if (target === undefined) throw new TypeError('the document has no operation')
    const { method, path, headers, body } = generator.request(target)
    const key = random() < 0.03 ? 'sw_default_x' : keyFor(random())
    const type = random() < 0.02 ? 'text/plain' : 'application/json'
    const began = performance.now()
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...headers,
        ...(random() < 0.97 && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && method !== 'GET' && { 'content-type': type }),
      },
      ...(body !== undefined && method !== 'GET' && { body }),
      signal: AbortSignal.timeout(3 * longestMs),
    })
    const text = await response.text()
    const ms = performance.now() - began
    const { status } = response
    counts.set(status, (counts.get(status) ?? 0) + 1)
    // What another method or path answers is told where those are described.
    const allowed = method === target.method ? [...target.statuses, 404, 415] : [status]
    // No name of a path, nor all headers together, may be longer than some kilobytes.
    if (path.length > 8_000) allowed.push(431)
    const asked = `${method} ${path} ${body ?? ''}`
    const all = `${asked} ${JSON.stringify(headers)} ${safelyDecoded(path)}`
    const what = faultOf({ status, ms, text }, all, allowed, longestMs)
    if (what !== undefined)
      faults.push({ what, request: asked.slice(0, 2_000), answer: text.slice(0, 500) })
    else if (response.ok) generator.learn(JSON.parse(text))
  }

  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (sent < requests) {
        sent += 1
        if (sent % 1_000 === 0) console.error(`${sent} requests`)
        await one().catch((error: unknown) => {
          faults.push({ what: 'no answer', request: '', answer: String(error) })
        })
      }
    }),
  )
  return {
    requests: sent,
    seed,
    statuses: Object.fromEntries([...counts].sort(([a], [b]) => a - b)),
    faults,
  }
}

function safelyDecoded(path: string): string {
  try {
    return decodeURIComponent(path.replaceAll('+', ' '))
  } catch {
    return path
  }
}

interface Server {
  readonly url: string
  readonly key: string
  readonly child: ChildProcess
}

/** The real command, on a folder of its own, with the playbooks of the demo. */
async function startServer(dataDir: string): Promise<Server> {
  const entry = fileURLToPath(new URL('../bin/stepwarden.js', import.meta.url))
  const env = {
    ...process.env,
    DATABASE_URL: '',
    STEPWARDEN_DATA_DIR: dataDir,
    STEPWARDEN_REQUIRED_APPROVALS: '0',
    // What is refused for coming too fast reaches nothing.
    STEPWARDEN_RATE_LIMIT: 'off',
  }
  await new Promise((resolve) => {
    spawn(process.execPath, [entry, 'procedures', 'seed'], { env, stdio: 'ignore' }).on(
      'exit',
      resolve,
    )
  })
  const child = spawn(process.execPath, [entry, 'serve', '--port', '0'], { env })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('Ctrl-C')) resolve()
    })
    child.on('exit', () => reject(new Error(`the server did not start: ${said}`)))
  })
  const [, url = ''] = /serves (http:\S+),/.exec(said) ?? []
  return { url, key: /sw_default_\S+/.exec(said)?.[0] ?? '', child }
}

/** A key for each role, and the admin's own. */
async function makeKeys({ url, key }: Server): Promise<readonly string[]> {
  const post = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return Object(await response.json())
  }
  const keys = [key]
  for (const role of ['agent', 'author', 'approver', 'auditor']) {
    const principalId = `attacker-${role}`
    await post('principals', { principalId, roles: [role] })
    keys.push(String((await post('keys', { principalId })).key))
  }
  return keys
}

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
})
const dataDir = mkdtempSync(join(tmpdir(), 'stepwarden-attack-'))
const server = await startServer(dataDir)
try {
  const keys = await makeKeys(server)
  const report = await attack(server.url, keys, Number(values.requests), Number(values.seed))
  const isAlive = server.child.exitCode === null
  if (values.json) console.log(JSON.stringify({ ...report, isAlive }))
  else {
    console.table(report.statuses)
    for (const { what, request, answer } of report.faults.slice(0, 20))
      console.log(`${what}\n  ${request}\n  ${answer}\n`)
    console.log(
      `${report.requests} requests, ${report.faults.length} faults; the server ${isAlive ? 'lives' : 'is gone'}.`,
    )
  }
  if (report.faults.length > 0 || !isAlive) process.exitCode = 1
} finally {
  server.child.kill('SIGTERM')
  await new Promise((resolve) => server.child.once('exit', resolve))
  rmSync(dataDir, { recursive: true, force: true })
}
