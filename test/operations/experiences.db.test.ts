import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { listUnembedded } from '../../src/db/queries/experience-vectors.ts'
import type { Id } from '../../src/domain/ids.ts'
import { ModelFailed } from '../../src/openai/failure.ts'
import { neededVectors } from '../../src/operations/embed-experiences.ts'
import { learnOnce } from '../../src/operations/experience-chore.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { approveAndActivate } from '../support/audited.ts'
import { callerOf } from '../support/caller.ts'
import { fakeEmbedder } from '../support/fake-embedder.ts'

// `pay` and `late` alone have similarity .6 and .8 to both together.
const words = { pay: 3, late: 4, card: 4, lost: 3, a: 1, b: 1 }
const fake = fakeEmbedder(words)
let isDown = false
const { app, db } = await openTestApp({
  tools: [],
  embedder: {
    ...fake,
    embed: async (texts) => {
      if (isDown) throw new ModelFailed('unavailable', 'The embedding server is away.')
      return fake.embed(texts)
    },
  },
})
await db.addTenant('other')

const bot = callerOf('bot', ['agent'])
const eve = callerOf('eve', ['agent'])
const admin = callerOf('adam', ['admin'])

const look = { tool: 'look', input: { id: 1 }, outputSummary: 'found' }
const base = {
  situation: 'pay late',
  actionSequence: [look],
  outcome: 'It was paid.',
  outcomeType: 'success',
  score: 0.9,
}
const record = (more: object = {}, by = bot) =>
  operations.recordExperience.invoke(app, by, { ...base, ...more })
const retrieve = (more: object = {}, by = bot) =>
  operations.retrieveExperiences.invoke(app, by, { situation: 'pay late', ...more })
const found = async (more: object = {}, by = bot) =>
  (await retrieve(more, by)).matches.map(({ experience }) => experience.id)
const get = (experienceId: string, by = bot) =>
  operations.getExperience.invoke(app, by, { experienceId: experienceId as Id<'experience'> })

afterEach(async () => {
  isDown = false
  await app.useCounts.settled()
  for (const tenant of ['default', 'other']) {
    await db.asOwner(tenant, (client) => client.query('DELETE FROM experiences'))
  }
})

