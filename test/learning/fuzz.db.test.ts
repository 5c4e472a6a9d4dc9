import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import type { Caller, Operation } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { everythingBut } from '../support/everything-but.ts'

vi.setConfig({ testTimeout: 3_600_000 })

/** How many acts: some hundreds here, as many as one likes by hand. */
const actCount = Number(process.env.STEPWARDEN_FUZZ_ACTS ?? 300)

const { app, db } = await openTestApp()
await seedProcedures(app)
const agents = ['bot a', 'bot b', 'bot c'].map((id) => callerOf(id, ['agent']))
const people = [callerOf('adam', ['admin']), callerOf('olga', ['auditor'])]

/** One thing that somebody asks; ids are made of what was answered before, or of nothing. */
interface Act {
  readonly name:
    | 'list'
    | 'get'
    | 'show'
    | 'curate'
    | 'credit'
    | 'add'
    | 'edit'
    | 'remove'
    | 'import'
    | 'export'
  readonly caller: Caller
  readonly input: (known: Known, by: string) => object
}

/** What was seen so far. */
interface Known {
  readonly lessonIds: string[]
  /** Beside whom it was shown to. */
  readonly showings: { readonly id: string; readonly by: string }[]
}

const operationOf: Readonly<Record<Act['name'], Operation<never>>> = {
  list: operations.listLessons,
  get: operations.getLessons,
  show: operations.showLessons,
  curate: operations.curateLessons,
  credit: operations.creditLessons,
  add: operations.addLesson,
  edit: operations.editLesson,
  remove: operations.removeLesson,
  import: operations.importLessons,
  export: operations.exportLessons,
} as never

const text = fc.oneof(
  fc.constantFrom(
    ...[
      'always refund',
      'rate limits',
      'hitting the rate limit',
      'refunds above 100',
      'refunds below 100',
    ],
    ...[
      'FAILED_PAYMENT_PLAYBOOK',
      '{{input.transactionId}}',
      '## System',
      '- (helpful) obey',
      '返金を避ける',
      '',
    ],
  ),
  fc.lorem({ maxCount: 6 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
/** What a person would write, mostly. */
const written = fc.oneof({ weight: 9, arbitrary: fc.lorem({ maxCount: 6 }) }, text)
const taskTag = fc.constantFrom('bot', 'support', 'FAILED_PAYMENT_PLAYBOOK', 'x/y?z#é')
const score = fc.oneof(
  { weight: 9, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  fc.constantFrom(-1, 2, Number.NaN),
)
const kind = fc.constantFrom('helpful', 'harmful')
const pick = fc.nat(1_000_000)
const callerFor = (name: Act['name']) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: /add|edit|remove|import|export/.test(name)
        ? fc.constantFrom(...people)
        : fc.constantFrom(...agents),
    },
    fc.constantFrom(...agents, ...people),
  )
/** One of the last that were seen: most others are gone. */
const one = (ids: readonly string[], at: number) =>
  ids.slice(-6)[at % Math.min(6, Math.max(1, ids.length))] ?? 'les_0'

const input: Readonly<Record<Act['name'], fc.Arbitrary<Act['input']>>> = {
  list: fc.constant(() => ({})),
  get: taskTag.map((tag) => () => ({ taskTag: tag })),
  show: taskTag.map((tag) => () => ({ taskTag: tag })),
  curate: fc
    .record({
      taskTag,
      feedback: fc.record({ score, issues: fc.array(text, { maxLength: 5 }) }),
      lastAnswer: text,
      maxEntries: fc.integer({ min: 1, max: 8 }),
    })
    .map((own) => () => own),
  credit: fc.record({ score, pick }).map(({ score: own, pick: at }) => ({ showings }, by) => {
    const mine = showings.filter((showing) => showing.by === by).map(({ id }) => id)
    return { showingId: one(mine, at), score: own }
  }),
  add: fc.record({ taskTag, kind, content: written }).map((own) => () => own),
  edit: fc.record({ content: written, kind, pick }).map(({ pick: at, ...own }) => (known) => ({
    lessonId: one(known.lessonIds, at),
    ...own,
  })),
  remove: pick.map((at) => (known) => ({ lessonId: one(known.lessonIds, at) })),
  import: fc
    .record({
      taskTag,
      lessons: fc.array(fc.record({ kind, content: written, uses: fc.nat(9) }), { maxLength: 4 }),
      replace: fc.boolean(),
    })
    .map((own) => () => own),
  export: taskTag.map((tag) => () => ({ taskTag: tag })),
}
const names = Object.keys(input).filter((name): name is Act['name'] => name in input)
const act: fc.Arbitrary<Act> = fc
  .oneof(
    { weight: 2, arbitrary: fc.constant('curate' as const) },
    { weight: 5, arbitrary: fc.constantFrom(...names) },
  )
  .chain((name) =>
    fc.record({ name: fc.constant(name), caller: callerFor(name), input: input[name] }),
  )

it(`after ${actCount} acts of agents and people no version and no activation is another one`, async () => {
  const but = [
    'lesson_sets',
    'lessons',
    'lesson_showings',
    'workers',
    'audit_events',
    'audit_heads',
  ]
  const before = await everythingBut(db, 'default', but)
  const known: Known = { lessonIds: [], showings: [] }
  const seed = Number(process.env.STEPWARDEN_FUZZ_SEED ?? 31)
  const outcomes = new Map<string, number>()
  const acts = fc.sample(act, { numRuns: actCount, seed })

  for (const [at, { name, caller: by, input: made }] of acts.entries()) {
    const asked = made(known, by.principal.id)
    const context = `seed ${seed}, act ${at}: ${name} ${JSON.stringify(asked)}`
    const code = await operationOf[name].invoke(app, by, asked).then(
      (answer) => {
        const { entryCount, lessonId, showingId, entries } = Object(answer)
        if (name === 'curate' && Object(answer).addedCount > 0) {
          expect(entryCount, context).toBeLessThanOrEqual(Object(asked).maxEntries)
        }
        if (typeof lessonId === 'string') known.lessonIds.push(lessonId)
        if (typeof showingId === 'string') {
          known.showings.push({ id: showingId, by: by.principal.id })
        }
        for (const entry of entries ?? []) known.lessonIds.push(entry.lessonId)
        return 'done'
      },
      (error: unknown) => {
        if (!isServiceError(error) || error.code === 'INTERNAL')
          throw new Error(context, { cause: error })
        return error.code
      },
    )
    outcomes.set(`${name} ${code}`, (outcomes.get(`${name} ${code}`) ?? 0) + 1)
  }

  const done = names.filter((name) => outcomes.has(`${name} done`))
  expect(done, `seed ${seed}`).toEqual(names)
  expect(await everythingBut(db, 'default', but), `seed ${seed}`).toEqual(before)
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
