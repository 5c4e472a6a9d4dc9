import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { openAsLogin } from '../../src/db/connect.ts'
import { makeExperienceIndexes } from '../../src/db/experience-index.ts'
import {
  experienceIndexName,
  findExperienceIndex,
} from '../../src/db/queries/experience-indexes.ts'
import { openTestDatabase } from '../support/database.ts'
import { addManyExperiences } from '../support/many-experiences.ts'

vi.setConfig({ testTimeout: 60_000 })

const db = await openTestDatabase()
const model = 'made-v1'
await addManyExperiences(db, 'default', { model, dimensions: 4, count: 200 })

const make = async (tell: (line: string) => void = () => {}) => {
  await using login = await openAsLogin(db.config, { poolSize: 2 })
  return await makeExperienceIndexes(login, { model, anyway: true }, tell)
}
const state = async () =>
  (await findExperienceIndex(db.database.forTenant('default').kysely, model)).state

it('a build whose process has died leaves an index that is dropped, and made by the next one', async () => {
  await using login = await openAsLogin(db.config, { poolSize: 2 })
  let began = () => {}
  const waits = new Promise<void>((resolve) => {
    began = resolve
  })
  const built = login.kysely.transaction().execute(async (writer) => {
    // Whoever writes is waited for.
    await sql`LOCK TABLE public.experience_embeddings IN ROW EXCLUSIVE MODE`.execute(writer)
    const building = make((line) => {
      if (line === `${model}: waiting for writers before build`) began()
    })
    building.catch(() => {})
    await waits
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index
      WHERE datname = current_database()`.execute(login.kysely)
    await expect(building).rejects.toThrow()
  })
  await built
  expect(await state()).toBe('unfinished')

  expect(await make()).toMatchObject([{ model, status: 'made' }])

  expect(await state()).toBe('whole')
})

it('of several that make it at once one does, and the others follow', async () => {
  await using login = await openAsLogin(db.config)
  await sql`DROP INDEX ${sql.table(`public.${experienceIndexName(model)}`)}`.execute(login.kysely)

  const made = await Promise.all([make(), make(), make()])

  expect(
    made
      .flat()
      .map(({ status }) => status)
      .sort(),
  ).toEqual(['made', 'there', 'there'])
  expect(await state()).toBe('whole')
})
