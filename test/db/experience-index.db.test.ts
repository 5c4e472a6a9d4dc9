import { CompiledQuery } from 'kysely'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type IndexOptions, makeExperienceIndexes } from '../../src/db/experience-index.ts'
import {
  experienceIndexName,
  findExperienceIndex,
} from '../../src/db/queries/experience-indexes.ts'
import { examineIndexes } from '../../src/operations/experience-indexes.ts'
import { findExperiences } from '../../src/operations/find-experiences.ts'
import { measureRecalls } from '../../src/operations/measure-recalls.ts'
import { openTestApp } from '../support/app.ts'
import { asLogin } from '../support/as-login.ts'
import { fakeEmbedder } from '../support/fake-embedder.ts'
import { addManyExperiences } from '../support/many-experiences.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const dimensions = 8
const weekMs = 7 * 86_400_000
const model = 'fake-v1'
const few = 'few-v1'
const name = experienceIndexName(few)
/** Fast to build, which on the embedded database takes long. */
const coarse = { links: 6, breadth: 24 } as const
let ahead = 0
const { app, db } = await openTestApp({
  tools: [],
  clock: { now: () => Date.now() + ahead },
  embedder: fakeEmbedder(
    Object.fromEntries(Array.from({ length: dimensions - 1 }, (_, n) => [`w${n}`, 1])),
    { thresholds: { minSimilarity: 0.1, margin: 0, calibrated: true } },
  ),
})
await db.addTenant('small')
await addManyExperiences(db, 'default', { model, dimensions, count: 10_100 })
await addManyExperiences(db, 'small', { model: few, dimensions: 4, count: 100 })

const make = async (options: IndexOptions = {}) => {
  await using login = await asLogin(db)
  return await makeExperienceIndexes(login, options, () => {})
}
/** For what nobody else can do. */
const asSuperuser = async (statement: string) => {
  await using login = await asLogin(db)
  await login.kysely.executeQuery(CompiledQuery.raw(statement))
}
const standing = async (tenantId = 'default') => {
  const indexes = await examineIndexes(app, tenantId)
  return indexes.find((one) => one.model === model)?.standing
}
const search = async () => {
  const vector = Float32Array.from({ length: dimensions }, (_, n) => Math.sin(n + 1))
  const asked = { minSimilarity: 0.1, topK: 5 }
  return findExperiences(db.database.forTenant('default'), { model, vector }, asked)
}

afterEach(() => {
  ahead = 0
})

describe('the index of a model', () => {
  const state = () => findExperienceIndex(db.database.forTenant('small').kysely, few)

  it('is not made where nobody has so many, unless somebody insists', async () => {
    expect(await make({ model: few })).toMatchObject([{ model: few, status: 'not_worth_it' }])
    expect(await state()).toMatchObject({ state: 'none' })

    expect(await make({ model: few, anyway: true })).toMatchObject([{ status: 'made' }])

    expect(await state()).toMatchObject({ state: 'whole', recall: null })
    expect(await make({ model: few, anyway: true })).toMatchObject([{ status: 'there' }])
    expect(await make({ model: 'nobody', anyway: true })).toEqual([])
  })

  it('is made anew where an interrupted build has left one that is not whole', async () => {
    // What a build anew leaves beside the one that it was to replace.
    await asSuperuser(`CREATE INDEX ${name}_ccnew ON public.experience_embeddings (text_hash)`)
    for (const left of [name, `${name}_ccnew`]) {
      await asSuperuser(
        `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'public.${left}'::regclass`,
      )
    }
    expect(await state()).toMatchObject({ state: 'unfinished' })

    expect(await make({ model: few, anyway: true })).toMatchObject([{ status: 'made' }])

    expect(await state()).toMatchObject({ state: 'whole' })
    const { rows } = await db.asOwner('small', (client) =>
      client.query('SELECT relname FROM pg_class WHERE starts_with(relname, $1)', [name]),
    )
    expect(rows).toEqual([{ relname: name }])
  })

  it('is built anew on request, with other links', async () => {
    const before = await state()
    const options = { model: few, anyway: true, rebuild: true, links: 8, breadth: 32 }

    expect(await make(options)).toMatchObject([{ status: 'rebuilt' }])

    const after = await state()
    expect(after.state).toBe('whole')
    expect(after.file).not.toBe(before.file)
    const { rows } = await db.asOwner('small', (client) =>
      client.query(`SELECT reloptions FROM pg_class WHERE relname = $1`, [name]),
    )
    expect(rows).toEqual([{ reloptions: ['m=8', 'ef_construction=32'] }])
  })

  it('is refused of vectors with more numbers than it takes', async () => {
    await addManyExperiences(db, 'small', { model: 'wide-v1', dimensions: 4_001, count: 0 })

    const options = { model: 'wide-v1', anyway: true }

    expect(await make(options)).toMatchObject([{ status: 'too_wide' }])
  })
})

describe('what an index finds', () => {
  it('is measured once it was made, and then it is used', async () => {
    expect(await standing()).toBe('none')
    expect(await standing('small')).toBe('small')
    const exact = await search()
    expect(exact.by).toBe('scan')
    const made = await make(coarse)
    expect(made.find((one) => one.model === model)?.status).toBe('made')
    expect(await standing()).toBe('unmeasured')
    expect((await search()).by).toBe('scan')

    const measured = await measureRecalls(app)

    expect(measured).toEqual([{ tenantId: 'default', model, recall: expect.any(Number) }])
    expect(measured[0]?.recall).toBeGreaterThanOrEqual(0.95)
    expect(await standing()).toBe('good')
    expect(await search()).toEqual({ found: exact.found, by: 'index' })
    expect(await measureRecalls(app)).toEqual([])
  })

  it('is measured again after a week: by one process, and by another when that one has died', async () => {
    ahead = weekMs + 1_000
    const claimed = new Date(Date.now() + ahead)
    await db.asOwner('default', (client) =>
      client.query('UPDATE experience_cursors SET measuring_since = $1', [claimed]),
    )
    expect(await measureRecalls(app)).toEqual([])

    ahead += 2 * 3_600_000

    expect(await measureRecalls(app)).toHaveLength(1)
    expect(await measureRecalls(app)).toEqual([])
  })

  it('keeps one from use that finds too little, once that was measured', async () => {
    // Without links to go by, most of what is near is out of reach.
    await make({ model, rebuild: true, links: 2, breadth: 4 })
    expect(await standing()).toBe('unmeasured')
    expect(await measureRecalls(app, AbortSignal.abort())).toEqual([])
    expect(await standing()).toBe('unmeasured')

    const [measured] = await measureRecalls(app)

    expect(measured?.recall).toBeLessThan(0.95)
    expect(await standing()).toBe('poor')
    expect((await search()).by).toBe('scan')
  })
})
