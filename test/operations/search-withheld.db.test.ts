import { afterAll, beforeAll, expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { createOpenAiEmbedder } from '../../src/search/openai-embedder.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { startOpenAiServer } from '../support/openai-server.ts'
import { wordDefinition } from '../support/switch.ts'

const server = await startOpenAiServer({ dimensions: 8 })
afterAll(() => server[Symbol.asyncDispose]())
const hostedEmbedder = createOpenAiEmbedder(server.connection, {
  name: 'hosted',
  model: 'text-embedding-3-small',
  dimensions: 8,
  isShortened: false,
})
const { app } = await openTestApp({ tools: [], hostedEmbedder })
const admin = callerOf()

async function useModel(model: string): Promise<void> {
  await operations.switchEmbeddings.invoke(app, admin, { model, unmeasured: true })
  for (let isDone = false; !isDone; ) {
    isDone = (await operations.continueEmbeddingSwitch.invoke(app, admin, {})).isDone
  }
}

beforeAll(async () => {
  server.embed({ vectors: 'floats' })
  const input = {
    type: 'object',
    properties: {
      card: { type: 'string', pattern: '^[0-9]{16}$', sensitive: true, source: 'caller' },
      name: { type: 'string', sensitive: true },
      order: { type: 'string', pattern: '^ORD-[0-9]{4}$' },
    },
  }
  for (const [key, more] of [
    ['CARD', { input }],
    ['PARCEL', {}],
  ] as const) {
    const definition = wordDefinition(key, key.toLowerCase(), more)
    await operations.createProcedure.invoke(app, admin, { definition })
    const version = { procedureKey: key, versionNumber: 1, seenActive: null }
    await operations.activateVersion.invoke(app, admin, version)
  }
})

const issue = 'parcel ORD-1234 of Ann Ash, paid by 4111 1111 1111 1111 or 5555.5555.5555.4444'
const shown = 'parcel ORD-1234 of [withheld], paid by [withheld] or [withheld]'

function textsSent(): readonly unknown[] {
  return server.requests.flatMap(({ body }) => body.input ?? [])
}

it('sends the hosted model no text that fits what any active playbook marks as sensitive', async () => {
  await useModel('hosted')
  server.embed({ vectors: 'floats' })

  await operations.searchProcedures.invoke(app, admin, { issue, context: { name: 'ANN ASH' } })
  await operations.resolveTicket.invoke(app, admin, {
    ticket: { text: issue },
    input: { name: 'Ann Ash' },
    procedureKey: 'PARCEL',
  })

  expect(textsSent()).toEqual([shown, shown])
})

it('compares a text as it is where it does not leave the process', async () => {
  const before = await operations.searchProcedures.invoke(app, admin, { issue: 'parcel' })
  await useModel(app.embedders.offline.model)
  server.embed({ vectors: 'floats' })

  const selection = await operations.searchProcedures.invoke(app, admin, { issue })

  expect([before.model, selection.model]).toEqual(['hosted', app.embedders.offline.model])
  expect(textsSent()).toEqual([])
})
