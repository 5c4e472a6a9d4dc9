import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readEvents } from '../support/sse.ts'
import { jsonValues, type Running, runCli, startCli, temporaryFolder } from './run-cli.ts'

const folder = temporaryFolder()

interface Served extends Running {
  readonly url: string
  /** What was said while it started. */
  readonly said: string
}

async function serve(dataDir: string, ...words: string[]): Promise<Served> {
  const running = startCli(['serve', '--port', '0', ...words], { dataDir })
  let said = ''
  running.child.stderr?.on('data', (text) => {
    said += text
  })
  onTestFinished(() => {
    running.child.kill('SIGKILL')
  })
  await running.says('Ctrl-C stops it')
  const url = /serves (http:\S+),/.exec(said)?.[1] ?? ''
  return { ...running, url, said }
}

/** The example of a page that calls `path`, its variables filled in, as a request. */
function exampleOf(
  page: string,
  path: string,
  values: Readonly<Record<string, string>>,
): [string, RequestInit] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
  const block = [...text.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, code]) => code ?? '')
    .find((code) => code.includes(path))
  if (block === undefined) throw new Error(`${page} has no example of ${path}`)
  const filled = block.replaceAll(/\$(\w+)/g, (_, name: string) => values[name] ?? '')
  const [, url = ''] = /(http:\/\/\S+)/.exec(filled) ?? []
  const headers = [...filled.matchAll(/-H "?'?([\w-]+): ([^"']+)["']/g)].map(
    ([, name, value]) => [name ?? '', value ?? ''] as [string, string],
  )
  const [, body] = /-d '(.*)'/.exec(filled) ?? []
  return [url, { headers, ...(body !== undefined && { method: 'POST', body }) }]
}

test('a ticket is resolved and followed as the page says it, and the first key is shown once', async () => {
  const dataDir = join(folder, 'first')
  await runCli(['procedures', 'seed'], { dataDir })
  const first = await serve(dataDir)
  const [key = ''] = /sw_default_\S+/.exec(first.said) ?? []
  const [url, init] = exampleOf('http.md', '/v1/resolve', { KEY: key })
  expect(url).toBe('http://127.0.0.1:7420/v1/resolve')
  const resolved = await fetch(url.replace('http://127.0.0.1:7420', first.url), init)
  expect(resolved.status).toBe(200)
  const { execution, reply } = Object(await resolved.json())
  expect(execution.outcome).toBe('resolved')
  const [events] = exampleOf('http.md', '/events', { KEY: key, ID: execution.id })
  const told = await readEvents(events.replace('http://127.0.0.1:7420', first.url), { key })
  expect(told.find(({ event }) => event === 'reply')?.data.text).toBe(reply.text)
  first.child.kill('SIGTERM')
  expect(await first.ended).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Stopped.'),
  })

  const second = await serve(dataDir)
  expect(second.said).not.toContain('sw_')
  const again = await fetch(`${second.url}/v1/stats`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(again.status).toBe(200)
})

test('commands go through the process that has the folder open', async () => {
  const dataDir = join(folder, 'shared')
  await runCli(['procedures', 'seed'], { dataDir })
  const served = await serve(dataDir)
  const run = async (...words: string[]) => {
    const { exitCode, stdout, stderr } = await runCli([...words, '--json'], { dataDir })
    return { exitCode, stderr, output: jsonValues(stdout)[0] as Record<string, unknown> }
  }
  const resolved = await run('resolve', 'I was charged twice for TXN-DUP-002')
  expect(resolved).toMatchObject({ exitCode: 0, output: { execution: { outcome: 'resolved' } } })
  const listed = await run('executions', 'list')
  expect(listed.output).toMatchObject({ items: [{ status: 'completed' }] })
  expect((await run('whoami')).output).toMatchObject({
    tenantId: 'default',
    isAuthenticated: false,
  })
  const missing = await run('procedures', 'show', 'NOT_THERE')
  expect(missing.exitCode).toBe(3)
  expect(JSON.parse(missing.stderr)).toMatchObject({
    code: 'PROCEDURE_NOT_FOUND',
    details: { procedureKey: 'NOT_THERE' },
  })
  const refused = await runCli(['stats', '--json'], {
    dataDir,
    environment: { STEPWARDEN_KEY: `sw_default_${'x'.repeat(43)}` },
  })
  expect([refused.exitCode, JSON.parse(refused.stderr).code]).toEqual([5, 'KEY_REFUSED'])

  // Nobody else comes in that way.
  for (const authorization of ['Bearer ', `Bearer ${'a'.repeat(43)}`]) {
    const answer = await fetch(`${served.url}/local/getStats`, {
      method: 'POST',
      headers: { authorization },
    })
    expect(answer.status).toBe(401)
  }
  served.child.kill('SIGKILL')
  await served.ended
  expect((await run('stats')).exitCode).toBe(0)
})

