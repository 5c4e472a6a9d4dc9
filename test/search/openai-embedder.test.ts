import { afterAll, describe, expect, it } from 'vitest'
import { Secret } from '../../src/config/secret.ts'
import { cosine } from '../../src/search/embedder.ts'
import { openHostedEmbedder } from '../../src/search/hosted-embedder.ts'
import { createOpenAiEmbedder } from '../../src/search/openai-embedder.ts'
import { startOpenAiServer } from '../support/openai-server.ts'

const server = await startOpenAiServer({ dimensions: 8 })
afterAll(() => server[Symbol.asyncDispose]())

const hosted = {
  name: 'small',
  model: 'text-embedding-3-small',
  dimensions: 8,
  isShortened: false,
}
const embedder = createOpenAiEmbedder(server.connection, hosted)

describe('the embedder of a server', () => {
  it('gives a unit vector per text, in their order, in batches', async () => {
    server.embed({ vectors: (text) => [Number(text), 1, 0, 0, 0, 0, 0, 0] })

    const vectors = await embedder.embed(Array.from({ length: 70 }, (_, index) => String(index)))

    expect(vectors.map((vector) => Math.round((vector[0] ?? 0) / (vector[1] ?? 1)))).toEqual(
      Array.from({ length: 70 }, (_, index) => index),
    )
    expect(vectors.every((vector) => Math.abs(Math.hypot(...vector) - 1) < 1e-6)).toBe(true)
    expect(server.requests.map(({ body }) => body.encoding_format)).toEqual(Array(3).fill('float'))
  })

  it('goes by the index of each vector, not by its place', async () => {
    server.embed({ vectors: (text) => [Number(text), 1, 0, 0, 0, 0, 0, 0] })
    const straight = await embedder.embed(['1', '2'])
    server.embed({ vectors: 'reversed' })
    const words = await embedder.embed(['refund', 'parcel'])
    server.embed({ vectors: 'floats' })
    const expected = await embedder.embed(['refund', 'parcel'])

    expect(straight[0]).not.toEqual(straight[1])
    expect(words).toEqual(expected)
  })

  it.each([
    ['empty', '0 dimensions where 8'],
    ['wrong_size', '7 dimensions where 8'],
    ['nan', 'no finite number'],
    ['zero', 'zeros'],
    ['missing', 'no vector for text 2 of 2'],
  ] as const)('refuses an answer that is %s', async (vectors, problem) => {
    server.embed({ vectors })

    await expect(embedder.embed(['a', 'b'])).rejects.toMatchObject({
      code: 'answer_invalid',
      message: expect.stringContaining(problem),
    })
  })

  it.each([
    ['null', 'null', 'no vector'],
    ['a list', '[]', 'no vector'],
    ['without data', '{"data": null}', 'no vector'],
    ['with null for an item', '{"data": [null]}', 'no vector'],
    [
      'with a number beyond what a vector holds',
      JSON.stringify({ data: [{ index: 0, embedding: [1e308, 0, 0, 0, 0, 0, 0, 0] }] }),
      'too large',
    ],
  ])('refuses a body that is %s', async (_, raw, problem) => {
    server.embed({ raw })

    await expect(embedder.embed(['a'])).rejects.toMatchObject({
      code: 'answer_invalid',
      message: expect.stringContaining(problem),
    })
  })

  it('reads as much as the vectors of a batch take, however they are written', async () => {
    const long = -0.12345678901234566e-20
    server.embed((request) => {
      const count = Object(request.body).input.length
      const item = { embedding: Array(8).fill(long) }
      const data = Array.from({ length: count }, (_, index) => ({ ...item, index }))
      return { raw: JSON.stringify({ data }, null, 8) }
    })

    expect(await embedder.embed(Array(32).fill('a'))).toHaveLength(32)
    server.embed({ flood: 'endless' })
    await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'answer_invalid' })
  })

  it.each([
    ['a 500, twice', { status: 500 }, 'unavailable', 2],
    ['a limit, twice', { status: 429 }, 'rate_limited', 2],
    ['no JSON', { raw: 'hello' }, 'unavailable', 2],
    ['a request that it does not take', { status: 400 }, 'request_rejected', 1],
    ['a dropped connection', { drop: true }, 'unreachable', 2],
  ] as const)('fails after %s', async (_, step, code, requests) => {
    server.embed(step)

    await expect(embedder.embed(['a'])).rejects.toMatchObject({ code })
    expect(server.requests).toHaveLength(requests)
  })

  it.each(['before', 'within'] as const)(
    'gives up in time when it hangs %s the answer',
    async (hang) => {
      server.embed({ hang })
      const startedAt = performance.now()

      await expect(embedder.embed(['a'], { withinMs: 200 })).rejects.toMatchObject({
        code: 'timed_out',
      })
      expect(performance.now() - startedAt).toBeLessThan(1_500)
    },
  )

  it('answers when the second attempt goes well', async () => {
    server.embed({ status: 503 }, { vectors: 'floats' })

    expect(await embedder.embed(['a'])).toHaveLength(1)
  })

  it('says that a key or a model is wrong, without saying which key', async () => {
    const wrongKey = { ...server.connection, apiKey: new Secret('sk-wrong') }
    const failure = createOpenAiEmbedder(wrongKey, hosted).embed(['a'])
    await expect(failure).rejects.toMatchObject({ code: 'key_rejected' })
    await expect(failure).rejects.not.toThrow(/sk-wrong/)

    const unknown = createOpenAiEmbedder(server.connection, { ...hosted, model: 'no-such-model' })
    await expect(unknown.embed(['a'])).rejects.toMatchObject({ code: 'model_unknown' })
  })

  it.each([
    ['empty', '', '(no text)'],
    ['blank', ' \n', '(no text)'],
    ['half a character', 'a\ud83d', 'a\ufffd'],
  ])('sends something for a text that is %s', async (_, text, sent) => {
    server.embed({ vectors: 'floats' })
    await embedder.embed([text])

    expect(server.requests[0]?.body.input).toEqual([sent])
  })

  it('cuts what it sends at 8,000 characters and 8,000 bytes, never through a character', async () => {
    server.embed({ vectors: 'floats' })
    await embedder.embed(['x'.repeat(1_000_000), `a${'é'.repeat(1_000_000)}`])

    const sent = Object(server.requests[0]?.body).input
    expect(sent[0]).toHaveLength(8000)
    expect(sent[1]).toBe(`a${'é'.repeat(3999)}`)
  })
})

