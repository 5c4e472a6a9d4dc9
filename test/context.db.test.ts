import { afterAll, describe, expect, it } from 'vitest'
import { createContext } from '../src/context.ts'
import { operations } from '../src/operations/registry.ts'
import { callerOf } from './support/caller.ts'
import { openTestDatabase } from './support/database.ts'
import { fakeEmbedder } from './support/fake-embedder.ts'
import { startOpenAiServer } from './support/openai-server.ts'

const server = await startOpenAiServer()
afterAll(() => server[Symbol.asyncDispose]())
const db = await openTestDatabase()
const config = { tenantId: 'default', logLevel: 'silent' } as const
const openai = { ...server.connection, replyModel: 'gpt-test' }
const embedder = fakeEmbedder({ refund: 1 }, { model: 'offline-v1' })

/** The models of a process with this configuration, as it sees them when it has started. */
async function start(more: object) {
  await using app = await createContext(
    db.database,
    { ...config, ...more },
    { tools: [], embedder },
  )
  const { models } = await operations.getEmbeddings.invoke(app, callerOf(), {})
  return {
    current: models.find(({ isCurrent }) => isCurrent)?.model,
    available: models.filter(({ isAvailable }) => isAvailable).map(({ model }) => model),
  }
}

async function forget() {
  await db.asOwner('default', (client) => client.query('DELETE FROM embedding_models'))
}

describe('the embedding model in use', () => {
  it('is the offline one at the first start, also with a key, and stays it', async () => {
    const first = await start({ openai })
    const later = await start({ openai, embeddingModel: 'text-embedding-3-small' })

    expect(first).toEqual({
      current: 'offline-v1',
      available: ['ngram-512-v1', 'offline-v1', 'text-embedding-3-small'],
    })
    expect(later.current).toBe('offline-v1')
    expect((await start({})).available).toEqual(['ngram-512-v1', 'offline-v1'])
    expect(server.requests).toEqual([])
  })

  it.each([
    ['text-embedding-3-small', undefined, 'text-embedding-3-small'],
    ['text-embedding-3-large', 1024, 'text-embedding-3-large@1024'],
    ['ngram-512-v1', undefined, 'ngram-512-v1'],
  ])(
    'is %s of %s dimensions when the first start names it',
    async (model, dimensions, expected) => {
      await forget()

      const { current } = await start({
        openai,
        embeddingModel: model,
        ...(dimensions !== undefined && { embeddingDimensions: dimensions }),
      })

      expect(current).toBe(expected)
    },
  )

  it('cannot be a server’s without a key', async () => {
    await expect(start({ embeddingModel: 'text-embedding-3-small' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      details: { problems: [{ path: 'STEPWARDEN_EMBEDDING_MODEL' }] },
    })
  })
})
