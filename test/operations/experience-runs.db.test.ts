import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { holdExperiences } from '../../src/db/queries/experience-pruning.ts'
import { learnOnce } from '../../src/operations/experience-chore.ts'
import { expireRuns } from '../../src/operations/expire-runs.ts'
import { operations } from '../../src/operations/registry.ts'
import { callerOf } from '../support/caller.ts'
import { openTestDatabase } from '../support/database.ts'
import { createMarked, escalateMarked, findText, openMarked, runMarked } from '../support/marked.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const db = await openTestDatabase()
let ahead = 0
const app = await openMarked(db, () => Date.now() + ahead)
afterAll(() => app[Symbol.asyncDispose]())
const admin = callerOf('adam', ['admin'])
const bot = callerOf('bot', ['agent'])
const dayMs = 86_400_000

const list = async (input: object = {}) =>
  (await operations.listExperiences.invoke(app, admin, input)).items
const learn = async () => {
  await operations.sealExecutions.invoke(app, admin, {})
  await learnOnce(app)
}
const record = async (more: object = {}) =>
  (
    await operations.recordExperience.invoke(app, bot, {
      ...{ situation: 'A refund', actionSequence: [{ tool: 'look' }], outcome: 'Done' },
      ...{ outcomeType: 'success', ...more },
    })
  ).experience

beforeAll(() => createMarked(app))

describe('runs', () => {
  const mark = 'Zyx7Wvu'
  let runs: readonly string[] = []

  it('record themselves once they are sealed, once each, with a link back', async () => {
    runs = [await runMarked(app, mark), ...(await escalateMarked(app, mark))]
    expect(await list()).toEqual([])

    await learn()
    // As workers do it, which rest in between.
    await learnOnce(app, undefined, 0.5)

    const items = await list()
    expect(items.map(({ executionId }) => executionId).sort()).toEqual(runs.slice(0, 2).sort())
    const [resolved] = await list({ executionId: runs[0] })
    expect(resolved).toMatchObject({
      agentId: 'executor',
      situation: `Look at my account and pay, ${mark}.`,
      outcome: `Done for A-${mark}.`,
      outcomeType: 'success',
      score: 1,
      scoredBy: 'heuristic',
      tags: ['RESOLVES'],
      customerId: `C-${mark}`,
      actionSequence: [
        {
          step: 1,
          tool: 'look',
          input: { account: `A-${mark}`, pin: '(sensitive)' },
          outputSummary: `name: name of A-${mark}, token: (sensitive)`,
        },
        { step: 2, tool: 'pay', outputSummary: `paid: A-${mark}` },
        { step: 3, tool: 'notify_customer' },
      ],
    })
    expect(await list({ executionId: runs[1] })).toMatchObject([
      { outcomeType: 'failure', score: 0, outcome: expect.stringContaining('tool_failed') },
    ])
    expect(JSON.stringify(items)).not.toContain(`pin-${mark}`)
  })

  it('are found by agents that ask for them', async () => {
    const { matches } = await operations.retrieveExperiences.invoke(app, bot, {
      situation: 'Look at my account and pay',
      agentIds: ['executor'],
    })

    expect(matches.map(({ experience }) => experience.executionId)).toEqual([runs[0]])
  })

  it('are forgotten with their customer, and so is what names that customer', async () => {
    const agents = await record({ situation: `${mark} wants it`, customerId: `C-${mark}` })
    await db.database
      .forTenant('default')
      .kysely.transaction()
      .execute((transaction) => holdExperiences(transaction, 'default', 'prp_1', [agents.id]))
    await runMarked(app, 'Other9')
    await learn()

    const erased = await operations.eraseCustomer.invoke(app, admin, {
      ...{ customerId: `C-${mark}`, reason: 'asked for' },
    })
    await learn()

    expect(erased).toMatchObject({ runs: 3, experiences: 1 })
    expect(await findText(db, mark)).toEqual([])
    expect((await list()).map(({ customerId }) => customerId)).toEqual(['C-Other9'])
  })

  it('are never remembered again once they were erased, by no statement', async () => {
    await expect(
      db.asOwner('default', (client) =>
        client.query(
          `INSERT INTO experiences (tenant_id, id, agent_id, situation, situation_hash, action_sequence, action_hash,
             approach_hash, outcome, outcome_type, scored_by, recorded_by, created_at, execution_id)
           VALUES ('default', 'exp_x', 'executor', 's', 'h', '[{}]', 'h', 'h', 'o', 'success', 'given', '{}', now(), $1)`,
          [runs[0]],
        ),
      ),
    ).rejects.toThrow(/nothing is remembered/)
  })

  it('of a customer of whom only agents know are erased as well', async () => {
    await record({ situation: 'Only here', customerId: 'C-Only' })

    const dry = { customerId: 'C-Only', reason: 'asked for', dryRun: true }
    expect(await operations.eraseCustomer.invoke(app, admin, dry)).toMatchObject({ experiences: 1 })
    await operations.eraseCustomer.invoke(app, admin, { ...dry, dryRun: false })

    expect(await list({ agentId: 'bot' })).toEqual([])
  })
})

