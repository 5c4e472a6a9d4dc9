import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openCollector } from '../support/collector.ts'
import { runCli, startCli, temporaryFolder } from './run-cli.ts'

const page = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8')
const folder = temporaryFolder()

test('the example of the page gives a line of log, a trace and figures of a request', async () => {
  const lines = (/```sh\n(.*?)```/s.exec(page)?.[1] ?? '').trim().split('\n')
  const collector = await openCollector()
  const environment = Object.fromEntries(
    lines
      .filter((line) => line.startsWith('export '))
      .map((line) => line.slice('export '.length).split('=', 2)),
  )
  const [command = ''] = lines.filter((line) => line.startsWith('stepwarden '))
  const [figuresUrl = ''] = lines.flatMap((line) => /^curl -s (\S+)$/.exec(line)?.slice(1) ?? [])
  // What listens at the ports of the page on this machine is none of the test's.
  const words = command
    .replace('--metrics-port 9464', '--port 0 --metrics-port 0')
    .split(' ')
    .slice(1)
  expect(environment.OTEL_EXPORTER_OTLP_ENDPOINT).toBe('http://127.0.0.1:4318')

  const dataDir = join(folder, 'data')
  await runCli(['procedures', 'seed'], { dataDir })
  const served = startCli(words, {
    dataDir,
    environment: { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url).origin },
  })
  let said = ''
  served.child.stderr?.on('data', (text) => {
    said += text
  })
  onTestFinished(() => {
    served.child.kill('SIGKILL')
  })
  await served.says('Ctrl-C stops it')
  const [, url = ''] = /serves (http:\S+),/.exec(said) ?? []
  const [key = ''] = /sw_default_\S+/.exec(said) ?? []
  const [figures = ''] = /http:\S+\/metrics/.exec(said) ?? []
  const answer = await fetch(`${url}/v1/search`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"issue":"my card was charged twice, says Mrs Greenwood"}',
  })

  expect(answer.status).toBe(200)
  expect(new URL(figuresUrl)).toMatchObject({
    hostname: '127.0.0.1',
    port: '9464',
    pathname: '/metrics',
  })
  expect(new URL(figures).pathname).toBe('/metrics')
  expect(await (await fetch(figures)).text()).toMatch(
    /stepwarden_http_requests_total\{[^}]*operation="searchProcedures"[^}]*\} 1/,
  )
  await vi.waitFor(
    () =>
      expect(collector.spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['search'])),
    20_000,
  )
  const requests = said
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes('"/v1/search"'))
    .map((line) => JSON.parse(line))
  expect(requests).toEqual([
    expect.objectContaining({ method: 'POST', status: 200, tenantId: 'default' }),
  ])
  for (const told of [said, ...collector.bodies]) expect(told).not.toContain('Greenwood')
})
