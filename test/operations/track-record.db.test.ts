import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolRefused } from '../../src/domain/tool.ts'
import { expireRuns } from '../../src/operations/expire-runs.ts'
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
const { app, db } = await openTestApp({ tools: [work], clock: { now: () => now } })
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
          outside: {
            ...{ executionCount: 0, successCount: 0, successRate: 0, confidence: 0, score: 0 },
            ...{ avgDurationSeconds: 0, meanDurationMs: null, low: null, high: null },
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

describe('runs that were made elsewhere', () => {
  const versionIdOf = async (versionNumber: number) => {
    const { version } = await operations.getProcedure.invoke(app, admin, {
      ...{ procedureKey, versionNumber },
    })
    return version.versionId
  }
  const told = async (input: object) =>
    operations.recordExecution.invoke(app, callerOf('bot', ['agent']), {
      ...{ versionId: await versionIdOf(1), success: true, durationMs: 1_000 },
      ...input,
    })

  it('stand apart, in the figures of the seed, and nothing goes by them', async () => {
    const before = await record()
    for (const durationMs of [1_000, 2_000, 3_000]) await told({ durationMs })
    await told({ success: false, durationMs: 4_000, note: 'By the night desk' })

    const after = await record()
    expect(after.versions.at(-1)?.outside).toEqual({
      executionCount: 4,
      successCount: 3,
      successRate: 0.75,
      confidence: 0.4,
      score: 0.75 * 0.4,
      avgDurationSeconds: 2.5,
      meanDurationMs: 2_500,
      low: expect.closeTo(0.3006, 3),
      high: expect.closeTo(0.9544, 3),
    })
    expect(after.versions[0]?.outside.executionCount).toBe(0)
    const verified = (found: typeof after) => found.versions.map((one) => one.verified)
    expect([verified(after), after.standing]).toEqual([verified(before), before.standing])
    const insights = await operations.getInsights.invoke(app, admin, { procedureKey })
    expect(insights.versions.reduce((sum, { runs }) => sum + runs, 0)).toBe(9)
  })

  it('give a version that has none no record to stand on', async () => {
    await operations.activateVersion.invoke(app, admin, {
      ...{ procedureKey, versionNumber: 4, seenActive: 3 },
    })
    const versionId = await versionIdOf(4)
    for (let n = 0; n < 10; n += 1) await told({ versionId })

    const { standing, versions } = await record()
    expect(versions[0]).toMatchObject({ versionNumber: 4, outside: { confidence: 1, score: 1 } })
    expect(standing).toEqual({ versionNumber: 4, recordOf: 3, successRate: 0 })
  })

  it('are recorded once for a key, also by two at once', async () => {
    const key = { idempotencyKey: 'night-1' }
    const [one, other] = await Promise.all([told(key), told(key)])

    expect(one.outsideExecutionId).toBe(other.outsideExecutionId)
    expect([one.isNew, other.isNew].sort()).toEqual([false, true])
    await expect(told({ ...key, success: false })).rejects.toMatchObject({
      ...{ code: 'IDEMPOTENCY_KEY_REUSED', details: { executionId: one.outsideExecutionId } },
    })
  })

  it('are told of a version that serves or has served', async () => {
    await operations.createVersion.invoke(app, admin, { procedureKey })
    await expect(told({ versionId: await versionIdOf(5) })).rejects.toMatchObject({
      ...{ code: 'VERSION_NEVER_SERVED', details: { procedureKey, versionNumber: 5 } },
    })
    await expect(told({ versionId: 'ver_000000000000000000000' })).rejects.toMatchObject({
      code: 'VERSION_UNKNOWN',
    })
  })

  it.each([
    { durationMs: -1 },
    { durationMs: Number.NaN },
    { durationMs: 366 * 86_400_000 + 1 },
    { success: 1 },
    { note: 'x'.repeat(201) },
    { note: ' ' },
    { versionId: 'v1' },
  ])('are refused with %j', async (input) => {
    await expect(told(input)).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
  })

  it('lose a note that names somebody who is erased, or that is old, and nothing else', async () => {
    await told({ note: 'For C-77, by phone', idempotencyKey: 'named' })
    await told({ note: 'For C-771', idempotencyKey: 'another' })
    const notes = async () => {
      const { rows } = await db.asOwner('default', (client) =>
        client.query<{ note: string | null }>(
          `SELECT note FROM outside_executions WHERE idempotency_key IN ('named', 'another') ORDER BY idempotency_key`,
        ),
      )
      return rows.map(({ note }) => note)
    }
    const { outside } = (await record({ versionNumber: 1 })).versions[0] ?? {}

    await operations.eraseCustomer.invoke(app, admin, { customerId: 'C-77', reason: 'Asked for.' })
    expect(await notes()).toEqual(['For C-771', null])
    await operations.setRetention.invoke(app, admin, { days: 1 })
    now += 2 * 86_400_000
    await expireRuns(app, 'default')
    expect(await notes()).toEqual([null, null])
    expect((await record({ versionNumber: 1 })).versions[0]?.outside).toEqual(outside)
  })

  it('are never changed or deleted, by whomever', async () => {
    for (const statement of [
      'UPDATE outside_executions SET success = NOT success',
      "UPDATE outside_executions SET note = 'other'",
      'DELETE FROM outside_executions',
      'TRUNCATE outside_executions',
    ]) {
      const attempt = db.asOwner('default', (client) => client.query(statement))
      await expect(attempt, statement).rejects.toThrow(/never changes|never written|is kept/)
    }
  })
})
