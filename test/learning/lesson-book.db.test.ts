import { describe, expect, it } from 'vitest'
import { beginLessonRun, type LessonSwitches } from '../../src/learning/lesson-book.ts'
import type { Client } from '../../src/library.ts'
import { operations } from '../../src/operations/registry.ts'
import { runAndLearn } from '../examples/lessons.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp({ tools: [] })
const agent = callerOf('bot', ['agent'])
const asked: string[] = []
const ask = (name: 'showLessons' | 'creditLessons' | 'curateLessons') => (input: unknown) => {
  asked.push(name)
  return operations[name].invoke(app, agent, input)
}
const client = {
  showLessons: ask('showLessons'),
  creditLessons: ask('creditLessons'),
  curateLessons: ask('curateLessons'),
} as unknown as Client

const begin = (lessons: LessonSwitches, loopTag?: string) =>
  beginLessonRun(client, {
    ...{ agentName: 'researcher', lessons },
    ...(loopTag !== undefined && { loopTag }),
  })
const end = { feedback: { score: 0.9, issues: ['rate limits'] }, lastAnswer: 'Done.' }

describe('reading and curating', () => {
  it('are switched each by itself', async () => {
    expect(await (await begin({ read: false, curate: false })).end(end)).toBeUndefined()
    expect(asked).toEqual([])

    const taught = await begin({ read: false, curate: true })
    expect([taught.text, await taught.end(end)]).toEqual(['', 2])
    expect(asked.splice(0)).toEqual(['curateLessons'])

    const reader = await begin({ read: true, curate: false })
    expect(reader.text).toContain('- (avoid) Avoid: rate limits')
    expect(await reader.end(end)).toBeUndefined()
    expect(asked.splice(0)).toEqual(['showLessons', 'creditLessons'])
    const { entries } = await operations.getLessons.invoke(app, agent, { taskTag: 'researcher' })
    expect(entries.map(({ credit, uses }) => [credit, uses])).toEqual([
      [0.9, 0],
      [0.9, 0],
    ])
  })

  it('without feedback leave nothing behind', async () => {
    const run = await begin({ read: true, curate: true })

    expect(await run.end({ lastAnswer: 'Done.' })).toBeUndefined()
    expect(asked.splice(0)).toEqual(['showLessons'])
  })

  it("go by the loop's tag, then the agent's, then its name", async () => {
    const off = { read: false, curate: false }

    expect((await begin(off)).taskTag).toBe('researcher')
    expect((await begin({ ...off, taskTag: 'pool' })).taskTag).toBe('pool')
    expect((await begin({ ...off, taskTag: 'pool' }, 'loop')).taskTag).toBe('loop')
  })
})

it('the example of the page learns, and is shown what it has learned', async () => {
  const prompts: string[] = []
  const answer = async (prompt: string) => {
    prompts.push(prompt)
    return 'Looked the transaction up first.'
  }
  const judge = () => ({ score: 0.85, issues: ['vague answers'] })

  expect(await runAndLearn(client, 'Where is my refund?', answer, judge)).toBe(2)
  expect(await runAndLearn(client, 'Where is my refund?', answer, judge)).toBe(2)
  expect(prompts[0]).toBe('\n\nWhere is my refund?')
  expect(prompts[1]).toContain('- (helpful) Worked well: Looked the transaction up first.')
})
