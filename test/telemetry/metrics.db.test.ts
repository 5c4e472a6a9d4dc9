import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Secret } from '../../src/config/secret.ts'
import { listFigures } from '../../src/db/queries/health.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { listenForMetrics } from '../../src/http/metrics.ts'
import { operations } from '../../src/operations/registry.ts'
import { createPrometheusMeter } from '../../src/telemetry/prometheus-meter.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { keyFor, openTestDoor } from '../support/http.ts'

const meter = createPrometheusMeter()
let mood: 'well' | 'refuses' = 'well'
const look = defineTool({
  name: 'look',
  description: 'Looks an account up',
  effect: 'read',
  input: z.object({}),
  output: z.object({}),
  run: async () => {
    if (mood === 'refuses') throw new Error('no')
    return {}
  },
})
const { app, db } = await openTestApp({ tools: [look], meter })
const token = new Secret('a-token-of-the-operator')
const door = await openTestDoor(app, { metricsToken: token })
const root = callerOf()
let key = ''

beforeAll(async () => {
  await db.addTenant('other')
  const definition = {
    key: 'LOOK_PLAYBOOK',
    name: 'Look at an account',
    description: 'Looks at the account of a customer.',
    issuePatterns: ['look at my account'],
    steps: [{ key: 'look', action: 'Look', tool: 'look' }],
    escalateTo: { queue: 'accounts' },
  }
  await operations.createProcedure.invoke(app, root, { definition })
  const serving = { procedureKey: 'LOOK_PLAYBOOK', versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, root, serving)
  key = await keyFor(app, 'kim', ['agent', 'admin'])
})

/** The figures as Prometheus would read them: `name{labels}` and value. */
async function figures(): Promise<ReadonlyMap<string, number>> {
  const { status, body } = await door.call('GET /metrics', { key: token.reveal() })
  expect(status).toBe(200)
  return figuresOf(body)
}

function figuresOf(text: string): ReadonlyMap<string, number> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^([^#\s]\S*(?:\{.*\})?) (\S+)$/.exec(line) ?? []
      return name === undefined ? [] : [[name, Number(value)]]
    }),
  )
}

const resolve = (text: string) => door.call('POST /v1/resolve', { key, body: { ticket: { text } } })

