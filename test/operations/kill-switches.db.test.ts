import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { insertSwitch, lockSwitches } from '../../src/db/queries/kill-switches.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { type Id, newId } from '../../src/domain/ids.ts'
import { carryOnAll } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

/** What each call of the tools does before it answers; a test may put something here. */
const before = new Map<string, () => Promise<unknown>>()
const calls: string[] = []

function tool(name: string, effect: 'read' | 'write') {
  return defineTool({
    name,
    description: name,
    effect,
    idempotent: true,
    input: z.object({}),
    output: z.object({ ok: z.boolean() }),
    run: async () => {
      calls.push(name)
      await before.get(name)?.()
      return { ok: true }
    },
  })
}

const tools = [
  tool('look', 'read'),
  tool('pay', 'write'),
  tool('tell', 'write'),
  tool('unused', 'read'),
]
const { app, db } = await openTestApp({ tools })
const caller = callerOf()
const { kysely } = db.database.forTenant('default')

let count = 0
async function serve(...steps: readonly object[]): Promise<string> {
  count += 1
  const procedureKey = `STOPPABLE_${count}`
  await operations.createProcedure.invoke(app, caller, {
    definition: {
      key: procedureKey,
      name: procedureKey,
      description: procedureKey,
      steps: steps.map((step, index) => ({ key: `s${index}`, action: 'Do it', ...step })),
    },
  })
  const version = { procedureKey, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, version)
  return procedureKey
}

const start = (procedureKey: string, more: object = {}) =>
  operations.startExecution.invoke(app, caller, { procedureKey, ...more })
const get = (executionId: string) => operations.getExecution.invoke(app, caller, { executionId })
const statusOf = async (id: string) => (await get(id)).execution.status
const resume = (executionId: string) =>
  operations.resumeExecution.invoke(app, caller, { executionId, detach: true })
const reason = 'It pays twice.'
const stop = (procedureKey: string) =>
  operations.stopProcedure.invoke(app, caller, { procedureKey, reason })
const allow = (procedureKey: string) =>
  operations.allowProcedure.invoke(app, caller, { procedureKey })
const stopTool = (name: string) => operations.stopTool.invoke(app, caller, { tool: name, reason })
const allowTool = (name: string) => operations.allowTool.invoke(app, caller, { tool: name })

const waits = { ask: 'agent', message: 'Well?', answer: { type: 'boolean' } }

/** A call of a tool that lasts until it is let go. */
function held(name: string) {
  let letGo = (): void => {}
  let begun = (): void => {}
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const goes = new Promise<void>((resolve) => {
    letGo = resolve
  })
  before.set(name, async () => {
    before.delete(name)
    begun()
    await goes
  })
  return { isBegun, letGo }
}