describe('recording', () => {
  it('keeps what was told, with the defaults of what was not', async () => {
    const { experience, isNew } = await operations.recordExperience.invoke(app, bot, {
      situation: 'pay late',
      actionSequence: [{ tool: 'look' }, { step: 2, tool: 'act', input: [1], outputSummary: 'ok' }],
      outcome: 'It was paid.',
      outcomeType: 'partial_success',
    })

    expect(isNew).toBe(true)
    expect(experience).toEqual({
      id: expect.stringMatching(/^exp_[0-9a-z]{21}$/),
      agentId: 'bot',
      situation: 'pay late',
      actionSequence: [
        { step: 1, tool: 'look', input: null, outputSummary: '' },
        { step: 2, tool: 'act', input: [1], outputSummary: 'ok' },
      ],
      outcome: 'It was paid.',
      outcomeType: 'partial_success',
      score: 0,
      scoredBy: 'given',
      tags: [],
      sessionId: null,
      customerId: null,
      executionId: null,
      useCount: 0,
      lastUsedAt: null,
      repeatCount: 0,
      repeatsId: null,
      createdAt: expect.any(String),
    })
    expect(await get(experience.id)).toEqual(experience)
  })

  it('takes any text for a session, an agent and tags', async () => {
    const sessionId = 'call 7 – Müller / 返金'
    const { experience } = await record({
      sessionId,
      agentId: 'desk bot',
      tags: ['返金', '返金', 'x'],
    })

    expect(experience).toMatchObject({ sessionId, agentId: 'desk bot', tags: ['返金', 'x'] })
  })

  it.each([
    [{ score: 1.01 }, 'score'],
    [{ score: -0.01 }, 'score'],
    [{ score: Number.NaN }, 'score'],
    [{ score: Number.POSITIVE_INFINITY }, 'score'],
    [{ score: '1' }, 'score'],
    [{ score: 0.9, outcomeType: 'failure' }, 'score'],
    [{ scoreBy: 'heuristic' }, 'scoreBy'],
    [{ actionSequence: [] }, 'actionSequence'],
    [{ actionSequence: Array.from({ length: 5_000 }, () => look) }, 'actionSequence'],
    [{ actionSequence: [look, { ...look, step: 3 }] }, 'actionSequence[1].step'],
    [{ actionSequence: [{ ...look, tool: ' ' }] }, 'actionSequence[0].tool'],
    [{ situation: ' \n' }, 'situation'],
    [{ outcome: '' }, 'outcome'],
    [{ outcomeType: 'all' }, 'outcomeType'],
    [{ sessionId: 'x'.repeat(129) }, 'sessionId'],
    [{ agentId: 'executor' }, 'agentId'],
    [{ situation: 'a\u0000b' }, 'situation'],
    [{ actionSequence: [{ ...look, input: { big: 'x'.repeat(1_100_000) } }] }, 'actionSequence'],
  ] as const)('refuses %j', async (more, path) => {
    await expect(record(more)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      details: { problems: [expect.objectContaining({ path })] },
    })
    expect((await operations.listExperiences.invoke(app, bot, {})).items).toEqual([])
  })

  it('takes a thousand actions', async () => {
    const actionSequence = Array.from({ length: 1_000 }, (_, index) => ({ ...look, input: index }))
    const { experience } = await record({ actionSequence })

    expect(experience.actionSequence.at(-1)).toMatchObject({ step: 1_000, input: 999 })
  })

  it('scores by the rule where it is asked to, also where no model is there', async () => {
    const actionSequence = [look, look]
    const one = await record({ score: undefined, scoreBy: 'heuristic', actionSequence })
    const two = await record({
      score: undefined,
      scoreBy: 'model',
      actionSequence,
      situation: 'lost',
    })

    expect(one.experience).toMatchObject({ score: 0.9, scoredBy: 'heuristic' })
    expect(two.experience).toMatchObject({ score: 0.9, scoredBy: 'heuristic' })
  })

  it('keeps it when the embedder is down, and the vector follows', async () => {
    isDown = true
    const { experience } = await record()
    await learnOnce(app)
    isDown = false
    expect(await found()).toEqual([])

    const needed = await neededVectors(app)
    const { kysely } = db.database.forTenant('default')
    const items = await listUnembedded(kysely, needed.mark, 10)
    expect(items.map(({ id }) => id)).toEqual([experience.id])
    await learnOnce(app)

    expect(await found()).toEqual([experience.id])
    expect(await listUnembedded(kysely, needed.mark, 10)).toEqual([])
  })

  it('withholds what a playbook marks as sensitive, from texts and values', async () => {
    const definition = {
      ...{ key: 'CARDS', name: 'Cards', description: 'For tests.', internal: true },
      input: {
        type: 'object',
        properties: { card: { type: 'string', pattern: '^[0-9]{16}$', sensitive: true } },
      },
      steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
      completionConditions: [{ text: 'Known', when: 'steps.known.output.known' }],
    }
    const root = callerOf('root')
    await operations.createProcedure.invoke(app, root, { definition })
    await approveAndActivate(app, root, 'CARDS', 1, null)
    const card = '4111 1111 1111 1111'

    const { experience } = await record({
      situation: `pay late with ${card}`,
      outcome: `${card} was charged`,
      actionSequence: [
        {
          tool: 'look',
          input: { card, number: 4111111111111111, in: [card] },
          outputSummary: card,
        },
      ],
    })

    expect(experience).toMatchObject({
      situation: 'pay late with (sensitive)',
      outcome: '(sensitive) was charged',
      actionSequence: [
        {
          input: { card: '(sensitive)', number: '(sensitive)', in: ['(sensitive)'] },
          outputSummary: '(sensitive)',
        },
      ],
    })
    const rows = await db.asOwner('default', (client) =>
      client.query('SELECT x::text AS row FROM experiences x'),
    )
    expect(JSON.stringify(rows.rows)).not.toMatch(/4111/)
  })
})

