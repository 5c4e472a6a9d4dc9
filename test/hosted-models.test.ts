import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createStepwarden, type Principal } from '../src/index.ts'
import { jsonValues, runCli, startCli, temporaryFolder } from './cli/run-cli.ts'
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
    const switched = await run('embeddings', 'switch', 'text-embedding-3-small', '--unmeasured')
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

  test.each([
    ['the right key', apiKey, /ok +reply model +gpt-test at 127\.0\.0\.1:\d+ answers/],
    [
      'a wrong key',
      'sk-wrong-0123456789',
      /warn +reply model +gpt-test at 127\.0\.0\.1:\d+: The model server answers 401: check OPENAI_API_KEY\./,
    ],
  ])('doctor says with %s whether the models answer, and never the key', async (_, key, line) => {
    server.respond({ json: { ok: true } })
    const { exitCode, stdout, stderr } = await runCli(['doctor'], {
      dataDir: join(folder, 'cli'),
      environment: {
        OPENAI_API_KEY: key,
        OPENAI_BASE_URL: baseUrl,
        STEPWARDEN_REPLY_MODEL: 'gpt-test',
      },
    })

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(line)
    expect(stdout).toMatch(
      key === apiKey ? /ok +search +embedding .*not measured/ : /warn +search +fell back on use-/,
    )
    expect(stdout + stderr).not.toContain(key)
  })

  test('people are told that the models did not answer, in a line each', async () => {
    const { stdout, stderr } = await runCli(['resolve', ticket], {
      dataDir: join(folder, 'cli'),
      environment: {
        OPENAI_API_KEY: 'sk-wrong-0123456789',
        OPENAI_BASE_URL: baseUrl,
        STEPWARDEN_REPLY_MODEL: 'gpt-test',
      },
    })

    expect(stdout).toMatch(/^Search +fell back on use-\S+, because the model in use could not/m)
    expect(stdout).toMatch(
      /^Reply +\(built-in; gpt-test gave no reply: The model server answers 401: check OPENAI_API_KEY\)$/m,
    )
    expect(
      stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(['search falls back on the offline model', 'the reply model gave no answer'])
    expect(stderr).not.toContain('    at ')
  })

  test('a switch that fails or is interrupted says where it stands, and shows that it is at work', async () => {
    const dataDir = join(folder, 'switch')
    const environment = { OPENAI_API_KEY: 'sk-wrong-0123456789', OPENAI_BASE_URL: baseUrl }
    const words = ['embeddings', 'switch', 'text-embedding-3-small', '--unmeasured']
    await runCli(['procedures', 'seed'], { dataDir })

    const refused = await runCli(words, { dataDir, environment })
    server.embed({ hang: 'before' })
    const running = startCli(words.slice(0, 3), {
      dataDir,
      environment: { ...environment, OPENAI_API_KEY: apiKey },
    })
    await new Promise<void>((resolve) => {
      running.child.stderr?.on('data', (told: string) => {
        if (told.includes('vectors are being made')) resolve()
      })
    })
    running.child.kill('SIGINT')
    const { exitCode, stderr } = await running.ended

    expect(refused).toMatchObject({ exitCode: 6, stdout: '' })
    expect(refused.stderr).toContain(
      "gives no vectors: the model server answers 401: check OPENAI_API_KEY. Trying again without that changes nothing. The switch is begun, and 'stepwarden embeddings switch text-embedding-3-small' carries it on.\n",
    )
    expect(exitCode).toBe(130)
    expect(stderr).toContain(
      "Interrupted. What was made is kept: 'stepwarden embeddings switch text-embedding-3-small' carries the switch on.",
    )
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
