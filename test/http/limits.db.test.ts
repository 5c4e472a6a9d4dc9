import { describe, expect, it } from 'vitest'
import { createGate, type GateOptions } from '../../src/access/gate.ts'
import { createTokenReader } from '../../src/access/tokens.ts'
import { openTestApp } from '../support/app.ts'
import { keyFor, openTestDoor } from '../support/http.ts'
import { openTestIssuer } from '../support/issuer.ts'

const issuer = await openTestIssuer()
const oidc = {
  ...{ issuer: issuer.url, audience: 'stepwarden', rolesClaim: 'roles', tenantId: 'default' },
}
const { app } = await openTestApp({ tools: [] }, { oidc })
const key = await keyFor(app, 'kim', ['agent'])
const request = 'GET /v1/procedures'

let now = 0
const openDoor = (options: Partial<GateOptions> = {}, trustedProxies: readonly string[] = []) => {
  const gate = createGate({ rateLimit: undefined, now: () => now, ...options })
  return openTestDoor(app, { gate, trustedProxies })
}

const guessed = 'sw_default_another'

/** Shows twenty keys that let nobody in. */
async function guess(
  door: Awaited<ReturnType<typeof openDoor>>,
  headers: Record<string, string> = {},
): Promise<readonly number[]> {
  const statuses: number[] = []
  for (let i = 0; i < 20; i += 1) {
    const { status } = await door.call(request, { key: `sw_default_${i}`, headers })
    statuses.push(status)
  }
  return statuses
}

describe('whoever guesses keys', () => {
  it('is not listened to any more, while those with good keys from there are', async () => {
    const door = await openDoor()
    expect((await door.call(request, { key })).status).toBe(200)
    const other = await keyFor(app, 'lee', ['agent'])

    expect(new Set(await guess(door))).toEqual(new Set([401]))
    const refused = await door.call(request, { key: guessed })
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMITED', status: 429, retryable: true },
    })
    expect(refused.headers.get('content-type')).toContain('application/problem+json')
    expect(refused.headers.get('retry-after')).toBe('3')
    expect((await door.call(request, { key })).status).toBe(200)
    expect((await door.call(request, { key: other })).status).toBe(200)
    now += 3_000
    expect((await door.call(request, { key: guessed })).status).toBe(401)
  })

  it('is who connects, whatever they say of where they come from', async () => {
    const door = await openDoor()
    await guess(door, { 'x-forwarded-for': '198.51.100.1' })

    const headers = { 'x-forwarded-for': '198.51.100.2' }
    expect((await door.call(request, { key: guessed, headers })).status).toBe(429)
  })

  it('is whom a trusted proxy names', async () => {
    const door = await openDoor({}, ['127.0.0.1'])
    await guess(door, { 'x-forwarded-for': '198.51.100.1' })

    const status = async (from: string) =>
      (await door.call(request, { key: guessed, headers: { 'x-forwarded-for': from } })).status
    expect(await status('198.51.100.1')).toBe(429)
    expect(await status('198.51.100.2')).toBe(401)
  })
})

describe('whoever asks too fast', () => {
  it('is told how much is left, and then when to go on, at event streams as well', async () => {
    const door = await openDoor({ rateLimit: { perSecond: 1, burst: 3 } })
    const stream = 'GET /v1/executions/exec_0123456789abcdefghjkm/events'

    const [first, second, third] = [
      await door.call(request, { key }),
      await door.call(stream, { key }),
      await door.call('POST /v1/procedures', { key, body: {} }),
    ]
    expect([first, second, third].map(({ status }) => status)).toEqual([200, 404, 403])
    expect(first.headers.get('ratelimit-limit')).toBe('3')
    expect(third.headers.get('ratelimit-remaining')).toBe('0')
    for (const one of [request, stream]) {
      const refused = await door.call(one, { key })
      expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED'])
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(refused.headers.get('ratelimit-reset')).toBe('3')
    }
    now += 1_000
    expect((await door.call(request, { key })).status).toBe(200)
  })
})

describe('a token over HTTP', () => {
  it('lets its person in', async () => {
    const door = await openDoor()
    const token = await issuer.token(Date.now(), { roles: ['agent'] })

    expect((await door.call(request, { key: token })).status).toBe(200)
    expect((await door.call('GET /v1/principals', { key: token })).status).toBe(403)
  })

  it('that is refused counts as a key does', async () => {
    const door = await openDoor()
    const old = await issuer.token(0)

    for (let i = 0; i < 20; i += 1) {
      expect((await door.call(request, { key: old })).status).toBe(401)
    }
    expect((await door.call(request, { key: old })).status).toBe(429)
  })

  it('that cannot be judged now is no refusal', async () => {
    const iss = 'http://127.0.0.1:1'
    using tokens = createTokenReader({ ...oidc, issuer: iss }, { log: app.log })
    const door = await openTestDoor(
      { ...app, tokens },
      { gate: createGate({ rateLimit: undefined }) },
    )
    const token = await issuer.token(Date.now(), { iss })

    for (let i = 0; i < 25; i += 1) {
      const answer = await door.call(request, { key: token })
      expect([answer.status, answer.body.code]).toEqual([503, 'ISSUER_UNAVAILABLE'])
    }
  })
})
