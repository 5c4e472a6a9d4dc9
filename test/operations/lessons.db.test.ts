import { beforeEach, describe, expect, it } from 'vitest'
import type { ServiceError } from '../../src/domain/errors.ts'
import { operations } from '../../src/operations/registry.ts'
import { unmeasured } from '../../src/search/embedder.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

let ahead = 0
const { app, db } = await openTestApp({
  tools: [],
  clock: { now: () => Date.parse('2026-11-30T12:00:00Z') + ahead },
})
const agent = callerOf('bot', ['agent'])
const admin = callerOf('adam', ['admin'])

let count = 0
let tag = ''
beforeEach(() => {
  count += 1
  tag = `task ${count}`
  ahead += 1_000
})

const curate = (
  issues: readonly string[],
  {
    score = 0.5,
    lastAnswer = '',
    ...more
  }: { readonly score?: number; readonly lastAnswer?: string; readonly maxEntries?: number } = {},
) => {
  ahead += 1
  const feedback = { score, issues }
  return operations.curateLessons.invoke(app, agent, {
    taskTag: tag,
    feedback,
    lastAnswer,
    ...more,
  })
}
const linesOf = async (taskTag = tag) => {
  const { entries } = await operations.getLessons.invoke(app, agent, { taskTag })
  return entries.map(
    ({ kind, content, uses, lastScore }) => `${kind} ${content} ${uses} ${lastScore}`,
  )
}
const failureOf = (run: Promise<unknown>): Promise<ServiceError> =>
  run.then(
    () => expect.unreachable('it did not fail'),
    (error) => error,
  )
const rowsOf = (table: 'lessons' | 'lesson_sets' | 'webhook_deliveries') =>
  db.database.forTenant('default').kysely.selectFrom(table).selectAll().execute()

describe('a tag that nothing was learned for', () => {
  it('reads as empty', async () => {
    expect(await operations.getLessons.invoke(app, agent, { taskTag: tag })).toEqual({
      ...{ taskTag: tag, revision: 0, entries: [], text: '' },
    })
    expect(await operations.showLessons.invoke(app, agent, { taskTag: tag })).toMatchObject({
      ...{ entries: [], text: '', showingId: null },
    })
  })
})

