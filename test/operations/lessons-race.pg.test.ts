import { describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp({ tools: [] })
const admin = callerOf('adam', ['admin'])
const twenty = Array.from({ length: 20 }, (_, at) => at)

const curate = (taskTag: string, by: number, issues: readonly string[], maxEntries = 200) =>
  operations.curateLessons.invoke(app, callerOf(`bot ${by}`, ['agent']), {
    ...{ taskTag, feedback: { score: 0.5, issues }, maxEntries },
  })
const read = (taskTag: string) => operations.getLessons.invoke(app, admin, { taskTag })
const words =
  'amber birch cedar delta ember frost glade heath inlet jetty knoll larch marsh north oaken pearl quill ridge stone thorn'.split(
    ' ',
  )

describe('twenty agents that curate one tag at once', () => {
  it('lose no line', async () => {
    await Promise.all(
      twenty.map((by) => curate('lines', by, [`${words[by]} one`, `${words[by]} and more`])),
    )

    const { entries, revision } = await read('lines')
    const expected = twenty.flatMap((by) => [
      `Avoid: ${words[by]} one`,
      `Avoid: ${words[by]} and more`,
    ])
    expect(entries.map(({ content }) => content).sort()).toEqual(expected.sort())
    expect(revision).toBe(20)
  })

  it('lose no use of a line that all of them teach', async () => {
    const answers = await Promise.all(twenty.map((by) => curate('uses', by, ['rate limits'])))

    const { entries } = await read('uses')
    expect(entries).toMatchObject([{ content: 'Avoid: rate limits', uses: 19 }])
    expect(answers.filter(({ addedCount }) => addedCount === 1)).toHaveLength(1)
  })

  it('join what the others teach by meaning, though it was not there when they began', async () => {
    // Each is like the other, whichever comes first.
    const said = ['rate limits', 'hitting the rate limit']
    await Promise.all(twenty.map((by) => curate('meaning', by, [said[by % said.length] ?? ''])))

    const { entries } = await read('meaning')
    expect(entries).toHaveLength(1)
    expect(entries[0]?.uses).toBe(19)
  })

  it('keep to the most that may stay', async () => {
    await Promise.all(twenty.map((by) => curate('bound', by, [`${words[by]}`], 7)))

    expect((await read('bound')).entries).toHaveLength(7)
  })

  it('leave what is written, shown and credited at the same time', async () => {
    await operations.addLesson.invoke(app, admin, {
      ...{ taskTag: 'mixed', kind: 'helpful', content: 'By hand' },
    })
    const credit = async (by: number) => {
      const bot = callerOf(`bot ${by}`, ['agent'])
      const { showingId } = await operations.showLessons.invoke(app, bot, { taskTag: 'mixed' })
      await operations.creditLessons.invoke(app, bot, { showingId, score: 0.5 })
    }
    const write = (by: number) =>
      operations.addLesson.invoke(app, admin, {
        ...{ taskTag: 'mixed', kind: 'helpful', content: `Written ${words[by]}` },
      })

    await Promise.all(
      twenty.map((by) =>
        [() => curate('mixed', by, [`${words[by]}`]), () => credit(by), () => write(by)][
          by % 3
        ]?.(),
      ),
    )

    const { entries } = await read('mixed')
    expect(entries).toHaveLength(1 + twenty.filter((by) => by % 3 !== 1).length)
    const byHand = entries.find(({ content }) => content === 'By hand')
    const credits = twenty.filter((by) => by % 3 === 1).length
    expect(byHand).toMatchObject({ credit: credits / 2, creditedRuns: credits })
  })
})

describe('two people', () => {
  it('who write the same line at once get one line and one refusal', async () => {
    const add = () =>
      operations.addLesson.invoke(app, admin, {
        ...{ taskTag: 'same', kind: 'helpful', content: 'Ask first' },
      })

    const outcomes = await Promise.allSettled([add(), add()])

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find((one) => one.status === 'rejected')).toMatchObject({
      reason: { code: 'LESSON_EXISTS' },
    })
  })

  it('who remove one at once, or while it is dropped, get one done and one not found', async () => {
    const { lessonId } = await operations.addLesson.invoke(app, admin, {
      ...{ taskTag: 'gone', kind: 'helpful', content: 'Ask first' },
    })
    const remove = () => operations.removeLesson.invoke(app, admin, { lessonId })

    const outcomes = await Promise.allSettled([remove(), remove()])

    expect(outcomes.find((one) => one.status === 'rejected')).toMatchObject({
      reason: { code: 'LESSON_NOT_FOUND' },
    })
    expect((await read('gone')).entries).toEqual([])
  })
})
