import { inspect } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { Secret } from '../../src/config/secret.ts'
import { callWithin } from '../../src/openai/call-within.ts'
import { createOpenAiClient, type OpenAiConnection } from '../../src/openai/client.ts'
import { startOpenAiServer } from '../support/openai-server.ts'

const server = await startOpenAiServer({ dimensions: 4 })
afterAll(() => server[Symbol.asyncDispose]())

function embed({
  connection = server.connection,
  model = 'text-embedding-3-small',
  timeoutMs = 5_000,
}: {
  readonly connection?: OpenAiConnection
  readonly model?: string
  readonly timeoutMs?: number
}) {
  const client = createOpenAiClient(connection)
  return callWithin({ timeoutMs }, (signal) =>
    client.embeddings.create({ model, input: 'late' }, { signal }),
  )
}

describe('callWithin', () => {
  it('answers what the server answers, asked with the key', async () => {
    server.embed({ vectors: () => [0.5, 0.5, 0.5, 0.5] })

    const { data } = await embed({})

    expect([...(data[0]?.embedding ?? [])]).toEqual([0.5, 0.5, 0.5, 0.5])
    expect(server.requests.map(({ path }) => path)).toEqual(['/embeddings'])
  })

  it.each([500, 503, 429])('asks once more after a %s', async (status) => {
    server.embed({ status }, { vectors: 'floats' })

    await embed({})

    expect(server.requests).toHaveLength(2)
  })

  it('asks once more when the connection breaks off', async () => {
    server.embed({ drop: true }, { vectors: 'floats' })

    await embed({})

    expect(server.requests).toHaveLength(2)
  })

  it.each([
    ['unavailable', { status: 500 }],
    ['rate_limited', { status: 429 }],
    ['request_rejected', { status: 400 }],
    ['unreachable', { drop: true }],
    ['unavailable', { raw: '{"data": [' }],
  ] as const)('fails as %s after %j', async (code, step) => {
    server.embed(step)

    await expect(embed({})).rejects.toMatchObject({ name: 'ModelFailed', code })
    expect(server.requests.length).toBeLessThanOrEqual(2)
  })

  it.each([
    { hang: 'before' },
    { hang: 'within' },
    { status: 429, headers: { 'retry-after': '3600' } },
  ] as const)('gives up in time after %j', async (step) => {
    server.embed(step)
    const began = performance.now()

    await expect(embed({ timeoutMs: 300 })).rejects.toMatchObject({ name: 'ModelFailed' })
    expect(performance.now() - began).toBeLessThan(1_500)
  })

  it.each(['endless', 'compressed'] as const)(
    'reads no more of a body that is %s than may come, and asks once',
    async (kind) => {
      server.embed({ flood: kind })
      const before = process.memoryUsage().rss

      await expect(embed({})).rejects.toMatchObject({
        code: 'answer_invalid',
        message: expect.stringContaining('4194304 bytes'),
      })
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
      expect(server.requests).toHaveLength(1)
    },
  )

  it.each([301, 302, 303, 307, 308])(
    'follows no redirect with status %s, so that nobody else gets what was sent',
    async (status) => {
      await using stranger = await startOpenAiServer({ dimensions: 4 })
      const location = `${stranger.connection.baseUrl}/embeddings`
      server.embed({ status, headers: { location } })

      await expect(embed({})).rejects.toMatchObject({
        code: 'model_unknown',
        message: expect.stringContaining('OPENAI_BASE_URL'),
      })
      expect(stranger.requests).toEqual([])
    },
  )

  it.each([
    ['no JSON', { raw: 'sk-SECRET my card is 4111' }],
    ['half of JSON', { raw: '{"data": "sk-SECRET my card is 4111' }],
    ['JSON of another form', { raw: '"sk-SECRET my card is 4111"' }],
    ['an error', { status: 500, headers: { 'x-echo': 'sk-SECRET' } }],
  ] as const)('keeps nothing of what came back when it is %s', async (_, step) => {
    server.embed(step)

    const failure = await embed({}).then(
      () => undefined,
      (error) => error,
    )

    expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/SECRET|4111/)
    expect(failure?.cause).toBeUndefined()
  })

  it('gives up in time when the call does not heed its signal', async () => {
    await expect(callWithin({ timeoutMs: 20 }, () => new Promise(() => {}))).rejects.toMatchObject({
      code: 'timed_out',
    })
  })

  it.each([true, false])(
    'ends with the signal that it was given, aborted before: %s',
    async (before) => {
      const outer = new AbortController()
      if (before) outer.abort()
      const result = callWithin({ timeoutMs: 10_000 }, () => new Promise(() => {}), outer.signal)
      outer.abort()

      await expect(result).rejects.toMatchObject({ code: 'timed_out' })
    },
  )

  it('tells a wrong key and an unknown model apart, and repeats neither the call nor the key', async () => {
    server.embed({ vectors: 'floats' })
    const apiKey = new Secret('sk-wrong-456')

    const wrongKey = await embed({ connection: { ...server.connection, apiKey } }).catch((e) => e)
    const unknownModel = await embed({ model: 'gpt-nope' }).catch((e) => e)

    expect([wrongKey.code, unknownModel.code]).toEqual(['key_rejected', 'model_unknown'])
    expect(`${wrongKey.message}${wrongKey.cause}${wrongKey.stack}`).not.toContain('sk-wrong')
    expect(server.requests).toHaveLength(2)
  })

  it('fails as unreachable when nothing listens', async () => {
    const gone = await startOpenAiServer()
    await gone[Symbol.asyncDispose]()

    await expect(embed({ connection: gone.connection })).rejects.toMatchObject({
      code: 'unreachable',
    })
  })

  it('lets an error of our own out as it is', async () => {
    const bug = new RangeError('ours')

    await expect(callWithin({ timeoutMs: 1_000 }, () => Promise.reject(bug))).rejects.toBe(bug)
  })
})