describe('a curation', () => {
  it('learns from issues and answer, counts what comes up again, and answers how many there are', async () => {
    const first = await curate(['rate limits', 'vague answers', 'no sources', 'too long'], {
      score: 0.9,
      lastAnswer: 'CRISPR is\na tool.',
    })
    expect(first).toEqual({
      ...{ entryCount: 4, addedCount: 4, mergedCount: 0, droppedCount: 0, reflector: null },
    })

    const second = await curate(['Rate limits'], { score: 0.4 })
    expect(second).toMatchObject({ entryCount: 4, addedCount: 0, mergedCount: 1 })
    expect(await linesOf()).toEqual([
      'harmful Avoid: rate limits 1 0.4',
      'harmful Avoid: vague answers 0 null',
      'harmful Avoid: no sources 0 null',
      'helpful Worked well: CRISPR is a tool. 0 null',
    ])
  })

  it('does nothing without feedback, or where there is nothing to learn', async () => {
    await curate(['rate limits'])
    const before = await rowsOf('lesson_sets')

    const nothing = await operations.curateLessons.invoke(app, agent, {
      ...{ taskTag: tag, lastAnswer: 'Fine.' },
    })
    expect(nothing).toMatchObject({ entryCount: 1, addedCount: 0, mergedCount: 0 })
    expect(await curate([' ', '…'], { lastAnswer: 'Bad.' })).toMatchObject({ entryCount: 1 })
    expect(await rowsOf('lesson_sets')).toEqual(before)
  })

  it('joins near-duplicates by meaning, and keeps opposites apart', async () => {
    await curate(['rate limits', 'refunds above 100'])

    expect(await curate(['hitting the rate limit'])).toMatchObject({
      mergedCount: 1,
      addedCount: 0,
    })
    expect(await curate(['refunds below 100', 'refunds above 200'])).toMatchObject({
      ...{ mergedCount: 0, addedCount: 2 },
    })
    expect(await linesOf()).toContain('harmful Avoid: rate limits 1 0.5')
    const vectors = (await rowsOf('lessons')).filter(
      (row) => 'task_tag' in row && row.task_tag === tag,
    )
    expect(vectors.every((row) => 'model' in row && row.model === 'ngram-512-v1')).toBe(true)
  })

  it('gives lines that have no vector theirs, so that those meet others as well', async () => {
    await operations.addLesson.invoke(app, admin, {
      ...{ taskTag: tag, kind: 'harmful', content: 'Avoid: rate limits' },
    })

    await curate(['something else'])
    const models = await db.database
      .forTenant('default')
      .kysely.selectFrom('lessons')
      .select('model')
      .where('task_tag', '=', tag)
      .execute()
    expect(models).toEqual([{ model: 'ngram-512-v1' }, { model: 'ngram-512-v1' }])
    expect(await curate(['hitting the rate limit'])).toMatchObject({ mergedCount: 1 })
  })

  it('keeps at most so many, and says how many made room', async () => {
    await curate(['alpha', 'beta', 'gamma'])
    await curate(['alpha'])

    const last = await curate(['delta'], { maxEntries: 2 })

    expect(last).toEqual({
      ...{ entryCount: 2, addedCount: 1, mergedCount: 0, droppedCount: 2, reflector: null },
    })
    expect(await linesOf()).toEqual(['harmful Avoid: alpha 1 0.5', 'harmful Avoid: delta 0 null'])
  })

  it('that finds no room for what is new changes nothing', async () => {
    await curate(['alpha'])
    await curate(['alpha'])
    const before = await rowsOf('lesson_sets')

    const full = await curate(['beta'], { maxEntries: 1 })

    expect(full).toMatchObject({ entryCount: 1, addedCount: 0, mergedCount: 0, droppedCount: 0 })
    expect(await rowsOf('lesson_sets')).toEqual(before)
  })

  it('is of its tag and tenant alone', async () => {
    await db.addTenant('other')
    await curate(['rate limits'])
    const elsewhere = callerOf('bot', ['agent'], 'other')

    expect(await linesOf(`${tag} b`)).toEqual([])
    expect(await operations.getLessons.invoke(app, elsewhere, { taskTag: tag })).toMatchObject({
      entries: [],
    })
  })

  it.each([
    [{ score: -0.1, issues: [] }],
    [{ score: 1.1, issues: [] }],
    [{ score: Number.NaN, issues: [] }],
    [{ score: Number.POSITIVE_INFINITY, issues: [] }],
    [{ score: '0.5', issues: [] }],
    [{ score: 0.5, issues: 'rate limits' }],
    [{ score: 0.5, issues: [1] }],
    [{ score: 0.5, issues: Array(101).fill('x') }],
    [{ score: 0.5, issues: ['a\u0000b'] }],
    [{ issues: ['x'] }],
    [null],
  ])('refuses feedback such as %j', async (feedback) => {
    const asked = operations.curateLessons.invoke(app, agent, { taskTag: tag, feedback })

    expect(await failureOf(asked)).toMatchObject({ code: 'REQUEST_INVALID' })
    expect(await linesOf()).toEqual([])
  })

  it.each(['', ' ', '..', 'x'.repeat(201)])('refuses the tag %j', async (taskTag) => {
    const feedback = { score: 0, issues: ['x'] }
    const asked = operations.curateLessons.invoke(app, agent, { taskTag, feedback })

    expect(await failureOf(asked)).toMatchObject({ code: 'REQUEST_INVALID' })
  })

  it.each([
    'レート制限を避ける',
    'избегайте повторных возвратов',
    'تجنب طلبات كثيرة',
    'אל תבטיח תאריך',
    '👍🏽 works',
  ])('keeps %s as it is, and counts it when it comes again', async (issue) => {
    await curate([issue])

    expect(await curate([issue])).toMatchObject({ entryCount: 1, mergedCount: 1 })
    expect(await linesOf()).toEqual([`harmful Avoid: ${issue} 1 0.5`])
  })
})

