import { expect, it } from 'vitest'
import { z } from 'zod'
import { type AppContext, createContext } from '../../src/context.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { Id } from '../../src/domain/ids.ts'
import { carryOnAll, carryOnById } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const send = defineTool({
  name: 'send',
  description: 'Sends',
  effect: 'write',
  idempotent: true,
  input: z.object({}),
  output: z.object({ ok: z.boolean() }),
  run: async () => ({ ok: true }),
})

let now = Date.UTC(2026, 11, 14, 8, 30)
/** How far the clock goes on at each look. */
let tick = 0
const clock = {
  now() {
    now += tick
    return now
  },
}
const { app, db } = await openTestApp({ tools: [send], clock })
const caller = callerOf()
const boss = callerOf('boss')

let count = 0
async function procedureOf(steps: readonly object[], more: object = {}): Promise<string> {
  count += 1
  const key = `TOGETHER_${count}`
  await operations.createProcedure.invoke(app, caller, {
    definition: { key, name: key, description: key, issuePatterns: [], steps, ...more },
  })
  const version = { procedureKey: key, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, version)
  return key
}
const start = (procedureKey: string, more: object = {}) =>
  operations.startExecution.invoke(app, caller, { procedureKey, ...more })
const get = (executionId: string) => operations.getExecution.invoke(app, caller, { executionId })
const wake = (id: Id<'execution'>) => carryOnById(app, db.database.forTenant('default'), id)
async function expectAgrees(executionId: string): Promise<void> {
  const proof = await operations.replayExecution.invoke(app, caller, { executionId })
  expect(proof.divergence).toBeNull()
}
/** A worker whose run is cut off when it has passed a boundary so many times. */
async function dyingAt(wanted: string, times: number): Promise<AppContext> {
  let passed = 0
  return createContext(
    db.database,
    { tenantId: 'default', logLevel: 'silent' },
    {
      tools: [send],
      clock,
      embedder: app.embedders.offline,
      onBoundary(boundary, detail) {
        if (`${boundary} ${detail}`.trim() !== wanted) return
        passed += 1
        if (passed === times) throw new Error('dies')
      },
    },
  )
}

const each = { action: 'For each', forEach: "['a', 'b', 'c']", maxItems: 3 }
const approveEach = { ...each, key: 'yes', approval: 'approver', show: '{{item}}' }
const askEach = {
  ...each,
  key: 'number',
  ask: 'agent',
  message: 'Of {{item}}?',
  answer: { type: 'integer' },
  deadline: '1m',
  required: false,
  onDeadline: 'continue',
}

it('one no ends a run while others are still asked', async () => {
  const { execution } = await start(await procedureOf([approveEach]))
  const at = { executionId: execution.id, step: 'yes' }
  await operations.approveStep.invoke(app, boss, { ...at, iteration: '2' })

  const { execution: ended } = await operations.denyStep.invoke(app, boss, {
    ...at,
    iteration: '1',
  })

  expect(ended.reason?.code).toBe('approval_denied')
  await expectAgrees(execution.id)
})

it('a run that is due to end is cancelled all the same, and its record is true', async () => {
  const { execution } = await start(await procedureOf([approveEach]))
  const at = { executionId: execution.id, step: 'yes', iteration: '1' }
  await operations.pauseExecution.invoke(app, caller, { executionId: execution.id })
  await operations.denyStep.invoke(app, boss, at)
  await operations.approveStep.invoke(app, boss, { ...at, iteration: '2' })
  await expectAgrees(execution.id)

  await operations.cancelExecution.invoke(app, caller, { executionId: execution.id })

  expect((await get(execution.id)).execution.status).toBe('cancelled')
  await expectAgrees(execution.id)
})

