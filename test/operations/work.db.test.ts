import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type AppContext, type ContextOptions, createContext } from '../../src/context.ts'
import { claimExecution } from '../../src/db/queries/work.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { Id } from '../../src/domain/ids.ts'
import { ToolFailed } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { startWorking } from '../../src/operations/work.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

/** What each call of the tools answers; a test may put something else here. */
const answers = new Map<string, () => Promise<unknown>>()
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
      return ((await answers.get(name)?.()) ?? { ok: true }) as { ok: boolean }
    },
  })
}

const hang = defineTool({
  name: 'hang',
  description: 'Never answers, and does not listen to its signal',
  effect: 'read',
  timeout: '1s',
  input: z.object({}),
  output: z.object({ ok: z.boolean() }),
  run: () => new Promise<never>(() => {}),
})
const tools = [tool('read', 'read'), tool('write', 'write'), hang]
const { app, db } = await openTestApp({ tools })
const caller = callerOf()

let count = 0
async function procedureOf(...steps: readonly object[]): Promise<string> {
  count += 1
  const procedureKey = `PLAYBOOK_${count}`
  await operations.createProcedure.invoke(app, caller, {
    definition: {
      key: procedureKey,
      name: procedureKey,
      description: procedureKey,
      issuePatterns: [],
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
const onlyRunOf = async (procedureKey: string) => {
  const { items } = await operations.listExecutions.invoke(app, caller, { procedureKey })
  return items[0]?.id ?? ''
}
const statusOf = async (executionId: string) => {
  const { execution } = await get(executionId)
  return execution.outcome ?? execution.status
}
const agrees = async (executionId: string) =>
  (await operations.replayExecution.invoke(app, caller, { executionId })).agrees

/** Lets this process work until a run stands as it should. */
async function workUntil(executionId: string, status: string, on: AppContext = app): Promise<void> {
  const working = startWorking(on, { pollMs: 10 })
  try {
    await vi.waitFor(async () => expect(await statusOf(executionId)).toBe(status), 10_000)
  } finally {
    await working.stop()
  }
}

/** A call of a tool that lasts until it is let go, and then answers as told. */
function held(name: string, answer: () => Promise<unknown> = async () => ({ ok: true })) {
  let letGo = (): void => {}
  let begun = (): void => {}
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const goes = new Promise<void>((resolve) => {
    letGo = resolve
  })
  answers.set(name, async () => {
    answers.delete(name)
    begun()
    await goes
    return answer()
  })
  return { isBegun, letGo }
}

/** A context of its own on the same database, because one that was stopped stays so. */
function another(options: ContextOptions = {}): Promise<AppContext> {
  return createContext(
    db.database,
    { tenantId: 'default', logLevel: 'silent' },
    { tools, embedder: app.embedders.offline, ...options },
  )
}

describe('a start of a procedure that is not there', () => {
  it('says so, and which one may have been meant', async () => {
    const key = await procedureOf({ tool: 'read' })

    const wrong = key.replace('PLAYBOOK', 'PLAYBOK')
    await expect(start(wrong)).rejects.toMatchObject({
      code: 'PROCEDURE_NOT_FOUND',
      message: `There is no procedure ${wrong}. Did you mean ${key}? List them to see which there are.`,
    })
    await expect(start('NOPE')).rejects.toThrow('There is no procedure NOPE. List them')
    const ticket = { text: 'anything' }
    const resolved = operations.resolveTicket.invoke(app, caller, { ticket, procedureKey: 'NOPE' })
    await expect(resolved).rejects.toMatchObject({ code: 'PROCEDURE_NOT_FOUND' })
  })
})

describe('a detached start', () => {
  it('is answered before it has begun, and a worker carries it out', async () => {
    const key = await procedureOf({ tool: 'read' }, { tool: 'write' })
    calls.length = 0

    const { execution, steps, reply } = await start(key, { detach: true })

    expect(execution).toMatchObject({ status: 'pending', outcome: null, durationMs: null })
    expect([steps, reply, calls]).toEqual([[], null, []])
    await using worker = await another()
    await workUntil(execution.id, 'resolved', worker)
    const done = await get(execution.id)
    expect(done.execution).toMatchObject({ takeOverCount: 0 })
    expect(done.reply).not.toBeNull()
    expect(await agrees(execution.id)).toBe(true)
  })

  it('gives one execution for one idempotency key', async () => {
    const key = await procedureOf({ tool: 'read' })
    const request = { detach: true, idempotencyKey: `once-${key}` }

    const [one, other] = await Promise.all([start(key, request), start(key, request)])

    expect(one.execution.id).toBe(other.execution.id)
    await expect(start(key, { ...request, input: { a: 1 } })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
  })
})

it('gives back what it does not know of: the answer to its claim was lost', async () => {
  const key = await procedureOf({ tool: 'read' })
  const { execution } = await start(key, { detach: true })
  const id = execution.id as Id<'execution'>
  await claimExecution(db.database.forTenant('default'), id, app.worker.id)

  await workUntil(execution.id, 'resolved')

  expect((await get(execution.id)).execution.takeOverCount).toBe(0)
})

it('gives back nothing that it works on, however long that takes', async () => {
  const key = await procedureOf({ tool: 'read' })
  const { isBegun, letGo } = held('read')
  const running = start(key)
  await isBegun
  const id = await onlyRunOf(key)

  const working = startWorking(app, { pollMs: 10 })
  await sleep(2_500)
  letGo()
  await running
  await working.stop()

  const { execution, steps } = await get(id)
  expect(execution.outcome).toBe('resolved')
  expect(steps[0]?.attempts).toBe(1)
})

it('what may end workers gets its turn beside a run that does not end', async () => {
  const suspect = await procedureOf({ tool: 'read' })
  const { execution } = await start(suspect, { detach: true })
  const { kysely } = db.database.forTenant('default')
  for (const take_over_count of [1, 2]) {
    const lost = kysely.updateTable('executions').set({ take_over_count })
    await lost.where('id', '=', execution.id).execute()
  }
  const { isBegun, letGo } = held('write')
  await start(await procedureOf({ tool: 'write' }), { detach: true })

  const working = startWorking(app, { pollMs: 10, drainMs: [50, 200] })
  await isBegun
  await vi.waitFor(async () => expect(await statusOf(execution.id)).toBe('resolved'), 15_000)
  letGo()
  await working.stop()
})

it('goes on working when a listener fails', async () => {
  const key = await procedureOf({ tool: 'read' })
  const ids = [await start(key, { detach: true }), await start(key, { detach: true })]
  const onCarriedOn = vi.fn(() => {
    throw new Error('a listener')
  })

  const working = startWorking(app, { pollMs: 10, onCarriedOn })
  await vi.waitFor(
    () => expect(onCarriedOn.mock.calls.length).toBeGreaterThanOrEqual(ids.length),
    20_000,
  )
  await working.stop()
})

it.each([0, 1.5, Number.POSITIVE_INFINITY, 1e12, Number.NaN])('refuses %s runs at once', (n) => {
  expect(() => startWorking(app, { concurrency: n })).toThrow('a whole number from 1 to 1000')
})

it('counts nothing by leaps, whoever writes it', async () => {
  const { execution } = await start(await procedureOf({ tool: 'read' }), { detach: true })
  const { kysely } = db.database.forTenant('default')
  for (const forged of [{ fence: 2 ** 40 }, { take_over_count: 9 }, { revision: 2 ** 40 }]) {
    const update = kysely.updateTable('executions').set(forged).where('id', '=', execution.id)
    await expect(update.execute()).rejects.toMatchObject({ constraint: 'executions_only_forward' })
  }
  await operations.cancelExecution.invoke(app, caller, { executionId: execution.id })
})

describe('a retry that is far off', () => {
  it('leaves the run to a timer, which nobody holds, and goes on when it is due', async () => {
    const key = await procedureOf({
      tool: 'read',
      retry: { maxAttempts: 2, delay: '10m' },
    })
    answers.set('read', () => Promise.reject(new ToolFailed('not yet')))

    const { execution, steps } = await start(key)

    answers.delete('read')
    expect(execution.status).toBe('waiting')
    expect(steps).toMatchObject([{ status: 'running', attempts: 1 }])
    const due = Date.parse(execution.wakeAt ?? '')
    expect(due - Date.now()).toBeGreaterThan(9 * 60_000)
    const { kysely } = db.database.forTenant('default')
    const row = await kysely
      .selectFrom('executions')
      .select(['worker_id', 'wake_at'])
      .where('id', '=', execution.id)
      .executeTakeFirstOrThrow()
    expect(row.worker_id).toBeNull()

    // The database wakes it, the service's clock says that the attempt may be made.
    await kysely
      .updateTable('executions')
      .set({ wake_at: new Date() })
      .where('id', '=', execution.id)
      .execute()
    await using worker = await another({ clock: { now: () => due + 1_000 } })
    await workUntil(execution.id, 'resolved', worker)
    const done = await get(execution.id)
    expect(done.steps).toMatchObject([{ status: 'completed', attempts: 2 }])
    expect(done.execution).toMatchObject({ takeOverCount: 0, wakeAt: null })
    expect(await agrees(execution.id)).toBe(true)
  })

  it('that wakes too early waits again', async () => {
    const key = await procedureOf({ tool: 'read', retry: { maxAttempts: 2, delay: '10m' } })
    answers.set('read', () => Promise.reject(new ToolFailed('not yet')))
    const { execution } = await start(key)
    answers.delete('read')
    const { kysely } = db.database.forTenant('default')
    await kysely
      .updateTable('executions')
      .set({ wake_at: new Date() })
      .where('id', '=', execution.id)
      .execute()

    await using worker = await another()
    const working = startWorking(worker, { pollMs: 10 })
    await vi.waitFor(async () => {
      const { wakeAt } = (await get(execution.id)).execution
      expect(wakeAt).toBe(execution.wakeAt)
    }, 10_000)
    await working.stop()

    expect(await statusOf(execution.id)).toBe('waiting')
    await operations.cancelExecution.invoke(app, caller, { executionId: execution.id })
  })
})

describe('cancelling', () => {
  it.each([
    ['cancelExecution', 'cancelled'],
    ['pauseExecution', 'paused'],
  ] as const)(
    '%s during an attempt counts before the wait for the next one',
    async (operation, status) => {
      const key = await procedureOf({ tool: 'read', retry: { maxAttempts: 2, delay: '10m' } })
      const { isBegun, letGo } = held('read', () => Promise.reject(new ToolFailed('not yet')))
      const running = start(key)
      await isBegun

      await operations[operation].invoke(app, caller, { executionId: await onlyRunOf(key) })
      letGo()

      expect((await running).execution.status).toBe(status)
    },
  )

  it('waits for a write that is to be tried again, and wakes what waits', async () => {
    const key = await procedureOf({ tool: 'write', retry: { maxAttempts: 2, delay: '10m' } })
    const { isBegun, letGo } = held('write', () => Promise.reject(new Error('reset')))
    const running = start(key)
    await isBegun
    const executionId = await onlyRunOf(key)
    await operations.cancelExecution.invoke(app, caller, { executionId })
    letGo()

    // Whether the write was made is open: it is found out when its time has come, and not before.
    const { execution } = await running
    expect(execution.status).toBe('waiting')
    const due = Date.parse(execution.wakeAt ?? '')
    await using worker = await another({ clock: { now: () => due + 1_000 } })
    await operations.cancelExecution.invoke(worker, caller, { executionId })

    expect(await statusOf(executionId)).toBe('cancelled')
    expect((await get(executionId)).steps).toMatchObject([{ status: 'completed', attempts: 2 }])
    expect(await agrees(executionId)).toBe(true)
  })

  it('ends what nobody works on at once', async () => {
    const key = await procedureOf({ tool: 'read' })
    const { execution } = await start(key, { detach: true })

    const ended = await operations.cancelExecution.invoke(app, caller, {
      executionId: execution.id,
    })

    expect(ended.execution).toMatchObject({ status: 'cancelled', reason: null, outcome: null })
    expect(ended.reply?.text).toBeTruthy()
    expect(await agrees(execution.id)).toBe(true)
    await expect(
      operations.cancelExecution.invoke(app, caller, { executionId: execution.id }),
    ).rejects.toMatchObject({ code: 'EXECUTION_ENDED' })
  })

  it('lets a write that is under way finish, and records it', async () => {
    const key = await procedureOf({ tool: 'write' }, { tool: 'write' })
    const { isBegun, letGo } = held('write')
    const running = start(key)
    await isBegun
    const executionId = await onlyRunOf(key)

    const asked = await operations.cancelExecution.invoke(app, caller, { executionId })
    letGo()
    const { execution, steps } = await running

    expect(asked.execution).toMatchObject({ status: 'running', cancelRequested: true })
    expect(execution.status).toBe('cancelled')
    expect(steps).toMatchObject([{ key: 's0', status: 'completed' }])
    expect(await agrees(executionId)).toBe(true)
  })

  it('is refused for what is not there, and written to the audit log', async () => {
    await expect(
      operations.cancelExecution.invoke(app, caller, { executionId: 'exec_000000000aaaaaaaaaaaa' }),
    ).rejects.toMatchObject({ code: 'EXECUTION_NOT_FOUND' })
    const { kysely } = db.database.forTenant('default')
    const events = await kysely.selectFrom('audit_events').select('action').execute()
    expect(events.map(({ action }) => action)).toContain('execution.cancel_requested')
  })
})

describe('pausing', () => {
  it('stops before the next read when the one before has taken long', async () => {
    const key = await procedureOf({ tool: 'read' }, { tool: 'read' })
    const { isBegun, letGo } = held('read')
    calls.length = 0
    const running = start(key)
    await isBegun
    await operations.pauseExecution.invoke(app, caller, { executionId: await onlyRunOf(key) })
    await sleep(1_100)
    letGo()

    expect((await running).execution.status).toBe('paused')
    expect(calls).toEqual(['read'])
  })

  it('is not paused when it was resumed just before', async () => {
    const key = await procedureOf({ tool: 'read' })
    const { execution } = await start(key, { detach: true })
    const id = execution.id as Id<'execution'>
    const claim = await claimExecution(db.database.forTenant('default'), id, app.worker.id)
    if (claim === undefined) throw new Error('nobody else has it')
    const pause = { added: [], changed: [], leave: { status: 'paused' as const, wakeAt: null } }

    const kept = await app.journal.commit(claim, pause)
    const flags = { cancelRequested: false, pauseRequested: false }
    expect(kept).toEqual({ flags, isLeft: false })
    expect(await statusOf(execution.id)).toBe('running')

    await operations.pauseExecution.invoke(app, caller, { executionId: execution.id })
    expect((await app.journal.commit(claim, pause)).isLeft).toBe(true)
    expect(await statusOf(execution.id)).toBe('paused')
    await expect(app.journal.commit(claim, pause)).rejects.toMatchObject({ code: 'LEASE_LOST' })
  })

  it('holds a run before its next step, until it is resumed', async () => {
    const key = await procedureOf({ tool: 'write' }, { tool: 'write' })
    const { isBegun, letGo } = held('write')
    const running = start(key)
    await isBegun
    const executionId = await onlyRunOf(key)
    await operations.pauseExecution.invoke(app, caller, { executionId })
    letGo()
    const { execution, steps } = await running
    expect(execution).toMatchObject({ status: 'paused', pauseRequested: true })
    expect(steps).toMatchObject([{ status: 'completed' }])

    // Whoever looks for work does not find it.
    await using worker = await another()
    const working = startWorking(worker, { pollMs: 10 })
    await working.untilIdle()
    await working.stop()
    expect(await statusOf(executionId)).toBe('paused')

    const resumed = await operations.resumeExecution.invoke(app, caller, { executionId })
    expect(resumed.execution).toMatchObject({ outcome: 'resolved', pauseRequested: false })
    expect(await agrees(executionId)).toBe(true)
  })

  it('is ended only where there is one: resuming anything else is refused, and changes nothing', async () => {
    const key = await procedureOf({ tool: 'read', retry: { maxAttempts: 2, delay: '10m' } })
    answers.set('read', () => Promise.reject(new ToolFailed('not yet')))
    const { execution } = await start(key)
    answers.delete('read')
    const at = { executionId: execution.id }

    await expect(operations.resumeExecution.invoke(app, caller, at)).rejects.toMatchObject({
      code: 'EXECUTION_NOT_PAUSED',
      message: expect.stringContaining('is waiting, and only one that is paused'),
    })

    const { execution: after, acts } = await get(execution.id)
    expect(after.wakeAt).toBe(execution.wakeAt)
    expect(acts).toEqual([])
    await operations.cancelExecution.invoke(app, caller, at)
  })

  it('holds what nobody has begun, and cancelling ends it', async () => {
    const key = await procedureOf({ tool: 'read' })
    const { execution } = await start(key, { detach: true })
    const { id: executionId } = execution

    const paused = await operations.pauseExecution.invoke(app, caller, { executionId })
    const ended = await operations.cancelExecution.invoke(app, caller, { executionId })

    expect(paused.execution.status).toBe('paused')
    expect(ended.execution.status).toBe('cancelled')
  })
})

it('after a restored backup everything that goes on is held, until a person lets it go on', async () => {
  const key = await procedureOf({ tool: 'read' })
  const { execution } = await start(key, { detach: true })
  const { execution: ended } = await start(key)

  const { held } = await operations.holdExecutions.invoke(app, caller, {})

  expect(held).toBeGreaterThanOrEqual(1)
  expect(await statusOf(ended.id)).toBe('resolved')
  await using worker = await another()
  const working = startWorking(worker, { pollMs: 10 })
  await working.untilIdle()
  await working.stop()
  expect(await statusOf(execution.id)).toBe('paused')
  await operations.resumeExecution.invoke(app, caller, { executionId: execution.id })
  expect(await statusOf(execution.id)).toBe('resolved')
})

it('a tool that never returns ends its own run at its time limit, and holds up no other', async () => {
  const hanging = await procedureOf({ tool: 'hang' })
  const others = await procedureOf({ tool: 'read' }, { tool: 'write' })
  const hung = (await start(hanging, { detach: true })).execution.id
  const ids: string[] = []
  for (let index = 0; index < 5; index++)
    ids.push((await start(others, { detach: true })).execution.id)
  await using worker = await another()
  const ended: string[] = []

  const working = startWorking(worker, {
    concurrency: 2,
    pollMs: 10,
    onCarriedOn: (id) => ended.push(id),
  })
  await vi.waitFor(() => expect(ended).toContain(hung), 10_000)
  await working.stop()

  expect(ended).toEqual([...ids, hung])
  const { execution, steps } = await get(hung)
  expect(execution).toMatchObject({ status: 'escalated', reason: { code: 'tool_timeout' } })
  expect(steps).toMatchObject([{ status: 'failed', error: { code: 'tool_timeout' } }])
})

describe('a worker whose commits fail', () => {
  it('tries ever more seldom while the database has no room', async () => {
    const key = await procedureOf({ tool: 'read' })
    const { execution } = await start(key, { detach: true })
    await using worker = await another()
    let tries = 0
    const commit = async (): Promise<never> => {
      tries += 1
      throw Object.assign(new Error('could not extend file'), { code: '53100' })
    }

    const working = startWorking({ ...worker, journal: { commit } }, { pollMs: 10 })
    await sleep(2_000)
    await working.stop()

    expect(tries).toBeGreaterThan(2)
    expect(tries).toBeLessThan(20)
    await workUntil(execution.id, 'resolved', worker)
    expect((await get(execution.id)).execution.takeOverCount).toBe(0)
  })

  it('says nothing of a leak, however many runs fail at once', async () => {
    const warnings: string[] = []
    const note = ({ name }: Error) => warnings.push(name)
    process.on('warning', note)
    const key = await procedureOf({ tool: 'read' })
    const runs = await Promise.all(Array.from({ length: 12 }, () => start(key, { detach: true })))
    await using worker = await another()
    let failures = 0
    const commit: typeof worker.journal.commit = async (...given) => {
      if (failures === 12) return worker.journal.commit(...given)
      failures += 1
      throw new Error('odd')
    }

    for (const { execution } of runs) {
      await workUntil(execution.id, 'resolved', { ...worker, journal: { commit } })
    }

    process.off('warning', note)
    expect(failures).toBe(12)
    expect(warnings).toEqual([])
  })
})

describe('a worker that is stopped', () => {
  it('lets each run finish the step that it is at, and gives it back to the next', async () => {
    const key = await procedureOf({ tool: 'write' }, { tool: 'read' })
    const { execution } = await start(key, { detach: true })
    const { isBegun, letGo } = held('write')
    const first = await another()
    const working = startWorking(first, { pollMs: 10 })
    await isBegun
    calls.length = 0

    const stopped = working.stop()
    letGo()
    await stopped
    await first[Symbol.asyncDispose]()

    const left = await get(execution.id)
    expect(left.execution).toMatchObject({ status: 'running', takeOverCount: 0 })
    expect(left.steps).toMatchObject([{ status: 'completed' }])
    await using second = await another()
    await workUntil(execution.id, 'resolved', second)
    expect(calls).toEqual(['read'])
    expect((await get(execution.id)).execution.takeOverCount).toBe(0)
  })

  it('leaves the service as it was: what is started then is carried out', async () => {
    const key = await procedureOf({ tool: 'read' })
    await using stopped = await another()
    await startWorking(stopped, { pollMs: 10 }).stop()

    const { execution } = await operations.startExecution.invoke(stopped, caller, {
      procedureKey: key,
    })

    expect(execution.outcome).toBe('resolved')
  })

  it('does not wait longer than it is given', async () => {
    const key = await procedureOf({ tool: 'write' })
    const { execution } = await start(key, { detach: true })
    const { isBegun, letGo } = held('write')
    const first = await another()
    const working = startWorking(first, { pollMs: 10 })
    await isBegun

    await working.stop(20)

    expect(await statusOf(execution.id)).toBe('running')
    letGo()
    // The run gives itself back as soon as its step is over.
    await using second = await another()
    await workUntil(execution.id, 'resolved', second)
    await sleep(0)
    await first[Symbol.asyncDispose]()
  })
})