describe('a model that was never measured', () => {
  it('merges equal and contained lines alone', async () => {
    const embedder = { ...ngramEmbedder, model: 'novel-v1', thresholds: unmeasured }
    const novel = await openTestApp({ tools: [], embedder })
    const learn = (issue: string) =>
      operations.curateLessons.invoke(novel.app, agent, {
        ...{ taskTag: 'novel', feedback: { score: 0.5, issues: [issue] } },
      })
    await learn('rate limits')

    expect(await learn('hitting the rate limit')).toMatchObject({ addedCount: 1 })
    expect(await learn('RATE LIMITS of the API')).toMatchObject({ mergedCount: 1 })
  })

  it('and neither does one that fails', async () => {
    const embedder = {
      ...ngramEmbedder,
      embed: () => Promise.reject(new Error('no memory')),
    }
    const failing = await openTestApp({ tools: [], embedder })
    const learn = (issue: string) =>
      operations.curateLessons.invoke(failing.app, agent, {
        ...{ taskTag: 'failing', feedback: { score: 0.5, issues: [issue] } },
      })
    await learn('rate limits')

    expect(await learn('hitting the rate limit')).toMatchObject({ addedCount: 1 })
    expect(await learn('Rate Limits')).toMatchObject({ mergedCount: 1 })
  })
})

describe('the list', () => {
  it('has the tags that have lessons, page by page', async () => {
    for (const taskTag of ['list b', 'list a', 'list c']) {
      tag = taskTag
      await curate(['rate limits'])
    }
    const { entries } = await operations.getLessons.invoke(app, agent, { taskTag: 'list c' })
    const lessonId = entries[0]?.lessonId
    await operations.removeLesson.invoke(app, admin, { lessonId })

    const first = await operations.listLessons.invoke(app, agent, { limit: 1, cursor: 'list' })
    expect(first).toMatchObject({
      items: [{ taskTag: 'list a', entryCount: 1, revision: 1 }],
      nextCursor: 'list a',
    })
    const rest = await operations.listLessons.invoke(app, agent, { cursor: 'list a' })
    const tags = rest.items.map(({ taskTag }) => taskTag)
    expect(tags).toContain('list b')
    expect(tags).not.toContain('list c')
  })
})

describe('credit', () => {
  const show = () => operations.showLessons.invoke(app, agent, { taskTag: tag })
  const credit = (showingId: string | null, score: number, caller = agent) =>
    operations.creditLessons.invoke(app, caller, { showingId, score })
  const creditsOf = async () => {
    const { entries } = await operations.getLessons.invoke(app, agent, { taskTag: tag })
    return entries.map(({ content, credit: sum, creditedRuns }) => [content, sum, creditedRuns])
  }

  it('is earned by the lines that the run was shown, and changes nothing else', async () => {
    await curate(['alpha'])
    const { showingId } = await show()
    await curate(['beta'])
    const before = await rowsOf('lesson_sets')

    expect(await credit(showingId, 0.75)).toEqual({ taskTag: tag, creditedCount: 1 })
    expect(await creditsOf()).toEqual([
      ['Avoid: beta', 0, 0],
      ['Avoid: alpha', 0.75, 1],
    ])
    expect(await rowsOf('lesson_sets')).toEqual(before)
  })

  it('is earned once a showing, by whom it was shown to', async () => {
    await curate(['alpha'])
    const { showingId } = await show()

    const stranger = callerOf('other bot', ['agent'])
    expect(await failureOf(credit(showingId, 1, stranger))).toMatchObject({
      code: 'SHOWING_NOT_FOUND',
    })
    await credit(showingId, 0.5)
    expect(await failureOf(credit(showingId, 0.5))).toMatchObject({ code: 'SHOWING_NOT_FOUND' })
    await credit((await show()).showingId, 0.25)
    expect(await creditsOf()).toEqual([['Avoid: alpha', 0.75, 2]])
  })

  it('is earned by none that is gone, nor by a run of long ago', async () => {
    await curate(['alpha', 'beta'])
    const { showingId, entries } = await show()
    await operations.removeLesson.invoke(app, admin, { lessonId: entries[0]?.lessonId })

    expect(await credit(showingId, 1)).toMatchObject({ creditedCount: 1 })
    const old = await show()
    ahead += 8 * 86_400_000
    await show()
    expect(await failureOf(credit(old.showingId, 1))).toMatchObject({ code: 'SHOWING_NOT_FOUND' })
  })

  it.each([-1, 1.01, Number.NaN])('refuses the score %d', async (score) => {
    await curate(['alpha'])
    const { showingId } = await show()

    expect(await failureOf(credit(showingId, score))).toMatchObject({ code: 'REQUEST_INVALID' })
  })
})