describe('pruning', () => {
  const prune = (input: object = {}) => operations.pruneExperiences.invoke(app, admin, input)
  const ids = async () => (await list({ agentId: 'bot' })).map(({ id }) => id).sort()

  it('deletes exactly what is poor and was not used for 180 days, as it said before', async () => {
    const make = (name: string, score: number) =>
      record({ score, situation: name, actionSequence: [{ tool: name }] })
    const poor = await make('poor', 0.49)
    const held = await make('held', 0.1)
    const used = await make('used', 0.1)
    const fine = await make('fine', 0.5)
    await db.database
      .forTenant('default')
      .kysely.transaction()
      .execute((transaction) => holdExperiences(transaction, 'default', 'prp_2', [held.id]))
    ahead = 179 * dayMs
    expect(await prune({ dryRun: true })).toMatchObject({ deleted: 0, review: 3 })
    await operations.retrieveExperiences.invoke(app, bot, { situation: 'used', topK: 1 })
    await app.useCounts.settled()
    ahead = 181 * dayMs
    const young = await make('young', 0)

    const preview = await prune({ dryRun: true })
    expect(preview).toMatchObject({ dryRun: true, deleted: 1, review: 3, left: 0 })
    expect(preview.deletedItems.map(({ id }) => id)).toEqual([poor.id])
    expect(preview.reviewItems.map(({ id }) => id)).toEqual([held.id, used.id, young.id])
    expect(await ids()).toHaveLength(5)

    const done = await prune()

    expect(done).toEqual({ ...preview, dryRun: false })
    expect(await ids()).toEqual([held.id, used.id, fine.id, young.id].sort())
    const { items } = await operations.listAuditEvents.invoke(app, callerOf('o', ['auditor']), {
      principal: 'adam',
    })
    expect(items.find(({ action }) => action === 'experiences.pruned')?.details).toMatchObject({
      count: 1,
      experiences: [poor.id],
    })
  })

  it('is refused by the database for what is held', async () => {
    await expect(
      db.asApp('default', (client) => client.query('DELETE FROM experiences')),
    ).rejects.toThrow(/experience_holds/)
  })

  it('is done by the chore once a week, with an event', async () => {
    ahead = 400 * dayMs
    const before = await ids()

    await learnOnce(app)

    expect(before.length - (await ids()).length).toBe(2)
    const { items } = await operations.listAuditEvents.invoke(app, callerOf('o', ['auditor']), {
      principal: 'stepwarden',
    })
    expect(items.filter(({ action }) => action === 'experiences.pruned')).toHaveLength(1)
  })
})

it('retention takes what is older, of agents and of runs', async () => {
  ahead = 401 * dayMs
  await operations.setRetention.invoke(app, admin, { days: 90 })
  const young = await record({ situation: 'just now' })
  expect((await list()).length).toBeGreaterThan(2)

  await expireRuns(app, 'default')

  expect((await list()).map(({ id }) => id)).toEqual([young.id])
})
