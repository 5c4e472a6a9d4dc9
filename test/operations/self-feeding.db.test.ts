import { beforeAll, expect, it, vi } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

vi.setConfig({ testTimeout: 120_000 })

const { app, db } = await openTestApp({ tools: [] })
const bot = callerOf('bot', ['agent'])
const rival = callerOf('rival', ['agent'])
const situation = 'The customer was charged twice for one order and wants the money back'
const look = { tool: 'look', input: { id: 1 }, outputSummary: 'found' }
let first = ''
let better = ''

const record = async (more: object, by = bot) =>
  (
    await operations.recordExperience.invoke(app, by, {
      ...{ situation, actionSequence: [look], outcome: 'Paid', outcomeType: 'success', score: 0.4 },
      ...more,
    })
  ).experience
/** Ids and relevances, best first. */
const ranks = async (allAgents: boolean) =>
  (
    await operations.retrieveExperiences.invoke(app, bot, { situation, allAgents, topK: 50 })
  ).matches.map(({ experience, relevance }) => [experience.id, Math.round(relevance * 1e6)])

beforeAll(async () => {
  first = (await record({})).id
  better = (await record({ score: 0.5, actionSequence: [look, look] }, rival)).id
})

/** How an agent says once more what it was shown. */
const ways: Readonly<Record<string, (round: number) => object>> = {
  'as it is': () => ({}),
  'with another score': (round) => ({ score: 0.4 + (round % 60) / 100 }),
  'in slightly other words': (round) => ({ situation: `${situation}, again (${round})`, score: 1 }),
  'with other inputs and outcomes': (round) => ({
    ...{ score: 1, outcome: `Paid ${round}`, tags: [`t${round}`] },
    actionSequence: [{ ...look, input: { id: round }, outputSummary: `found ${round}` }],
  }),
  'in other sessions': (round) => ({ score: 1, sessionId: `s${round}`, outcome: `Paid ${round}` }),
  'of other agents': (round) => ({ score: 1, agentId: `helper ${round}` }),
  'of other agents in other words': (round) => ({
    ...{ score: 1, agentId: `clerk ${round}`, sessionId: `s${round}` },
    situation: `${situation}, please, now ${round}`,
  }),
}

it.each(Object.entries(ways))('recording it 200 times %s gains no rank', async (_way, more) => {
  const before = { own: await ranks(false), all: await ranks(true) }
  expect(before.all.map(([id]) => id)).toEqual([better, first])

  for (let round = 0; round < 200; round += 1) {
    if (round % 50 === 0) await ranks(true)
    await record(more(round))
  }

  expect({ own: await ranks(false), all: await ranks(true) }).toEqual(before)
})

it('each of those names finds its own all the same, and another principal is another witness', async () => {
  const { matches } = await operations.retrieveExperiences.invoke(app, bot, {
    ...{ situation, agentIds: ['helper 7'] },
  })
  expect(matches).toMatchObject([{ experience: { agentId: 'helper 7' } }])

  const witness = await record({ agentId: 'witness', score: 0.3 }, rival)

  expect((await ranks(true)).map(([id]) => id)).toEqual([better, first, witness.id])
})

it('when the first goes the next one takes its place, and no more', async () => {
  await db.asOwner('default', (client) =>
    client.query('DELETE FROM experiences WHERE id = $1', [first]),
  )

  const all = await ranks(true)
  const own = await ranks(false)
  expect(all).toHaveLength(3)
  expect(own).toHaveLength(1)
  expect(all.map(([id]) => id)).toContain(own[0]?.[0])
})