describe('by hand', () => {
  const add = (content: string, kind = 'harmful') =>
    operations.addLesson.invoke(app, admin, { taskTag: tag, kind, content })
  const auditOf = async (entityId: string) => {
    const { items } = await operations.listAuditEvents.invoke(app, admin, { entityId })
    return items.map(({ action, details }) => [action, details])
  }

  it('a line is added, edited and removed, and the audit log has each without its words', async () => {
    const { lessonId, entryCount, isByHand } = await add('Never promise a date')
    expect([entryCount, isByHand]).toEqual([1, true])

    await operations.editLesson.invoke(app, admin, { lessonId, content: 'Promise no date' })
    await operations.editLesson.invoke(app, admin, { lessonId, kind: 'helpful' })
    expect(await linesOf()).toEqual(['helpful Promise no date 0 null'])

    const removed = await operations.removeLesson.invoke(app, admin, { lessonId })
    expect(removed).toEqual({ lessonId, taskTag: tag, entryCount: 0 })
    expect(await linesOf()).toEqual([])
    const events = await auditOf(lessonId)
    expect(events.toReversed()).toEqual([
      ['lesson.added', { taskTag: tag, kind: 'harmful' }],
      ['lesson.edited', { taskTag: tag, kind: 'harmful' }],
      ['lesson.edited', { taskTag: tag, kind: 'helpful' }],
      ['lesson.removed', { taskTag: tag, kind: 'helpful' }],
    ])
  })

  it('a line that a person wrote or changed is dropped last', async () => {
    await add('By hand')
    await curate(['alpha', 'beta'])
    await curate(['alpha', 'beta'])

    await curate(['alpha'], { maxEntries: 2 })

    expect(await linesOf()).toEqual(['harmful Avoid: alpha 2 0.5', 'harmful By hand 0 null'])
  })

  it('a line that a person wrote leaves a trace when a curation drops it, and others do not', async () => {
    const { lessonId } = await add('By hand')
    ahead += 1
    await add('By hand too')
    await curate(['alpha'])

    await curate(['beta'], { maxEntries: 1 })

    const dropped = { action: 'lesson.dropped', limit: 200 }
    const { items } = await operations.listAuditEvents.invoke(app, admin, dropped)
    expect(items.filter(({ details }) => Object(details).taskTag === tag)).toMatchObject([
      { entityKind: 'lesson', entityId: lessonId, details: { taskTag: tag, kind: 'harmful' } },
    ])
  })

  it('a line is there once, whatever its case', async () => {
    const { lessonId } = await add('Ask first')
    const other = await add('Ask last')

    expect(await failureOf(add('ASK FIRST'))).toMatchObject({
      code: 'LESSON_EXISTS',
      details: { lessonId, taskTag: tag },
    })
    const edited = operations.editLesson.invoke(app, admin, {
      ...{ lessonId: other.lessonId, content: 'ask First' },
    })
    expect(await failureOf(edited)).toMatchObject({ code: 'LESSON_EXISTS' })
    await operations.editLesson.invoke(app, admin, { lessonId, content: 'ASK first' })
    await add('Ask first', 'helpful')
  })

  it.each(['two\nlines', ' around ', '', 'x'.repeat(501), '…', 'a\u202Eb'])(
    'refuses to add %j',
    async (content) => {
      expect(await failureOf(add(content))).toMatchObject({ code: 'REQUEST_INVALID' })
    },
  )

  it('a line that is gone is not found', async () => {
    const lessonId = 'les_000000000000000000000'

    for (const name of ['editLesson', 'removeLesson'] as const) {
      const asked = operations[name].invoke(app, admin, { lessonId })
      expect(await failureOf(asked)).toMatchObject({ code: 'LESSON_NOT_FOUND' })
    }
  })

  it('what is exported is the same after it is imported elsewhere', async () => {
    await curate(['alpha', 'beta', 'gamma'], { score: 0.9, lastAnswer: 'It worked.' })
    await curate(['beta'], { score: 0.31 })
    await add('By hand', 'helpful')
    const { showingId } = await operations.showLessons.invoke(app, agent, { taskTag: tag })
    await operations.creditLessons.invoke(app, agent, { showingId, score: 0.1 })
    const { lessons } = await operations.exportLessons.invoke(app, admin, { taskTag: tag })
    const file: unknown = JSON.parse(JSON.stringify(lessons))

    const copy = `${tag} copy`
    const imported = await operations.importLessons.invoke(app, admin, {
      ...{ taskTag: copy, lessons: file },
    })

    expect(imported).toMatchObject({ addedCount: 5, keptCount: 0, removedCount: 0, entryCount: 5 })
    const again = await operations.exportLessons.invoke(app, admin, { taskTag: copy })
    expect(again.lessons).toEqual(lessons)
    expect(await auditOf(copy)).toEqual([
      ['lessons.exported', { taskTag: copy, count: 5 }],
      ['lessons.imported', { taskTag: copy, addedCount: 5, keptCount: 0, removedCount: 0 }],
    ])
  })

  it('an import keeps what is there, or replaces it', async () => {
    await curate(['alpha', 'beta'])
    await curate(['alpha'])
    const lessons = [
      { kind: 'harmful', content: 'AVOID: Alpha' },
      { kind: 'harmful', content: 'Avoid: gamma', uses: 3 },
    ]
    const take = (more: object = {}) =>
      operations.importLessons.invoke(app, admin, { taskTag: tag, lessons, ...more })

    expect(await take()).toMatchObject({ addedCount: 1, keptCount: 1, entryCount: 3 })
    expect(await take()).toMatchObject({ addedCount: 0, keptCount: 2, entryCount: 3 })
    expect((await linesOf())[0]).toBe('harmful Avoid: gamma 3 null')
    expect(await take({ replace: true })).toMatchObject({ removedCount: 3, entryCount: 2 })
    expect(await linesOf()).toEqual(['harmful Avoid: gamma 3 null', 'harmful AVOID: Alpha 0 null'])
  })

  it('an import is whole or none, with every problem', async () => {
    const lessons = [
      { kind: 'harmful', content: 'Avoid: a1' },
      { kind: 'bad', content: 'b1' },
      { kind: 'harmful', content: 'c1', lastScore: 2 },
      { kind: 'harmful', content: 'AVOID: A1' },
      { kind: 'harmful', content: 'd1', credit: 2, creditedRuns: 1 },
    ]
    const asked = operations.importLessons.invoke(app, admin, { taskTag: tag, lessons })

    expect(await failureOf(asked)).toMatchObject({ code: 'REQUEST_INVALID' })
    const full = Array.from({ length: 200 }, (_, at) => ({
      kind: 'helpful',
      content: `Line ${at}`,
    }))
    await operations.importLessons.invoke(app, admin, { taskTag: tag, lessons: full })
    expect(await failureOf(add('One more'))).toMatchObject({ code: 'LESSON_LIMIT_REACHED' })
    const more = operations.importLessons.invoke(app, admin, {
      ...{ taskTag: tag, lessons: [{ kind: 'helpful', content: 'One more' }] },
    })
    expect(await failureOf(more)).toMatchObject({ code: 'LESSON_LIMIT_REACHED' })
    expect(await curate(['alpha'], { maxEntries: 200 })).toMatchObject({ entryCount: 200 })
  })
})

