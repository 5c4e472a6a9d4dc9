import { afterAll, describe, expect, it, vi } from 'vitest'
import { deletePrunable, holdExperiences } from '../../src/db/queries/experience-pruning.ts'
import { learnOnce } from '../../src/operations/experience-chore.ts'
import { operations } from '../../src/operations/registry.ts'
import { callerOf } from '../support/caller.ts'
import { openTestDatabase } from '../support/database.ts'
import { createMarked, findText, openMarked, runMarked } from '../support/marked.ts'

vi.setConfig({ testTimeout: 180_000 })

const db = await openTestDatabase()
const app = await openMarked(db, Date.now)
afterAll(() => app[Symbol.asyncDispose]())
const admin = callerOf('adam', ['admin'])
const bot = callerOf('bot', ['agent'])
const { kysely } = db.database.forTenant('default')

const list = async (agentId: string) =>
  (await operations.listExperiences.invoke(app, admin, { agentId, limit: 200 })).items

describe('erasing a customer while runs record themselves', () => {
  it('leaves nothing of the customer, and all of the others', async () => {
    await createMarked(app)
    const marks = Array.from({ length: 24 }, (_, n) => `Mark${n}x`)
    for (const mark of marks) await runMarked(app, mark)
    await operations.sealExecutions.invoke(app, admin, {})
    const erased = marks.filter((_, n) => n % 2 === 0)
    let isErasing = true
    /** As workers do it, two of them. */
    const learning = Array.from({ length: 2 }, async () => {
      while (isErasing) await learnOnce(app)
    })

    for (const mark of erased) {
      await operations.eraseCustomer.invoke(app, admin, {
        ...{ customerId: `C-${mark}`, reason: 'asked for' },
      })
    }
    isErasing = false
    await Promise.all(learning)
    await learnOnce(app)

    for (const mark of erased) expect(await findText(db, mark), mark).toEqual([])
    const kept = marks.filter((mark) => !erased.includes(mark)).map((mark) => `C-${mark}`)
    expect((await list('executor')).map(({ customerId }) => customerId).sort()).toEqual(kept.sort())
  })
})

describe('what begins to be needed while it is pruned', () => {
  const rule = () => ({
    ...{ unusedSince: new Date(Date.now() + 60_000), belowScore: 0.5, usedFewerThan: 3 },
    agentId: 'bot',
  })
  let made = 0
  const recordMany = async (count: number) => {
    const ids: string[] = []
    for (const upTo = made + count; made < upTo; made += 1) {
      const { experience } = await operations.recordExperience.invoke(app, bot, {
        ...{
          situation: `Case ${made}`,
          actionSequence: [{ tool: `tool ${made}` }],
          outcome: 'Done',
        },
        ...{ outcomeType: 'success', score: 0.1 },
      })
      ids.push(experience.id)
    }
    return ids
  }
  const heldIds = async () =>
    (await kysely.selectFrom('experience_holds').select('experience_id').execute()).map(
      ({ experience_id: id }) => id,
    )

  it('stays when it was held first, before that is committed', async () => {
    const [held = '', other] = await recordMany(2)

    const deleted = await kysely.transaction().execute(async (holding) => {
      await holdExperiences(holding, 'default', 'prp_1', [held])
      return kysely.transaction().execute((pruning) => deletePrunable(pruning, rule(), 10))
    })

    expect(deleted.map(({ id }) => id)).toEqual([other])
    expect((await list('bot')).map(({ id }) => id)).toEqual([held])
    expect(await heldIds()).toEqual([held])
  })

  it('is not held when it was deleted first', async () => {
    const [gone = ''] = await recordMany(1)
    let holding: Promise<void> = Promise.resolve()

    await kysely.transaction().execute(async (pruning) => {
      await deletePrunable(pruning, rule(), 10)
      holding = kysely
        .transaction()
        .execute((transaction) => holdExperiences(transaction, 'default', 'prp_2', [gone]))
    })
    await holding

    expect(await heldIds()).not.toContain(gone)
    expect((await list('bot')).map(({ id }) => id)).not.toContain(gone)
  })

  it('is of many either held and there, or gone and not held', async () => {
    const before = await list('bot')
    const ids = await recordMany(60)

    await Promise.all([
      ...ids
        .filter((_, n) => n % 2 === 0)
        .map((id) =>
          kysely
            .transaction()
            .execute((transaction) => holdExperiences(transaction, 'default', 'prp_3', [id])),
        ),
      ...Array.from({ length: 20 }, () =>
        kysely.transaction().execute((pruning) => deletePrunable(pruning, rule(), 4)),
      ),
    ])
    await kysely.transaction().execute((pruning) => deletePrunable(pruning, rule(), 100))

    const there = (await list('bot')).map(({ id }) => id)
    const held = await heldIds()
    expect(there.sort()).toEqual(held.sort())
    expect(there.length).toBeLessThanOrEqual(before.length + 30)
  })
})
