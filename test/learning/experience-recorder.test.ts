import { describe, expect, it } from 'vitest'
import { type Client, createTaskRecorder, type RecorderOptions } from '../../src/index.ts'

/** A client is all that a recorder needs: the compiler says so. */
const recorderOf = (client: Client) => createTaskRecorder(client)

function open(options: RecorderOptions = {}) {
  const tasks: unknown[] = []
  const curated: unknown[] = []
  const recorder = createTaskRecorder(
    {
      recordExperience: async (task) => {
        tasks.push(task)
        return { experience: { id: `exp_${tasks.length}`, agentId: task.agentId ?? 'caller' } }
      },
      curateLessons: async (lessons) => {
        curated.push(lessons)
        return { entryCount: curated.length }
      },
    },
    options,
  )
  return { recorder, tasks, curated }
}

describe('a task recorder', () => {
  it('is made of a client', () => {
    expect(recorderOf).toBeTypeOf('function')
  })

  it('numbers steps from 1 and records them with the end', async () => {
    const { recorder, tasks } = open({ agentId: 'bot' })
    recorder.beginTask('Diagnose a slow endpoint')
    recorder.recordStep('read_logs', { last: '1h' }, 'p99 is 4 s')
    recorder.recordStep('check_index', null, 'none')

    const end = { outcome: 'An index was missing', success: true, score: 0.9, tags: ['api'] }
    const done = await recorder.completeTask({ ...end, sessionId: 'any text' })

    expect(done).toEqual({ experienceId: 'exp_1', entryCount: null })
    expect(tasks).toEqual([
      {
        agentId: 'bot',
        sessionId: 'any text',
        situation: 'Diagnose a slow endpoint',
        actionSequence: [
          { step: 1, tool: 'read_logs', input: { last: '1h' }, outputSummary: 'p99 is 4 s' },
          { step: 2, tool: 'check_index', input: null, outputSummary: 'none' },
        ],
        outcome: 'An index was missing',
        outcomeType: 'success',
        score: 0.9,
        tags: ['api'],
      },
    ])
  })

  it('forgets the steps before when a task begins', async () => {
    const { recorder, tasks } = open()
    recorder.beginTask('One')
    recorder.recordStep('a', 1, '')
    recorder.beginTask('Two')
    recorder.recordStep('b', 2, '')

    await recorder.completeTask({ outcome: 'Done', success: false })

    expect(tasks).toMatchObject([
      { situation: 'Two', outcomeType: 'failure', actionSequence: [{ step: 1, tool: 'b' }] },
    ])
  })

  it('records nothing without a step, and draws lessons all the same', async () => {
    const { recorder, tasks, curated } = open({ taskTag: 'refunds' })
    recorder.beginTask('One')

    const feedback = { score: 0.4, issues: ['too slow'] }
    const done = await recorder.completeTask({ outcome: 'Done', success: true, feedback })

    expect(done).toEqual({ experienceId: null, entryCount: 1 })
    expect(tasks).toEqual([])
    expect(curated).toEqual([{ taskTag: 'refunds', feedback, lastAnswer: 'Done' }])
  })

  it('draws no lessons without feedback, and takes the name of the agent for their tag', async () => {
    const { recorder, curated } = open({ agentId: 'bot' })
    recorder.beginTask('One')
    recorder.recordStep('a', 1, '')
    await recorder.completeTask({ outcome: 'Done', outcomeType: 'partial_success' })
    expect(curated).toEqual([])

    recorder.beginTask('Two')
    const feedback = { score: 1, issues: [] }
    await recorder.completeTask({ outcome: 'x', success: true, feedback, lastAnswer: 'Hello.' })

    expect(curated).toEqual([{ taskTag: 'bot', feedback, lastAnswer: 'Hello.' }])
  })

  it('draws lessons of whoever recorded where nobody is named, and none where that is switched off', async () => {
    const feedback = { score: 1, issues: [] }
    const complete = async (options: RecorderOptions) => {
      const { recorder, curated } = open(options)
      recorder.beginTask('One')
      recorder.recordStep('a', 1, '')
      await recorder.completeTask({ outcome: 'x', success: true, feedback })
      return curated
    }

    expect(await complete({})).toMatchObject([{ taskTag: 'caller' }])
    expect(await complete({ taskTag: 'refunds', curate: false })).toEqual([])
  })

  it('draws none where the client cannot', async () => {
    const recorder = createTaskRecorder({
      recordExperience: async () => ({ experience: { id: 'exp_1', agentId: 'bot' } }),
    })
    recorder.beginTask('One')
    recorder.recordStep('a', 1, '')

    const feedback = { score: 1, issues: [] }
    expect(await recorder.completeTask({ outcome: 'x', success: true, feedback })).toEqual({
      experienceId: 'exp_1',
      entryCount: null,
    })
  })

  it.each([
    [{ outcome: 'x' }, 'success'],
    [{ outcome: 'x', success: true, outcomeType: 'failure' }, 'outcomeType'],
    [{ outcome: 'x', success: false, outcomeType: 'success' }, 'outcomeType'],
    [
      { outcome: 'x', success: true, feedback: { score: Number.NaN, issues: [] } },
      'feedback.score',
    ],
    [{ outcome: 'x', success: true, feedback: { score: 1.01, issues: [] } }, 'feedback.score'],
  ] as const)('refuses %j, and keeps the steps', async (end, path) => {
    const { recorder, tasks } = open()
    recorder.beginTask('One')
    recorder.recordStep('a', 1, '')

    await expect(recorder.completeTask(end)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      details: { problems: [{ path }] },
    })
    expect(tasks).toEqual([])
    await recorder.completeTask({ outcome: 'x', success: true, outcomeType: 'partial_success' })
    expect(tasks).toMatchObject([{ outcomeType: 'partial_success' }])
  })

  it('refuses a step before a task, and after its end', async () => {
    const { recorder } = open()
    expect(() => recorder.recordStep('a', 1, '')).toThrow(/no task was begun/)
    recorder.beginTask('One')
    await recorder.completeTask({ outcome: 'x', success: true })
    expect(() => recorder.recordStep('a', 1, '')).toThrow(/no task was begun/)
  })
})