describe('the hosted model of a configuration', () => {
  const openai = server.connection

  it('is OpenAI’s small one without a name, and nothing without a key', async () => {
    const small = await openHostedEmbedder({ openai })

    expect([small?.model, small?.dimensions]).toEqual(['text-embedding-3-small', 1536])
    expect(small?.thresholds.calibrated).toBe(false)
    expect(await openHostedEmbedder({})).toBeUndefined()
  })

  it('is another model when its vectors have another length, which OpenAI is asked for', async () => {
    server.embed({ vectors: 'floats' })
    const short = await openHostedEmbedder({
      openai,
      embeddingModel: 'text-embedding-3-small',
      embeddingDimensions: 8,
    })
    await short?.embed(['a'])

    expect(short?.model).toBe('text-embedding-3-small@8')
    expect(server.requests[0]?.body.dimensions).toBe(8)
  })

  it('asks other servers for no length, and needs to be told it', async () => {
    const other = await openHostedEmbedder({
      openai,
      embeddingModel: 'nomic-embed-text',
      embeddingDimensions: 768,
    })

    expect([other?.model, other?.dimensions]).toEqual(['nomic-embed-text@768', 768])
    await expect(
      openHostedEmbedder({ openai, embeddingModel: 'nomic-embed-text' }),
    ).rejects.toThrow(/STEPWARDEN_EMBEDDING_DIMENSIONS.*nomic-embed-text/)
    await expect(openHostedEmbedder({ embeddingModel: 'nomic-embed-text' })).rejects.toThrow(
      /OPENAI_API_KEY/,
    )
  })

  it('makes vectors that compare', async () => {
    server.embed({ vectors: 'floats' })
    const [a, b] = await embedder.embed(['refund late', 'refund late'])

    expect(cosine(a ?? new Float32Array(8), b ?? new Float32Array(8))).toBeCloseTo(1)
  })
})