test('it works on the runs that nobody has, unless it is told not to', async () => {
  const dataDir = join(folder, 'working')
  await runCli(['procedures', 'seed'], { dataDir })
  const words = ['executions', 'start', 'REFUND_DELAY_PLAYBOOK', '--detach', '--json']
  const input = ['--input', '{"transactionId": "TXN-REFUND-003"}']
  const first = await serve(dataDir, '--no-work')
  const stored = await runCli([...words, ...input], { dataDir })
  expect(stored.stderr).toBe('')
  const { execution } = Object(jsonValues(stored.stdout)[0])
  const statusOf = async () => {
    const shown = await runCli(['executions', 'show', execution.id, '--json'], { dataDir })
    return Object(jsonValues(shown.stdout)[0]).execution.status
  }
  expect(await statusOf()).toBe('pending')
  first.child.kill('SIGTERM')
  await first.ended

  await serve(dataDir)
  await vi.waitFor(async () => expect(await statusOf()).toBe('completed'), {
    timeout: 20_000,
    interval: 100,
  })
})

test('it opens for those who have keys where the first admin is shut out', async () => {
  const dataDir = join(folder, 'without-admin')
  await runCli(['principals', 'add', 'admin', '--roles', 'admin'], { dataDir })
  await runCli(['principals', 'set', 'admin', '--disable'], { dataDir })

  const { said } = await serve(dataDir)

  expect(said).toContain("nobody is admin here. 'admin' is shut out")
})

test('a port that is taken is told of', async () => {
  const first = await serve(join(folder, 'one'))
  const port = new URL(first.url).port
  const { exitCode, stderr } = await runCli(['serve', '--port', port], {
    dataDir: join(folder, 'two'),
  })
  expect(exitCode).toBe(6)
  expect(stderr).toContain(`Nothing can be served at 127.0.0.1, port ${port}`)
})

test.each(['--port', '--metrics-port'])(
  '%s that no machine has is refused before anything',
  async (flag) => {
    const { exitCode, stderr } = await runCli(['serve', flag, '70000'], {
      dataDir: join(folder, 'never'),
    })
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`${flag} must be a port, 0 to 65535, found 70000`)
    expect(existsSync(join(folder, 'never'))).toBe(false)
  },
)

test('figures are where the flag says, and a port that is taken for them is told of', async () => {
  const first = await serve(join(folder, 'figures'), '--metrics-port', '0')
  const [, address = ''] = /Figures for Prometheus are at (\S+)\./.exec(first.said) ?? []
  expect(await (await fetch(address)).text()).toContain('stepwarden_http_requests_total')
  const { exitCode, stderr } = await runCli(
    ['serve', '--port', '0', '--metrics-port', new URL(address).port],
    { dataDir: join(folder, 'others') },
  )
  expect(exitCode).toBe(6)
  expect(stderr).toContain('--metrics-port')
  first.child.kill('SIGTERM')
  expect((await first.ended).exitCode).toBe(0)
})

test('doctor looks through the process that has the folder open', async () => {
  const dataDir = join(folder, 'examined')
  const served = await serve(dataDir)

  const { exitCode, stdout } = await runCli(['doctor', '--json'], { dataDir })

  const { ok, checks } = JSON.parse(stdout)
  expect([exitCode, ok]).toEqual([0, true])
  expect(checks).toContainEqual({
    ...{ name: 'data folder', status: 'ok' },
    text: expect.stringContaining('is open in the process that serves it'),
  })
  expect(checks.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['search', 'embeddings', 'left out']),
  )
  served.child.kill('SIGTERM')
  await served.ended
})