it('what was said after a no that nobody has seen yet changes nothing', async () => {
  const { execution } = await start(await procedureOf([approveEach]))
  const at = { executionId: execution.id, step: 'yes' }
  await operations.pauseExecution.invoke(app, caller, { executionId: execution.id })
  await operations.denyStep.invoke(app, boss, { ...at, iteration: '1' })
  now += 10
  await operations.approveStep.invoke(app, boss, { ...at, iteration: '2' })
  now += 10

  await operations.resumeExecution.invoke(app, caller, { executionId: execution.id })

  expect((await get(execution.id)).execution.reason?.code).toBe('approval_denied')
  await expectAgrees(execution.id)
})

it('an answer counts when its reminder was due, and nobody was there to make it', async () => {
  const asked = { ...askEach, remind: '20s' }
  const { execution } = await start(await procedureOf([asked]))
  now += 30_000

  for (const iteration of ['1', '0', '2']) {
    const answer = { executionId: execution.id, step: 'number', iteration, answer: 7 }
    await operations.answerStep.invoke(app, caller, answer)
  }

  const { execution: ended, steps } = await get(execution.id)
  expect(ended.outcome).toBe('resolved')
  expect(steps[0]?.output).toEqual([7, 7, 7])
  await expectAgrees(execution.id)
})

it('an answer counts when the time of another question was over, and nobody had looked', async () => {
  tick = 5_000
  const { execution } = await start(await procedureOf([askEach]))
  tick = 0
  const { steps } = await get(execution.id)
  const deadlines = steps.flatMap(({ input }) => Object(input).deadline ?? [])
  now = Date.parse(deadlines[0]) + 1
  expect(now).toBeLessThan(Date.parse(deadlines[2]))

  const at = { executionId: execution.id, step: 'number', iteration: '2' }
  await operations.pauseExecution.invoke(app, caller, { executionId: execution.id })
  await operations.answerStep.invoke(app, caller, { ...at, answer: 7 })
  now += 60_000
  await operations.resumeExecution.invoke(app, caller, { executionId: execution.id })

  const done = await get(execution.id)
  expect(done.execution.outcome).toBe('resolved')
  expect(done.steps[0]?.output).toEqual([null, null, 7])
  await expectAgrees(execution.id)
})

it('a yes in the very millisecond in which the time of another is seen to be over comes first', async () => {
  tick = 5_000
  const { execution } = await start(await procedureOf([{ ...approveEach, deadline: '1m' }]))
  tick = 0
  const { steps } = await get(execution.id)
  now = Date.parse(steps.flatMap(({ input }) => Object(input).deadline ?? [])[0]) + 1

  const at = { executionId: execution.id, step: 'yes', iteration: '2' }
  const { execution: ended } = await operations.approveStep.invoke(app, boss, at)

  expect(ended.reason?.code).toBe('deadline_passed')
  expect(ended.result).toEqual({ approvedBy: ['boss'] })
  await expectAgrees(execution.id)
})

it('an answer counts that comes when not all of a list were asked yet', async () => {
  const key = await procedureOf([askEach])
  await using dying = await dyingAt('after_commit', 2)
  const interrupted = operations.startExecution.invoke(dying, caller, {
    procedureKey: key,
    durability: 'step',
  })
  await expect(interrupted).rejects.toThrow('dies')
  const { items } = await operations.listExecutions.invoke(app, caller, { procedureKey: key })
  const executionId = items[0]?.id ?? ''
  expect((await get(executionId)).steps).toHaveLength(2)

  now += 10
  const at = { executionId, step: 'number' }
  await operations.answerStep.invoke(app, caller, { ...at, iteration: '0', answer: 1 })
  now += 10
  expect((await get(executionId)).steps).toHaveLength(4)
  for (const iteration of ['2', '1']) {
    await operations.answerStep.invoke(app, caller, { ...at, iteration, answer: 7 })
  }

  const { execution, steps } = await get(executionId)
  expect(execution.outcome).toBe('resolved')
  expect(steps[0]?.output).toEqual([1, 7, 7])
  await expectAgrees(executionId)
})