describe('webhooks', () => {
  it('are told when a set has really changed, with its tag and how many lines it has', async () => {
    const { webhookId } = await operations.createWebhook.invoke(app, admin, {
      ...{ url: 'https://hooks.example.com/', events: ['lessons.updated'] },
    })
    await curate(['alpha', 'beta'])
    await curate([])
    await operations.curateLessons.invoke(app, agent, { taskTag: tag })
    await curate(['alpha'])
    const { entries } = await operations.getLessons.invoke(app, agent, { taskTag: tag })
    await operations.removeLesson.invoke(app, admin, { lessonId: entries[0]?.lessonId })

    const told = await db.database
      .forTenant('default')
      .kysely.selectFrom('webhook_deliveries')
      .select(['type', 'subject', 'data'])
      .where('webhook_id', '=', webhookId)
      .orderBy('seq')
      .execute()
    expect(told.map(({ data }) => data)).toEqual(
      [2, 2, 1].map((entryCount, at) => ({
        ...{ tenantId: 'default', taskTag: tag, entryCount, revision: at + 1 },
      })),
    )
    expect(new Set(told.map(({ type, subject }) => `${type} ${subject}`))).toEqual(
      new Set([`lessons.updated lessons:${tag}`]),
    )
  })
})

describe('an erasure', () => {
  it('lists the lessons that name the customer, and removes none', async () => {
    await curate(['asking C-77 twice', 'asking C-771 twice'])
    const { entries } = await operations.getLessons.invoke(app, agent, { taskTag: tag })
    const naming = entries.find(({ content }) => content === 'Avoid: asking C-77 twice')

    for (const dryRun of [true, false]) {
      const input = { customerId: 'C-77', reason: 'asked for', dryRun }
      expect(await operations.eraseCustomer.invoke(app, admin, input)).toMatchObject({
        lessons: [naming?.lessonId],
      })
    }
    expect(await linesOf()).toHaveLength(2)
  })
})