describe('a procedure that is stopped', () => {
  it('cannot be started, and the error says who has stopped it and why', async () => {
    const key = await serve({ tool: 'look' })

    const answer = await stop(key)

    const stopped = { kind: 'procedure', name: key, reason, by: 'ann' }
    expect(answer).toMatchObject({ stopped, heldCount: 0, writesInFlight: [] })
    await expect(start(key)).rejects.toMatchObject({
      code: 'PROCEDURE_STOPPED',
      details: { procedureKey: key, stopped },
      message: expect.stringContaining(`stepwarden procedures allow ${key}`),
    })
    const ticket = { text: 'anything' }
    await expect(
      operations.resolveTicket.invoke(app, caller, { ticket, procedureKey: key }),
    ).rejects.toMatchObject({ code: 'PROCEDURE_STOPPED' })
    await expect(stop(key)).rejects.toMatchObject({ code: 'SWITCH_ENGAGED' })

    await allow(key)

    expect((await start(key)).execution.outcome).toBe('resolved')
    await expect(allow(key)).rejects.toMatchObject({ code: 'SWITCH_NOT_ENGAGED' })
  })

  it('answers a repeated start with the execution that it made before', async () => {
    const key = await serve({ tool: 'look' })
    const first = await start(key, { idempotencyKey: 'once' })
    await stop(key)

    const again = await start(key, { idempotencyKey: 'once' })

    expect(again.execution.id).toBe(first.execution.id)
    await allow(key)
  })

  it('shows as stopped in lists', async () => {
    const key = await serve({ tool: 'look' })
    await stop(key)

    const { items } = await operations.listProcedures.invoke(app, caller, { limit: 200 })
    const shown = await operations.getProcedure.invoke(app, caller, { procedureKey: key })

    const stopped = { kind: 'procedure', name: key, reason, by: 'ann' }
    expect(items.filter((item) => item.stopped !== null)).toMatchObject([
      { procedureKey: key, stopped },
    ])
    expect(shown.stopped).toMatchObject(stopped)
    await allow(key)
  })

  it('holds what waits at once, and lets it go on when it is allowed', async () => {
    const key = await serve(waits, { tool: 'look' })
    const { execution } = await start(key)

    expect(await stop(key)).toMatchObject({ heldCount: 1 })

    const shown = await get(execution.id)
    expect(shown.execution).toMatchObject({ status: 'paused', pauseRequested: true })
    expect(shown.heldBy).toMatchObject({ kind: 'procedure', name: key, reason })
    await expect(resume(execution.id)).rejects.toMatchObject({ code: 'EXECUTION_HELD' })
    expect(await carryOnAll(app)).toEqual([])

    expect(await allow(key)).toMatchObject({ heldCount: 1 })
    await carryOnAll(app)

    const after = await get(execution.id)
    expect(after.execution.status).toBe('waiting')
    expect(after.heldBy).toBeNull()
    const answered = await operations.answerStep.invoke(app, caller, {
      executionId: execution.id,
      step: 's0',
      answer: true,
    })
    expect(answered.execution.outcome).toBe('resolved')
    const replayed = await operations.replayExecution.invoke(app, caller, {
      executionId: execution.id,
    })
    expect(replayed.agrees).toBe(true)
  })

  it('lets the write that had begun finish, names it, and begins no other', async () => {
    const key = await serve({ tool: 'pay' }, { tool: 'tell' })
    const { isBegun, letGo } = held('pay')
    const running = start(key)
    await isBegun
    calls.length = 0

    const answer = await stop(key)

    expect(answer).toMatchObject({
      heldCount: 1,
      writesInFlight: [{ procedureKey: key, stepKey: 's0', tool: 'pay' }],
    })
    letGo()
    const { execution, steps } = await running
    expect(execution.status).toBe('paused')
    expect(steps.map(({ status }) => status)).toEqual(['completed'])
    expect(calls).toEqual([])

    await allow(key)
    await carryOnAll(app)

    expect((await get(execution.id)).execution.outcome).toBe('resolved')
    expect(calls).toEqual(['tell'])
  })

  it('holds what another execution calls, from its first moment', async () => {
    const key = await serve({ tool: 'tell' })
    const caller2 = await serve({ call: key })
    await stop(key)
    calls.length = 0

    const { execution } = await start(caller2)

    expect(execution.status).toBe('waiting')
    const { items } = await operations.listExecutions.invoke(app, caller, { procedureKey: key })
    expect(items).toMatchObject([{ status: 'paused' }])
    await carryOnAll(app)
    expect(calls).toEqual([])

    expect(await allow(key)).toMatchObject({ heldCount: 1 })
    await carryOnAll(app)

    expect((await get(execution.id)).execution.outcome).toBe('resolved')
    expect(calls).toEqual(['tell'])
  })

  it('leaves paused what a person has paused, before or after', async () => {
    const key = await serve(waits)
    const [one, other, third] = [await start(key), await start(key), await start(key)]
    const pause = (executionId: string) =>
      operations.pauseExecution.invoke(app, caller, { executionId })
    await pause(one.execution.id)
    expect(await stop(key)).toMatchObject({ heldCount: 2 })
    await pause(other.execution.id)

    expect(await allow(key)).toMatchObject({ heldCount: 1 })
    await carryOnAll(app)

    const ids = [one, other, third].map(({ execution }) => execution.id)
    expect(await Promise.all(ids.map(statusOf))).toEqual(['paused', 'paused', 'waiting'])
    await resume(one.execution.id)
  })

  it('lets a held execution be cancelled', async () => {
    const key = await serve(waits)
    const { execution } = await start(key)
    await stop(key)

    await operations.cancelExecution.invoke(app, caller, { executionId: execution.id })

    expect(await statusOf(execution.id)).toBe('cancelled')
    expect(await allow(key)).toMatchObject({ heldCount: 0 })
  })

  it('lets nothing go on after a restore: then a person looks at each', async () => {
    const key = await serve(waits)
    const { execution } = await start(key)
    await stop(key)
    await operations.holdExecutions.invoke(app, caller, {})

    await allow(key)

    expect(await statusOf(execution.id)).toBe('paused')
    await resume(execution.id)
  })
})