describe('recording the same again', () => {
  it('makes no second one, counts, and keeps the score', async () => {
    const first = await record({ score: 0.4 })
    const second = await record({ score: 1, situation: '  PAY   late ', outcome: 'Better!' })

    expect(second.isNew).toBe(false)
    expect(second.experience).toMatchObject({
      id: first.experience.id,
      score: 0.4,
      repeatCount: 1,
      outcome: 'It was paid.',
    })
  })

  it('in almost the same words gains no rank: neither a place, nor a score', async () => {
    const rival = await record({ score: 0.5, actionSequence: [{ ...look, tool: 'other' }] })
    const first = await record({ score: 0.4 })
    const before = await retrieve()
    for (let round = 0; round < 10; round += 1) {
      const [, shown] = (await retrieve()).matches
      await record({
        situation: `${shown?.experience.situation} again ${round}`,
        actionSequence: [{ ...look, input: { round }, outputSummary: `found ${round}` }],
        outcome: `It was paid, as ever: ${round}`,
        score: 1,
      })
    }
    const after = await retrieve()

    const ranks = ({ matches }: typeof after) =>
      matches.map(({ experience, relevance }) => [experience.id, relevance])
    expect(ranks(before)).toEqual([
      [rival.experience.id, 0.5],
      [first.experience.id, 0.4],
    ])
    expect(ranks(after)).toEqual(ranks(before))
    expect(await get(first.experience.id)).toMatchObject({ score: 0.4, repeatCount: 10 })
    const { items } = await operations.listExperiences.invoke(app, bot, {})
    expect(items).toHaveLength(12)
    expect(items[0]).toMatchObject({ repeatsId: first.experience.id })
  })

  it('is of another agent, way or kind of outcome another experience', async () => {
    const ids = [
      (await record()).experience.id,
      (await record({}, eve)).experience.id,
      (await record({ outcomeType: 'partial_success' })).experience.id,
      (await record({ actionSequence: [look, look] })).experience.id,
    ]

    expect(new Set(ids).size).toBe(4)
    expect(new Set(await found({ outcomeType: 'all', allAgents: true }))).toEqual(new Set(ids))
  })

  it('is passed on when the first one goes', async () => {
    const first = await record({ score: 0.4 })
    const second = await record({ score: 0.3, situation: 'pay late again' })
    const third = await record({ score: 0.9, situation: 'pay late once more' })

    await db.asOwner('default', (client) =>
      client.query('DELETE FROM experiences WHERE id = $1', [first.experience.id]),
    )

    expect(await found()).toEqual([second.experience.id])
    expect(await get(third.experience.id)).toMatchObject({ repeatsId: second.experience.id })
    expect(await get(second.experience.id)).toMatchObject({ repeatsId: null })
  })
})

describe('retrieving', () => {
  it('ranks by similarity × score before it cuts, and says what it took', async () => {
    const near = await record({ score: 0.2 })
    const far = await record({ situation: 'late', score: 1, actionSequence: [look, look] })

    const { matches, ...rest } = await retrieve({ topK: 1 })

    expect(matches).toEqual([
      {
        experience: expect.objectContaining({ id: far.experience.id }),
        similarity: expect.closeTo(0.8),
        relevance: expect.closeTo(0.8),
      },
    ])
    expect(rest).toMatchObject({ model: 'fake-v1', fellBack: false, foundBy: 'scan' })
    expect(await found({ topK: 2 })).toEqual([far.experience.id, near.experience.id])
  })

  it('finds nothing less alike than the least similarity, which may be given', async () => {
    const { experience } = await record({ situation: 'pay' })

    expect(await found({ minSimilarity: 0.61 })).toEqual([])
    expect(await found({ minSimilarity: 0.59 })).toEqual([experience.id])
    // Half is what the fake model has of its own; .72 what is taken of one without a measure.
    expect((await retrieve()).minSimilarity).toBe(0.5)
  })

  it('goes on finding when a score is all but nothing', async () => {
    const fine = await record()
    const tiny = await record({ score: 5e-324, situation: 'late a', actionSequence: [look, look] })
    const zero = await record({ score: 0, situation: 'pay', actionSequence: [look, look, look] })

    expect(await found()).toEqual([fine, tiny, zero].map(({ experience }) => experience.id))
    expect(await found({ situation: 'a', minSimilarity: 0.1 })).toEqual([tiny.experience.id])
  })

  it('finds successes unless other outcomes are asked for', async () => {
    const ids: Record<string, string> = {}
    for (const type of ['success', 'partial_success', 'failure']) {
      const { experience } = await record({ outcomeType: type, score: 0.5 })
      ids[type] = experience.id
    }

    expect(await found()).toEqual([ids.success])
    expect(await found({ outcomeType: 'failure' })).toEqual([ids.failure])
    expect(await found({ outcomeType: 'all' })).toEqual(Object.values(ids))
  })

  it('finds those of whoever asks, and of others on request', async () => {
    const own = (await record()).experience.id
    const others = (await record({ score: 0.8 }, eve)).experience.id

    expect(await found()).toEqual([own])
    expect(await found({ agentIds: ['eve'] })).toEqual([others])
    expect(await found({ agentIds: ['eve', 'bot'] })).toEqual([own, others])
    expect(await found({ allAgents: true })).toEqual([own, others])
    await expect(found({ allAgents: true, agentIds: ['eve'] })).rejects.toThrow(/agentIds/)
  })

  it('finds only what has all of the tags', async () => {
    const one = (await record({ tags: ['x', 'y'] })).experience.id
    await record({ tags: ['x'], actionSequence: [look, look] })

    expect(await found({ tags: ['y', 'x'] })).toEqual([one])
    expect(await found({ tags: ['x'] })).toHaveLength(2)
    expect(await found({ tags: ['X'] })).toEqual([])
  })

  it('sees one tenant alone', async () => {
    await record({}, callerOf('bot', ['agent'], 'other'))

    expect(await found({ allAgents: true, outcomeType: 'all' })).toEqual([])
  })

  it('answers a block for a prompt, with the uses before this one', async () => {
    await record()
    expect((await retrieve({ situation: 'card' })).context).toBe('')
    await retrieve()
    await app.useCounts.settled()

    const { context } = await retrieve()

    expect(context).toBe(`
--- Relevant procedures from past experience ---

Procedure 1 (relevance: 0.90, used 1x):
Situation: pay late
Steps taken:
  1. look: found
Outcome: It was paid.
--- End of past procedures ---

`)
  })

  it('counts what it shows after the answer, and looking at one counts as no use', async () => {
    const { experience } = await record()
    for (let time = 0; time < 3; time += 1) await retrieve()
    await get(experience.id)
    await app.useCounts.settled()

    const used = await get(experience.id)
    expect(used).toMatchObject({ useCount: 3, score: 0.9 })
    expect(Date.parse(String(used.lastUsedAt))).toBeGreaterThanOrEqual(Date.parse(used.createdAt))
  })

  it('answers in texts of other scripts', async () => {
    const { experience } = await record({ situation: '二重請求の返金 a' })

    expect(await found({ situation: '返金してください a' })).toEqual([experience.id])
  })
})

