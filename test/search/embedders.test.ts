import { afterAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../src/logger.ts'
import { ModelFailed } from '../../src/openai/failure.ts'
import type { EmbedOptions } from '../../src/search/embedder.ts'
import { createEmbedders } from '../../src/search/embedders.ts'
import { createOpenAiEmbedder } from '../../src/search/openai-embedder.ts'
import { fakeEmbedder } from '../support/fake-embedder.ts'
import { startOpenAiServer } from '../support/openai-server.ts'

const server = await startOpenAiServer({ dimensions: 8 })
afterAll(() => server[Symbol.asyncDispose]())

const log = createLogger('silent')
const offline = fakeEmbedder({ refund: 1 }, { model: 'offline' })

function embeddersAt(clock: { ms: number }) {
  const hosted = createOpenAiEmbedder(server.connection, {
    name: 'hosted',
    model: 'text-embedding-3-small',
    dimensions: 8,
    isShortened: false,
  })
  return createEmbedders(log, { offline, hosted, now: () => clock.ms })
}

describe('a search', () => {
  it('is embedded by the model in use when it answers', async () => {
    server.embed({ vectors: 'floats' })
    const { model, vector, fellBack } = await embeddersAt({ ms: 0 }).embedQuery('hosted', 'refund')

    expect([model, vector.length, fellBack]).toEqual(['hosted', 8, false])
  })

  it('falls back in 2 s when it hangs, and leaves it alone for 30 s', async () => {
    const clock = { ms: 0 }
    const embedders = embeddersAt(clock)
    server.embed({ hang: 'before' })
    const startedAt = performance.now()

    const first = await embedders.embedQuery('hosted', 'refund')
    const took = performance.now() - startedAt
    server.embed({ vectors: 'floats' })
    clock.ms = 29_999
    const resting = await embedders.embedQuery('hosted', 'refund')
    const asked = server.requests.length
    clock.ms = 30_000
    const rested = await embedders.embedQuery('hosted', 'refund')

    expect(first).toMatchObject({ model: 'offline', fellBack: true })
    expect(took).toBeGreaterThan(1_900)
    expect(took).toBeLessThan(3_500)
    expect([resting.model, asked]).toEqual(['offline', 0])
    expect(rested).toMatchObject({ model: 'hosted', fellBack: false })
  }, 10_000)

  it.each([
    ['vectors of another size', { vectors: 'wrong_size' }],
    ['NaN', { vectors: 'nan' }],
    ['a 500', { status: 500 }],
    ['a wrong key', { status: 401 }],
    ['an unknown model', { status: 404 }],
  ] as const)('falls back on %s, and rests', async (_, step) => {
    const embedders = embeddersAt({ ms: 0 })
    server.embed(step)

    expect(await embedders.embedQuery('hosted', 'a')).toMatchObject({ fellBack: true })
    server.embed({ vectors: 'floats' })
    expect(await embedders.embedQuery('hosted', 'a')).toMatchObject({ fellBack: true })
  })

  it('logs why it falls back, and nothing of what was sent or came back', async () => {
    let logged = ''
    const stream = {
      write: (line: string) => {
        logged += line
      },
    }
    const hosted = createOpenAiEmbedder(server.connection, {
      name: 'hosted',
      model: 'text-embedding-3-small',
      dimensions: 8,
      isShortened: false,
    })
    const embedders = createEmbedders(createLogger('debug', stream), { offline, hosted })
    server.embed({ raw: 'You said: my card is 4111' })

    await embedders.embedQuery('hosted', 'my card is 4111')

    expect(JSON.parse(logged)).toMatchObject({
      model: 'hosted',
      problem: 'The model server gave a broken answer.',
    })
    expect(logged).not.toMatch(/4111|You said|stack/)
  })

  it('falls back for the one text that a server does not take', async () => {
    const embedders = embeddersAt({ ms: 0 })
    server.embed({ status: 400 }, { vectors: 'floats' })

    expect(await embedders.embedQuery('hosted', 'a')).toMatchObject({ fellBack: true })
    expect(await embedders.embedQuery('hosted', 'b')).toMatchObject({ fellBack: false })
  })

  it('is urgent, whichever model embeds it', async () => {
    const asked: unknown[] = []
    const spied = (model: string) => ({
      ...fakeEmbedder({ refund: 1 }, { model }),
      embed: async (_texts: readonly string[], options?: EmbedOptions) => {
        asked.push([model, options?.isUrgent])
        throw new ModelFailed('unavailable', 'The model server answers 500.')
      },
    })
    const embedders = createEmbedders(log, { offline: spied('offline'), hosted: spied('hosted') })

    await expect(embedders.embedQuery('hosted', 'a')).rejects.toThrow()

    expect(asked).toEqual([
      ['hosted', true],
      ['offline', true],
    ])
  })

  it('falls back on a model that this process does not have', async () => {
    expect(await embeddersAt({ ms: 0 }).embedQuery('gone', 'a')).toMatchObject({
      model: 'offline',
      fellBack: true,
    })
  })

  it('fails when the offline model fails', async () => {
    const broken = {
      ...offline,
      embed: async () => {
        throw new RangeError('broken')
      },
    }
    const embedders = createEmbedders(log, { offline: broken })

    await expect(embedders.embedQuery('offline', 'a')).rejects.toThrow('broken')
  })
})