describe('a tool that is stopped', () => {
  it('stops what uses it and what may call that, and nothing else', async () => {
    const uses = await serve({ tool: 'pay' })
    const calling = await serve({ call: uses })
    const further = await serve({ call: calling })
    const free = await serve({ tool: 'look' })
    await stopTool('pay')

    for (const key of [uses, calling, further]) {
      await expect(start(key)).rejects.toMatchObject({
        code: 'PROCEDURE_STOPPED',
        message: expect.stringContaining('it uses the tool pay, which was stopped by ann'),
      })
    }

    expect((await start(free)).execution.outcome).toBe('resolved')
    await allowTool('pay')
    expect((await start(further)).execution.outcome).toBe('resolved')
  })

  it('holds the executions of all versions that use it', async () => {
    const key = await serve(waits, { tool: 'pay' })
    const old = await start(key)
    await operations.createVersion.invoke(app, caller, { procedureKey: key })
    const version = { procedureKey: key, versionNumber: 2, seenActive: 1 }
    await operations.activateVersion.invoke(app, caller, version)
    const other = await start(await serve(waits, { tool: 'look' }))

    expect(await stopTool('pay')).toMatchObject({ heldCount: 1 })

    expect(await statusOf(old.execution.id)).toBe('paused')
    expect(await statusOf(other.execution.id)).toBe('waiting')
    await allowTool('pay')
  })

  it('and its procedure: what both stop goes on when both are allowed', async () => {
    const key = await serve(waits, { tool: 'pay' })
    const { execution } = await start(key)
    await stopTool('pay')
    await stop(key)

    await allowTool('pay')
    await carryOnAll(app)
    expect(await statusOf(execution.id)).toBe('paused')
    expect((await get(execution.id)).heldBy).toMatchObject({ kind: 'procedure', name: key })

    await allow(key)
    await carryOnAll(app)
    expect(await statusOf(execution.id)).toBe('waiting')
  })

  it('is listed with what uses it', async () => {
    const key = await serve({ tool: 'tell' })
    await stopTool('unused')

    const { items } = await operations.listTools.invoke(app, caller, {})

    expect(items.map((item) => item.tool)).toEqual(['look', 'pay', 'tell', 'unused'])
    expect(items[2]).toMatchObject({
      effect: 'write',
      contractHash: app.tools.find('tell')?.contractHash,
      stopped: null,
    })
    expect(items[2]?.usedBy).toContainEqual({
      procedureKey: key,
      versionNumber: 1,
      contractHash: app.tools.find('tell')?.contractHash,
    })
    expect(items[3]).toMatchObject({ effect: 'read', usedBy: [], stopped: { reason } })
    await allowTool('unused')
  })

  it('must be a tool', async () => {
    await expect(stopTool('pai')).rejects.toMatchObject({
      code: 'TOOL_NOT_FOUND',
      details: { tool: 'pai', nearest: 'pay' },
    })
  })
})

it('asks for a reason, and for a role that approves', async () => {
  const key = await serve({ tool: 'look' })

  await expect(
    operations.stopProcedure.invoke(app, caller, { procedureKey: key, reason: '  ' }),
  ).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
  for (const role of ['agent', 'author', 'auditor'] as const) {
    const input = { procedureKey: key, reason }
    const stopping = operations.stopProcedure.invoke(app, callerOf('eve', [role]), input)
    await expect(stopping).rejects.toMatchObject({ code: 'ROLE_MISSING' })
  }
})

it('is written to the audit log', async () => {
  const key = await serve({ tool: 'look' })
  await stop(key)
  await allow(key)

  const events = await kysely
    .selectFrom('audit_events')
    .select(['action', 'entity_kind', 'actor_id', 'details'])
    .orderBy('seq', 'desc')
    .limit(2)
    .execute()

  const own = { entity_kind: 'procedure', actor_id: 'ann' }
  expect(events).toEqual([
    { ...own, action: 'procedure.allowed', details: `{"heldCount":0,"procedureKey":"${key}"}` },
    {
      ...own,
      action: 'procedure.stopped',
      details: `{"procedureKey":"${key}","reason":"${reason}"}`,
    },
  ])
})

it('is settled by whoever works, when the process that engaged it is gone', async () => {
  const key = await serve(waits)
  const { execution } = await start(key)
  const id: Id<'switch'> = newId('switch', app.clock.now())
  await kysely.transaction().execute(async (transaction) => {
    await lockSwitches(transaction, 'default', 'update')
    await insertSwitch(transaction, 'default', {
      id,
      kind: 'procedure',
      name: key,
      reason,
      engagedBy: caller.principal,
      engagedAt: new Date(),
    })
  })
  expect(await statusOf(execution.id)).toBe('waiting')

  await carryOnAll(app)

  await vi.waitFor(async () => expect(await statusOf(execution.id)).toBe('paused'))
  await allow(key)
})
