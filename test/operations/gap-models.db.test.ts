import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { operations } from '../../src/operations/registry.ts'
import { createOpenAiEmbedder } from '../../src/search/openai-embedder.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { startOpenAiServer } from '../support/openai-server.ts'
import { wordDefinition } from '../support/switch.ts'

const server = await startOpenAiServer({ dimensions: 8 })
afterAll(() => server[Symbol.asyncDispose]())
const hostedEmbedder = createOpenAiEmbedder(server.connection, {
  ...{ name: 'hosted', model: 'text-embedding-3-small', dimensions: 8, isShortened: false },
})
const day = 86_400_000
let now = Date.UTC(2026, 4, 1)
const clock = { now: () => ++now }
const { app, db } = await openTestApp({ tools: [], hostedEmbedder, clock })
const root = callerOf()
const list = () => operations.listGaps.invoke(app, root, {})
const arrive = (text: string) => operations.resolveTicket.invoke(app, root, { ticket: { text } })
const textsSent = () => server.requests.flatMap(({ body }) => body.input ?? [])

async function useModel(model: string): Promise<void> {
  await operations.switchEmbeddings.invoke(app, root, { model, unmeasured: true })
  for (let isDone = false; !isDone; ) {
    isDone = (await operations.continueEmbeddingSwitch.invoke(app, root, {})).isDone
  }
}

beforeAll(async () => {
  const input = {
    type: 'object',
    properties: { card: { type: 'string', pattern: '^[0-9]{16}$', sensitive: true } },
  }
  await operations.createProcedure.invoke(app, root, {
    definition: wordDefinition('CARD', 'card', { input }),
  })
  await operations.activateVersion.invoke(app, root, {
    ...{ procedureKey: 'CARD', versionNumber: 1, seenActive: null },
  })
})

it('are found by the model in use, which is sent nothing that is sensitive, and each text once', async () => {
  await arrive('My hat is lost, paid by 4111111111111111')
  await useModel('hosted')
  server.embed({ vectors: () => [1, 0, 0, 0, 0, 0, 0, 0] })

  expect(await list()).toMatchObject({ model: 'hosted', fellBack: false, minSimilarity: 0.72 })
  expect(textsSent()).toEqual(['My hat is lost, paid by (sensitive)'])
  await list()
  expect(textsSent()).toHaveLength(1)
})

it('are found by the offline model, all of them, where the one in use gives none', async () => {
  await useModel('ngram-512-v1')
  await arrive('My hat is lost')
  await useModel('hosted')
  server.embed({ status: 400 })

  const { model, fellBack, items } = await list()

  expect({ model, fellBack }).toEqual({ model: 'ngram-512-v1', fellBack: true })
  expect(items).toMatchObject([{ count: 2 }])
})

it('are those of the newest 2,000 tickets, and say so when there are more', async () => {
  await useModel('ngram-512-v1')
  now += 40 * day
  const fill = (count: number, text: string) =>
    db.asOwner('default', async (client) => {
      const ids = Array.from({ length: count }, () => newId('escalation', clock.now()))
      await client.query(
        `INSERT INTO escalations (tenant_id, id, reason, queue, priority, ticket, opened_at)
         SELECT 'default', id, '{"code":"no_procedure"}', 'triage', 'normal', jsonb_build_object('text', $2::text),
           $3 FROM unnest($1::text[]) AS id`,
        [ids, text, new Date(now)],
      )
    })
  await fill(1, 'The very first umbrella')
  await fill(1_999, 'My hat is lost')

  const whole = await list()
  expect(whole).toMatchObject({ ticketCount: 2_000, isCut: false })
  expect(whole.items.map(({ count }) => count)).toEqual([1_999, 1])

  await fill(1, 'Where is my scarf?')
  const cut = await list()
  expect(cut).toMatchObject({ ticketCount: 2_000, isCut: true })
  expect(cut.items.map(({ examples }) => examples[0]?.text)).toEqual([
    ...['My hat is lost', 'Where is my scarf?'],
  ])
})
