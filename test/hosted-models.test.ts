import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createStepwarden, type Principal } from '../src/index.ts'
import { jsonValues, runCli, temporaryFolder } from './cli/run-cli.ts'
import { startOpenAiServer } from './support/openai-server.ts'
import { writes } from './support/scripted-model.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const server = await startOpenAiServer()
const folder = temporaryFolder()
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server[Symbol.asyncDispose]()
})

const apiKey = server.connection.apiKey.reveal()
const baseUrl = server.connection.baseUrl ?? ''
const ticket = 'Checkout failed but my card was charged for TXN-DEMO-001'
const truth = ['Your transaction id is {transaction id}.', 'Your request is resolved.']
const text = 'Your transaction id is TXN-DEMO-001. Your request is resolved.'

describe('with a key', () => {
  test('the command line has a model write the reply, and moves search to a hosted model', async () => {
    const run = async (...words: string[]) => {
      const environment = {
        OPENAI_API_KEY: apiKey,
        OPENAI_BASE_URL: baseUrl,
        STEPWARDEN_REPLY_MODEL: 'gpt-test',
      }
      const { exitCode, stdout } = await runCli([...words, '--json'], {
        dataDir: join(folder, 'cli'),
        environment,
      })
      expect(exitCode).toBe(0)
      return jsonValues(stdout)[0]
    }
    server.respond(writes(...truth))
    await run('procedures', 'seed')

    const resolution = await run('resolve', ticket)
    const switched = await run('embeddings', 'switch', 'text-embedding-3-small')
    const status = await run('embeddings', 'status')
    const found = await run('search', ticket)

    expect(resolution).toMatchObject({
      execution: { status: 'completed' },
      reply: { source: 'model', text },
    })
    expect(switched).toMatchObject({ model: 'text-embedding-3-small', isDone: true })
    expect(status).toMatchObject({
      versionCount: 3,
      models: expect.arrayContaining([
        expect.objectContaining({
          model: 'text-embedding-3-small',
          isCurrent: true,
          calibrated: false,
          vectorCount: 3,
        }),
      ]),
      advice: [expect.stringContaining("'stepwarden embeddings calibrate")],
    })
    // Thresholds that were never measured select nothing.
    expect(found).toMatchObject({ model: 'text-embedding-3-small', decision: 'ambiguous' })
  })

  test('an application has a model write the reply', async () => {
    const ann: Principal = {
      id: 'ann',
      kind: 'human',
      roles: ['admin'],
      groups: [],
      tenantId: 'default',
    }
    server.respond(writes(...truth))
    await using stepwarden = await createStepwarden({
      database: { dataDir: join(folder, 'cli') },
      openai: { apiKey, baseUrl, replyModel: 'gpt-test' },
    })

    const { reply } = await stepwarden.as(ann).startExecution({
      procedureKey: 'FAILED_PAYMENT_PLAYBOOK',
      input: { transactionId: 'TXN-DEMO-001' },
    })

    expect(reply).toMatchObject({ source: 'model', text })
  })

  test('an application is told all that is wrong with its options, and never the key', async () => {
    const attempt = createStepwarden({
      database: { dataDir: join(folder, 'never') },
      openai: { apiKey: 'sk with blanks', baseUrl: 'ftp://x' },
      embeddingDimensions: 0,
    })

    await expect(attempt).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      details: {
        problems: [
          { path: 'openai.apiKey' },
          { path: 'openai.baseUrl' },
          { path: 'embeddingDimensions' },
        ],
      },
    })
    await expect(attempt).rejects.not.toMatchObject({ message: expect.stringContaining('blanks ') })
  })
})