it('a run goes on behind a block whose end was the last that it recorded', async () => {
  const block = { key: 'block', action: 'Block', steps: [{ key: 'a', action: 'A', tool: 'send' }] }
  const list = { ...each, key: 'each', steps: [{ key: 'b', action: 'B', compute: { n: '1' } }] }
  const key = await procedureOf([block, list, { key: 'c', action: 'C', tool: 'send' }])
  // Start, the block as it is entered, its write as it begins and as it has ended, its end: wherever it is cut off.
  for (let times = 1; times <= 18; times += 1) {
    await using dying = await dyingAt('after_commit', times)
    const request = { procedureKey: key, durability: 'step', idempotencyKey: `cut ${times}` }
    const { id } = await operations.startExecution.invoke(dying, caller, request).then(
      ({ execution }) => execution,
      async () => (await operations.startExecution.invoke(app, caller, request)).execution,
    )
    await wake(id as Id<'execution'>)
    const { execution } = await get(id)
    expect([times, execution.outcome, execution.takeOverCount]).toEqual([
      times,
      'resolved',
      execution.takeOverCount === 0 ? 0 : 1,
    ])
    await expectAgrees(id)
  }
})

it('a write of a guided run is confirmed once, whoever carries it out', async () => {
  const key = await procedureOf([{ key: 'tell', action: 'Tell', tool: 'send' }])
  const { execution } = await start(key, { mode: 'guided' })
  const at = { executionId: execution.id, step: 'tell' }
  await operations.pauseExecution.invoke(app, caller, { executionId: execution.id })
  await operations.approveStep.invoke(app, boss, at)

  const again = { code: 'WAIT_CLOSED' }
  await expect(operations.approveStep.invoke(app, caller, at)).rejects.toMatchObject(again)
  await expect(operations.denyStep.invoke(app, boss, at)).rejects.toMatchObject(again)

  await operations.resumeExecution.invoke(app, caller, { executionId: execution.id })
  const done = await get(execution.id)
  expect(done.execution.outcome).toBe('resolved')
  expect(done.steps[0]?.exchange).toHaveLength(1)
})

it('what a run has called is cancelled with it, also when its process dies at that moment', async () => {
  now = Date.now()
  const waits = { key: 'ask', action: 'Ask', ask: 'agent', message: 'On?', answer: {} }
  const child = await procedureOf([waits], { internal: true })
  const key = await procedureOf([{ key: 'sub', action: 'Call', call: child }])
  const { execution } = await start(key)
  await using dying = await dyingAt('after_commit end', 1)
  await operations.cancelExecution.invoke(dying, caller, { executionId: execution.id })
  expect((await get(execution.id)).execution.status).toBe('cancelled')

  await carryOnAll(app)

  const called = await operations.listExecutions.invoke(app, caller, { procedureKey: child })
  expect(called.items).toMatchObject([{ status: 'cancelled' }])
})

it('a word that was taken is answered as taken, whatever becomes of the run then', async () => {
  const { execution } = await start(await procedureOf([askEach]))
  await using dying = await dyingAt('before_commit', 1)
  const answer = { executionId: execution.id, step: 'number', iteration: '0', answer: 7 }

  const { steps } = await operations.answerStep.invoke(dying, caller, answer)

  expect(steps[1]).toMatchObject({ status: 'completed', output: 7 })
})

it('a run that wakes too early by the clock of its worker rests before it is looked at again', async () => {
  now = Date.now()
  const { execution } = await start(await procedureOf([askEach]))
  const { kysely } = db.database.forTenant('default')
  now -= 120_000

  await wake(execution.id as Id<'execution'>)

  const row = await kysely
    .selectFrom('executions')
    .select('wake_at')
    .where('id', '=', execution.id)
    .executeTakeFirstOrThrow()
  expect(row.wake_at?.getTime()).toBe(Date.parse(execution.wakeAt ?? ''))
  // The same once the database holds the moment to be over.
  now = Date.now() - 600_000
  const late = await start(await procedureOf([askEach]))
  const rested = Date.parse((await get(late.execution.id)).execution.wakeAt ?? '')
  expect(rested - Date.now()).toBeGreaterThan(0)
  expect(rested - Date.now()).toBeLessThanOrEqual(1_000)
})
