import { expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { fakeEmbedder } from '../support/fake-embedder.ts'

const { app } = await openTestApp({
  tools: [],
  embedder: fakeEmbedder({ pay: 3, late: 4, again: 1 }),
})

const bot = callerOf('bot', ['agent'])
const record = (more: object = {}, by = bot) =>
  operations.recordExperience.invoke(app, by, {
    situation: 'pay late',
    actionSequence: [{ tool: 'look' }],
    ...{ outcome: 'Done', outcomeType: 'success', score: 0.9 },
    ...more,
  })

it('counts every use of fifty readers at once', async () => {
  const ids: string[] = []
  for (let n = 0; n < 8; n += 1) {
    const { experience } = await record({ actionSequence: [{ tool: `tool ${n}` }] })
    ids.push(experience.id)
  }
  const rounds = 4
  const shown = new Map<string, number>()
  for (let round = 0; round < rounds; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, reader) =>
        operations.retrieveExperiences.invoke(app, callerOf(`reader ${reader}`, ['agent']), {
          situation: 'pay late',
          agentIds: ['bot'],
          topK: 1 + (reader % 8),
        }),
      ),
    )
    for (const { experience } of answers.flatMap(({ matches }) => matches)) {
      shown.set(experience.id, (shown.get(experience.id) ?? 0) + 1)
    }
  }
  await app.useCounts.settled()

  const { items } = await operations.listExperiences.invoke(app, bot, {})
  expect(new Map(items.map(({ id, useCount }) => [id, useCount]))).toEqual(shown)
  expect(shown.get(String(ids[0]))).toBe(50 * rounds)
})

it('makes one of what twenty record at once, and counts the others', async () => {
  const twin = callerOf('twin', ['agent'])
  const answers = await Promise.all(Array.from({ length: 20 }, () => record({}, twin)))

  expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1)
  const { items } = await operations.listExperiences.invoke(app, bot, { agentId: 'twin' })
  expect(items).toMatchObject([{ repeatCount: 19 }])
})

it('finds one of what twenty record at once in almost the same words', async () => {
  const parrot = callerOf('parrot', ['agent'])
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => record({ situation: `pay late: ${n}` }, parrot)),
  )

  const { matches } = await operations.retrieveExperiences.invoke(app, parrot, {
    situation: 'pay late',
    topK: 50,
  })
  expect(matches).toMatchObject([{ experience: { repeatCount: 19 } }])
})
