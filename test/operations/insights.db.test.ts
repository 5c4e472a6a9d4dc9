import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { proportionOf } from '../../src/domain/proportion.ts'
import { ToolFailed, ToolRefused } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

let failures = 0
const work = defineTool({
  name: 'work',
  description: 'Works',
  effect: 'read',
  input: z.object({ how: z.string() }),
  output: z.object({ n: z.number() }),
  run: async ({ how }) => {
    now += 2_000
    if (how === 'refused') throw new ToolRefused('no')
    if (how === 'again' && failures++ % 2 === 0) throw new ToolFailed('not yet')
    return { n: 1 }
  },
})

const begin = Date.UTC(2026, 4, 4, 9)
let now = begin
const { app } = await openTestApp({ tools: [work], clock: { now: () => now } })
const admin = callerOf()
const key = 'WORK_PLAYBOOK'
const definition = {
  ...{ key, name: 'Work', description: 'Works.', issuePatterns: [] },
  steps: [
    {
      ...{ key: 'work', action: 'Work', tool: 'work', with: { how: '{{input.how}}' } },
      retry: { maxAttempts: 2, delay: '0s' },
    },
    {
      ...{ key: 'ask', action: 'Ask', when: "input.how == 'ask'", required: false },
      ...{ ask: 'agent', message: 'Well?', answer: {}, deadline: '1d', onDeadline: 'continue' },
    },
    {
      ...{ key: 'each', action: 'Work on each', forEach: 'input.list', required: false },
      ...{ tool: 'work', with: { how: '{{item}}' } },
    },
    { key: 'no', action: 'No', when: "input.how == 'no'", end: 'declined' },
  ],
}
const start = (how: string, list: readonly string[] = []) =>
  operations.startExecution.invoke(app, admin, { procedureKey: key, input: { how, list } })
const insights = (input: object = {}, caller = admin) =>
  operations.getInsights.invoke(app, caller, input)

beforeAll(async () => {
  await operations.createProcedure.invoke(app, admin, { definition })
  await operations.activateVersion.invoke(app, admin, {
    ...{ procedureKey: key, versionNumber: 1, seenActive: null },
  })
  // Before the period that is looked at.
  await start('well')
  now = begin + 60 * 86_400_000
  for (const how of ['well', 'again', 'no', 'refused']) await start(how)
  await start('well', ['well', 'well'])
  const waiting = await start('ask')
  now += 3_600_000
  await operations.answerStep.invoke(app, admin, {
    ...{ executionId: waiting.execution.id, step: 'ask', answer: 'yes' },
  })
  await start('ask')
  const { execution } = await start('ask')
  await operations.cancelExecution.invoke(app, admin, { executionId: execution.id })
  await operations.resolveTicket.invoke(app, admin, { ticket: { text: 'change my avatar' } })
  now += 7 * 86_400_000
})

describe('insights', () => {
  it('count the runs of 30 days by version, with the interval of each rate', async () => {
    const { versions, coverageGaps, from, to, steps, periods, hasMore } = await insights()

    expect(Date.parse(to) - Date.parse(from)).toBe(30 * 86_400_000)
    expect({ coverageGaps, steps, periods, hasMore }).toEqual({
      ...{ coverageGaps: 1, steps: [], periods: [], hasMore: false },
    })
    expect(versions).toEqual([
      {
        ...{ procedureKey: key, versionNumber: 1, runs: 8, open: 1, cancelled: 1 },
        resolved: proportionOf(4, 6),
        declined: proportionOf(1, 6),
        escalated: proportionOf(1, 6),
        // Five of some seconds, and one that waited for an hour.
        durationMs: { median: expect.any(Number), p95: expect.any(Number) },
        escalations: [{ code: 'tool_failed', count: 1 }],
      },
    ])
    expect(versions[0]?.durationMs?.median).toBeLessThan(10_000)
    expect(versions[0]?.durationMs?.p95).toBeGreaterThan(2_000_000)
  })

  it('tell of each step how often it ran, how it ended, how often it was tried and how long it took', async () => {
    const { steps } = await insights({ procedureKey: key })
    const of = (stepKey: string) => steps.find((one) => one.stepKey === stepKey)

    expect(steps.map(({ stepKey }) => stepKey)).toEqual(['work', 'ask', 'each', 'no'])
    expect(of('work')).toMatchObject({
      ...{ kind: 'tool', tool: 'work', begun: 8, skipped: 0, open: 0 },
      completed: proportionOf(7, 8),
      failed: proportionOf(1, 8),
      attempts: { mean: 9 / 8, most: 2, retried: proportionOf(1, 8) },
      durationMs: { median: 2_000, p95: expect.any(Number) },
      escalations: [{ code: 'tool_failed', count: 1 }],
    })
    expect(of('ask')).toMatchObject({
      ...{ kind: 'ask', tool: null, begun: 3, skipped: 4, open: 2 },
      completed: proportionOf(1, 1),
      durationMs: { median: 3_600_000, p95: 3_600_000 },
    })
    // Two rounds, and not their loop.
    expect(of('each')).toMatchObject({ begun: 2, completed: proportionOf(2, 2) })
    expect(of('no')).toMatchObject({ begun: 1, skipped: 4 })
  })

  it('are divided into periods', async () => {
    const all = { procedureKey: key, from: new Date(begin - 1_000).toISOString() }
    const { periods } = await insights({ ...all, by: 'month' })

    expect(periods.map(({ from, runs }) => [from, runs])).toEqual([
      ['2026-05-01T00:00:00.000Z', 1],
      ['2026-07-01T00:00:00.000Z', 8],
    ])
    const weeks = await insights({ ...all, by: 'week' })
    expect(weeks.periods.map(({ from }) => new Date(from).getUTCDay())).toEqual([1, 1])
  })

  it('are of one version, or of nothing', async () => {
    expect(await insights({ procedureKey: key, versionNumber: 1 })).toMatchObject({
      versions: [{ runs: 8 }],
    })
    const none = await insights({ from: '2020-01-01T00:00:00Z', to: '2020-02-01T00:00:00Z' })
    expect(none).toMatchObject({ versions: [], coverageGaps: 0 })
  })

  it('are refused for what is not there, whole, and read by every role', async () => {
    await expect(insights({ procedureKey: 'NOPE' })).rejects.toMatchObject({
      code: 'PROCEDURE_NOT_FOUND',
    })
    await expect(insights({ procedureKey: key, versionNumber: 9 })).rejects.toMatchObject({
      code: 'VERSION_NOT_FOUND',
    })
    await expect(
      insights({ versionNumber: 1, from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }),
    ).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      details: { problems: [{ path: 'to' }, { path: 'versionNumber' }] },
    })
    for (const role of ['agent', 'author', 'approver', 'admin', 'auditor'] as const) {
      expect((await insights({}, callerOf('any', [role]))).versions).toHaveLength(1)
    }
    const elsewhere = await insights({}, callerOf('any', ['admin'], 'other'))
    expect(elsewhere.versions).toEqual([])
  })
})
