import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import type { Caller } from '../../src/operations/define.ts'
import { learnOnce } from '../../src/operations/experience-chore.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { everythingBut } from '../support/everything-but.ts'
import { anyAct, type Known, people } from './fuzz/act.ts'
import { experienceActs } from './fuzz/experience-acts.ts'
import { lessonActs } from './fuzz/lesson-acts.ts'

vi.setConfig({ testTimeout: 3_600_000 })

/** How many acts: some hundreds here, as many as one likes by hand. */
const actCount = Number(process.env.STEPWARDEN_FUZZ_ACTS ?? 300)

/** What may be asked for: whatever is learned from. A new kind of act has its place here. */
const kinds = [...lessonActs, ...experienceActs]

/** Where that may leave something behind. `workers` beats, whatever happens. */
const quarantine = [
  ...['lesson_sets', 'lessons', 'lesson_showings'],
  ...['experiences', 'experience_embeddings', 'experience_cursors'],
  ...['workers', 'audit_events', 'audit_heads'],
]

/** So often time goes on, and the chore works. */
const choreEvery = 50

let ahead = 0
const { app, db } = await openTestApp({ clock: { now: () => Date.now() + ahead } })
await seedProcedures(app)

it(`after ${actCount} acts of agents and people no version and no activation is another one`, async () => {
  const before = await everythingBut(db, 'default', quarantine)
  const known: Known = { ids: new Map() }
  const seed = Number(process.env.STEPWARDEN_FUZZ_SEED ?? 31)
  const outcomes = new Map<string, number>()
  const acts = fc.sample(anyAct(kinds), { numRuns: actCount, seed })

  for (const [at, { kind, caller, input }] of acts.entries()) {
    const by = caller.principal.id
    const asked = input(known, by)
    const context = `seed ${seed}, act ${at}: ${kind.name} ${JSON.stringify(asked)}`
    const code = await kind.operation.invoke(app, caller, asked).then(
      (answer) => {
        kind.learn?.({ known, by, asked, answer: Object(answer), context })
        return 'done'
      },
      (error: unknown) => {
        if (!isServiceError(error) || error.code === 'INTERNAL')
          throw new Error(context, { cause: error })
        return error.code
      },
    )
    outcomes.set(`${kind.name} ${code}`, (outcomes.get(`${kind.name} ${code}`) ?? 0) + 1)
    if (at % choreEvery === 0) {
      ahead += 3_600_000
      await learnOnce(app)
    }
  }
  await app.useCounts.settled()

  if (process.env.STEPWARDEN_FUZZ_ACTS !== undefined) console.table(Object.fromEntries(outcomes))
  const done = kinds.filter(({ name }) => outcomes.has(`${name} done`))
  expect(done, `seed ${seed}`).toEqual(kinds)
  expect(await everythingBut(db, 'default', quarantine), `seed ${seed}`).toEqual(before)
  await everyTagIsSound()
})

/** What holds of every tag at every time. */
async function everyTagIsSound(): Promise<void> {
  const [admin] = people
  const { items } = await operations.listLessons.invoke(app, admin as Caller, { limit: 200 })
  for (const { taskTag: tag, entryCount } of items) {
    const { entries, text: shown } = await operations.getLessons.invoke(app, admin as Caller, {
      taskTag: tag,
    })
    expect(entries).toHaveLength(entryCount)
    expect(shown.split('\n')).toHaveLength(entries.length + 2)
    const lines = entries.map(({ kind: own, content }) => `${own} ${content.toLowerCase()}`)
    expect(new Set(lines).size).toBe(lines.length)
  }
}
