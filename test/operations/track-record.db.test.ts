import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolRefused } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

let now = Date.UTC(2026, 4, 4, 9)
const work = defineTool({
  name: 'work',
  description: 'Works',
  effect: 'read',
  input: z.object({ how: z.string() }),
  output: z.object({ n: z.number() }),
  run: async ({ how }) => {
    now += 2_000
    if (how === 'badly') throw new ToolRefused('no')
    return { n: 1 }
  },
})
const { app } = await openTestApp({ tools: [work], clock: { now: () => now } })
const admin = callerOf()
const procedureKey = 'WORK_PLAYBOOK'
const definition = {
  ...{ key: procedureKey, name: 'Work', description: 'Works.', issuePatterns: [] },
  steps: [
    { key: 'work', action: 'Work', tool: 'work', with: { how: '{{input.how}}' } },
    {
      ...{ key: 'ask', action: 'Ask', when: "input.how == 'ask'" },
      ...{ ask: 'agent', message: 'Well?', answer: {} },
    },
    { key: 'no', action: 'No', when: "input.how == 'no'", end: 'declined' },
  ],
}
const start = (how: string) =>
  operations.startExecution.invoke(app, admin, { procedureKey, input: { how } })
const record = (input: object = {}) =>
  operations.getTrackRecord.invoke(app, admin, { procedureKey, ...input })

async function activateNext(seenActive: number): Promise<void> {
  const changed = { ...definition, description: `Works, ${seenActive + 1}.` }
  await operations.createVersion.invoke(app, admin, { procedureKey, definition: changed })
  await operations.activateVersion.invoke(app, admin, {
    ...{ procedureKey, versionNumber: seenActive + 1, seenActive },
  })
}

beforeAll(async () => {
  await operations.createProcedure.invoke(app, admin, { definition })
})

describe('the track record of a procedure', () => {
  it('stands on nothing while no version has served, and none is active', async () => {
    expect(await record()).toMatchObject({ versions: [], standing: null })
  })

  it('counts what resolved and what was escalated, and the rest besides', async () => {
    await operations.activateVersion.invoke(app, admin, {
      ...{ procedureKey, versionNumber: 1, seenActive: null },
    })
    expect((await record()).standing).toEqual({
      ...{ versionNumber: 1, recordOf: null, successRate: null },
    })
    for (const how of ['well', 'well', 'well', 'badly', 'no', 'ask', 'ask']) await start(how)
    const { items } = await operations.listExecutions.invoke(app, admin, { status: 'waiting' })
    await operations.cancelExecution.invoke(app, admin, { executionId: items[0]?.id })

    expect(await record()).toEqual({
      procedureKey,
      procedureName: 'Work',
      versions: [
        {
          versionNumber: 1,
          status: 'active',
          verified: {
            executionCount: 4,
            successCount: 3,
            successRate: 0.75,
            confidence: 0.4,
            score: 0.75 * 0.4,
            avgDurationSeconds: 2,
            meanDurationMs: 2_000,
            low: expect.closeTo(0.3006, 3),
            high: expect.closeTo(0.9544, 3),
            declinedCount: 1,
            cancelledCount: 1,
            openCount: 1,
          },
        },
      ],
      standing: { versionNumber: 1, recordOf: 1, successRate: 0.75 },
      window: 10_000,
    })
  })

  it('of a new version is that of the last before it that has one, until it has its own', async () => {
    await activateNext(1)
    await activateNext(2)

    const found = await record()
    expect(found.versions.map((one) => [one.versionNumber, one.verified.executionCount])).toEqual([
      [3, 0],
      [2, 0],
      [1, 4],
    ])
    expect(found.standing).toEqual({ versionNumber: 3, recordOf: 1, successRate: 0.75 })

    // What says nothing about how it goes is no record.
    await start('no')
    expect((await record()).standing?.recordOf).toBe(1)
    await start('badly')
    expect((await record()).standing).toEqual({ versionNumber: 3, recordOf: 3, successRate: 0 })
  })

  it('shows one version when one is asked for, a draft as well, and refuses one that is not there', async () => {
    await operations.createVersion.invoke(app, admin, { procedureKey })

    const { versions } = await record({ versionNumber: 4 })
    expect(versions).toMatchObject([{ versionNumber: 4, status: 'draft' }])
    await expect(record({ versionNumber: 9 })).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' })
    await expect(record({ procedureKey: 'NO_SUCH' })).rejects.toMatchObject({
      code: 'PROCEDURE_NOT_FOUND',
    })
  })
})