describe('figures', () => {
  it('count what happened at the door, in search, runs, steps, tools and replies', async () => {
    await resolve('look at my account')
    mood = 'refuses'
    await resolve('look at my account')
    mood = 'well'
    await resolve('Where is my parcel?')
    await door.call('GET /v1/procedures/NOT_THERE', { key })
    await door.call('GET /of/no/route')
    await door.call('GET /v1/me', { key: 'sw_default_no' })

    const found = await figures()

    const expected = {
      'stepwarden_http_requests_total{operation="resolveTicket",status="200"}': 3,
      'stepwarden_http_request_duration_seconds_count{operation="resolveTicket"}': 3,
      'stepwarden_http_requests_total{operation="getProcedure",status="404"}': 1,
      'stepwarden_http_requests_total{operation="none",status="404"}': 1,
      'stepwarden_http_requests_total{operation="whoAmI",status="401"}': 1,
      'stepwarden_searches_total{decision="selected"}': 2,
      'stepwarden_searches_total{decision="no_match"}': 1,
      stepwarden_embedder_fallbacks_total: 0,
      stepwarden_executions_started_total: 2,
      'stepwarden_executions_ended_total{status="completed",reason="none"}': 1,
      'stepwarden_executions_ended_total{status="escalated",reason="tool_failed"}': 1,
      stepwarden_executions_in_flight: 0,
      stepwarden_executions_unattended: 0,
      'stepwarden_steps_ended_total{kind="tool",status="completed"}': 1,
      'stepwarden_steps_ended_total{kind="tool",status="failed"}': 1,
      'stepwarden_tool_calls_total{tool="look",effect="read",result="done"}': 1,
      'stepwarden_tool_calls_total{tool="look",effect="read",result="error"}': 1,
      'stepwarden_tool_call_duration_seconds_count{tool="look"}': 2,
      'stepwarden_replies_total{source="built_in",cause="no_model"}': 2,
      // One for each of the two runs, whose reads share it.
      stepwarden_commit_duration_seconds_count: 2,
      'stepwarden_escalations_open{queue="accounts"}': 1,
      'stepwarden_escalations_open{queue="triage"}': 1,
      stepwarden_webhook_messages_pending: 0,
      'stepwarden_database_connections{state="waiting"}': 0,
      stepwarden_figures_up: 1,
    }
    expect(Object.fromEntries(found)).toMatchObject(expected)
    expect(found.get('stepwarden_seal_lag_seconds')).toBeGreaterThanOrEqual(0)
    expect(found.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0)
    expect(found.get('nodejs_heap_size_used_bytes')).toBeGreaterThan(0)
  })

  it('have no label whose values outsiders choose, and none of a tenant', async () => {
    const names = new Set(
      [...(await figures()).keys()]
        .filter((name) => name.startsWith('stepwarden_'))
        .flatMap((name) => [...name.matchAll(/[{,](\w+)="/g)].map(([, label]) => label)),
    )

    expect([...names].sort()).toEqual(
      ['cause', 'decision', 'effect', 'kind', 'le', 'operation', 'queue', 'reason', 'result']
        .concat(['source', 'state', 'status', 'tool'])
        .sort(),
    )
  })

  it('of queues are the fifty longest by name, and the rest together', async () => {
    const { kysely } = db.database.forTenant('other')
    for (let queue = 0; queue < 60; queue += 1) {
      await kysely
        .insertInto('escalations')
        .values({
          tenant_id: 'other',
          id: `esc_${queue}`,
          queue: `queue ${String(queue).padStart(2, '0')}`,
          priority: 'normal',
          status: 'open',
          reason: JSON.stringify({ code: 'no_procedure', message: 'None.' }),
          opened_at: new Date(),
        })
        .execute()
    }

    const rows = (await listFigures(app.database)).filter(
      ({ figure }) => figure === 'escalations_open',
    )

    expect(rows).toHaveLength(51)
    // Sixty of the one tenant and two of the other, of which 50 have a name.
    expect(rows.find(({ label }) => label === 'other')).toMatchObject({ value: 12 })
  })
})

describe('the figures of a deployment', () => {
  it.each([
    ['nobody', undefined],
    ['a key of an admin', 'key'],
    ['another token', 'a-token-of-the-operator-2'],
  ])('are not for %s', async (_name, shown) => {
    const { status, body } = await door.call('GET /metrics', {
      ...(shown !== undefined && { key: shown === 'key' ? key : shown }),
    })

    expect(status).toBe(401)
    expect(JSON.stringify(body)).not.toContain('stepwarden_')
  })

  it('are nowhere when nobody was given a token for them', async () => {
    const closed = await openTestDoor(app)

    expect((await closed.call('GET /metrics', { key: token.reveal() })).status).toBe(404)
  })

  it('can be had at a port of their own, with the token where there is one', async () => {
    const at = { host: '127.0.0.1', port: 0 }
    await using open = await listenForMetrics(meter, at)
    await using guarded = await listenForMetrics(meter, { ...at, token })
    const authorization = `Bearer ${token.reveal()}`

    const answer = await fetch(open.address)
    expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4')
    expect(figuresOf(await answer.text()).get('stepwarden_figures_up')).toBe(1)
    expect((await fetch(guarded.address)).status).toBe(401)
    expect((await fetch(guarded.address, { headers: { authorization } })).status).toBe(200)
    expect((await fetch(open.address, { method: 'POST' })).status).toBe(405)
    expect((await fetch(open.address.replace('metrics', 'v1/me'))).status).toBe(404)
    await expect(
      listenForMetrics(meter, { ...at, port: Number(new URL(open.address).port) }),
    ).rejects.toMatchObject({ code: 'ADDRESS_UNUSABLE' })
  })
})

it('each figure on the example board is one that is told', async () => {
  const text = readFileSync(new URL('../../docs/examples/dashboard.json', import.meta.url), 'utf8')
  const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] }
  const told = new Set(
    [...(await meter.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  )

  const shown = panels
    .flatMap(({ targets }) => targets)
    .flatMap(({ expr }) => [...expr.matchAll(/(?:stepwarden|nodejs|process)_\w+/g)].map(String))

  expect(shown.length).toBeGreaterThan(20)
  expect(shown.filter((name) => !told.has(name))).toEqual([])
  // And each of ours is shown somewhere.
  const ours = [...(await meter.text()).matchAll(/^# TYPE (stepwarden_\S+)/gm)].map(([, n]) => n)
  expect(ours.filter((name) => !text.includes(String(name)))).toEqual([])
})