describe('a damaged table', () => {
  it('reads as far as it can be read, and as empty where it cannot', async () => {
    await curate(['alpha', 'beta'])
    await db.asOwner('default', async (client) => {
      await client.query('ALTER TABLE lessons DROP CONSTRAINT lessons_kind_check')
      await client.query('ALTER TABLE lessons DROP CONSTRAINT lessons_last_score_check')
      await client.query('ALTER TABLE lessons DROP CONSTRAINT lessons_uses_check')
      await client.query(`UPDATE lessons SET kind = 'good' WHERE task_tag = '${tag}'`)
    })

    expect(await linesOf()).toEqual([])
    await db.asOwner('default', (client) =>
      client.query(
        `UPDATE lessons SET kind = 'harmful', last_score = 'NaN' WHERE task_tag = '${tag}' AND content ~ 'alpha'`,
      ),
    )
    await db.asOwner('default', (client) =>
      client.query(
        `UPDATE lessons SET kind = 'harmful', uses = -1 WHERE task_tag = '${tag}' AND content ~ 'beta'`,
      ),
    )
    expect(await linesOf()).toEqual([])
    expect(await curate(['gamma'])).toMatchObject({ addedCount: 1 })
    expect(await linesOf()).toEqual(['harmful Avoid: gamma 0 null'])
  })
})