describe('who has read them', () => {
  it('is in the audit log, once in ten minutes', async () => {
    const { experience } = await record()
    const reader = callerOf('rita', ['agent', 'auditor'])
    for (let time = 0; time < 2; time += 1) {
      await retrieve({ agentIds: ['bot'] }, reader)
      await operations.listExperiences.invoke(app, reader, {})
      await get(experience.id, reader)
    }

    const { items } = await operations.listAuditEvents.invoke(app, callerOf('otto', ['auditor']), {
      principal: 'rita',
    })
    expect(items.map(({ action, entityId }) => [action, entityId]).reverse()).toEqual([
      ['experiences.retrieved', 'default'],
      ['experiences.listed', 'default'],
      ['experience.read', experience.id],
    ])
  })
})

describe('listing', () => {
  it('is newest first, by pages and filters', async () => {
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) {
      const more = { actionSequence: [{ ...look, tool: `tool ${n}` }], tags: [`t${n % 2}`] }
      ids.unshift((await record({ ...more, sessionId: `s${n}` })).experience.id)
    }
    const list = async (input: object) => operations.listExperiences.invoke(app, admin, input)
    const first = await list({ limit: 2 })
    const second = await list({ limit: 4, cursor: first.nextCursor })

    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids)
    expect(second.nextCursor).toBeNull()
    expect((await list({ tag: 't1' })).items.map(({ id }) => id)).toEqual([ids[1], ids[3]])
    expect((await list({ sessionId: 's0' })).items.map(({ id }) => id)).toEqual([ids[4]])
    expect((await list({ agentId: 'eve' })).items).toEqual([])
    expect((await list({ outcomeType: 'failure' })).items).toEqual([])
  })
})

describe('the database', () => {
  it.each([
    ["score = 'NaN'", /What was experienced never changes/],
    ['score = 1', /What was experienced never changes/],
    ["situation = 'x'", /What was experienced never changes/],
    ['use_count = -1', /use_count/],
  ])('refuses to set %s, even for the owner', async (change, message) => {
    await record()

    await expect(
      db.asOwner('default', (client) => client.query(`UPDATE experiences SET ${change}`)),
    ).rejects.toThrow(message)
  })

  it('holds every answer to its schema', async () => {
    await record({ tags: ['x'] })
    const schema = z.toJSONSchema(operations.retrieveExperiences.output, { unrepresentable: 'any' })
    expect(schema).toBeDefined()
    const answer = await retrieve()
    expect(operations.retrieveExperiences.output.parse(answer)).toEqual(answer)
  })
})
