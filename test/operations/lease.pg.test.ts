import pg from 'pg'
import { afterEach, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type AppContext, type ContextOptions, createContext } from '../../src/context.ts'
import { createJournal } from '../../src/db/journal.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { carryOnAll, takeFromTheGone } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { startWorking } from '../../src/operations/work.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { settleEscalations } from '../support/settle.ts'

const calls: string[] = []
/** What the next call waits for before it answers. */
let gate: Promise<void> = Promise.resolve()
let begun = (): void => {}

function tool(name: string, idempotent: boolean) {
  return defineTool({
    name,
    description: name,
    effect: 'write',
    idempotent,
    input: z.object({}),
    output: z.object({ number: z.number() }),
    async run() {
      calls.push(name)
      begun()
      await gate
      return { number: calls.length }
    },
  })
}

const tools = [tool('repeatable', true), tool('once', false)]
const { app, db } = await openTestApp({ tools })
const caller = callerOf()
afterEach(() => settleEscalations(app))

function another(options: ContextOptions = {}): Promise<AppContext> {
  return createContext(
    db.database,
    { tenantId: 'default', logLevel: 'silent' },
    { tools, embedder: app.embedders.offline, ...options },
  )
}

let count = 0
async function procedureOf(...names: readonly string[]): Promise<string> {
  count += 1
  const procedureKey = `LEASE_${count}`
  await operations.createProcedure.invoke(app, caller, {
    definition: {
      key: procedureKey,
      name: procedureKey,
      description: procedureKey,
      issuePatterns: [],
      steps: names.map((name, index) => ({ key: `s${index}`, action: name, tool: name })),
    },
  })
  const version = { procedureKey, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, version)
  calls.length = 0
  return procedureKey
}

/** A run on a worker that is in the middle of its first call, and how that call is let go. */
async function runInMiddle(on: AppContext, procedureKey: string) {
  const inCall = new Promise<void>((resolve) => {
    begun = resolve
  })
  let letGo = (): void => {}
  gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const running = operations.startExecution.invoke(on, caller, { procedureKey })
  // Looked at by the test when it is let go.
  running.catch(() => {})
  await inCall
  gate = Promise.resolve()
  const { items } = await operations.listExecutions.invoke(app, caller, { procedureKey })
  return { running, letGo, executionId: items[0]?.id ?? '' }
}

/** What others see of a worker that is frozen for longer than its lease. */
async function outliveLease(worker: AppContext): Promise<void> {
  await db.database.system.query(
    'outlive',
    `UPDATE workers SET lease_until = clock_timestamp() - interval '1 second' WHERE id = $1`,
    [worker.worker.id],
  )
}

/** What a restart of the server does to all that are connected. */
async function cutAllConnections(): Promise<void> {
  await db.asOwner('default', async (client) => {
    await client.query('SET ROLE NONE')
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
  })
}

it('what a frozen worker got in the end is attached to the escalation of its run', async () => {
  const key = await procedureOf('once')
  await using frozen = await another()
  await using other = await another()
  const { running, letGo, executionId } = await runInMiddle(frozen, key)
  await outliveLease(frozen)

  expect(await carryOnAll(other)).toEqual([executionId])
  letGo()

  await expect(running).rejects.toMatchObject({ code: 'LEASE_LOST' })
  const run = await operations.getExecution.invoke(app, caller, { executionId })
  expect(run.execution).toMatchObject({
    status: 'escalated',
    takeOverCount: 1,
    reason: { code: 'outcome_unknown' },
  })
  expect(calls).toEqual(['once'])
  const { kysely } = db.database.forTenant('default')
  await vi.waitFor(async () => {
    const escalation = await kysely
      .selectFrom('escalations')
      .select('late_outcomes')
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow()
    expect(escalation.late_outcomes).toMatchObject([
      { stepKey: 's0', tool: 'once', attempt: 1, result: 'done', output: { number: 1 } },
    ])
  })
})

it('a run that is cancelled while nobody knows whether its write was made goes to a person', async () => {
  const key = await procedureOf('once')
  await using frozen = await another()
  await using other = await another()
  const { running, letGo, executionId } = await runInMiddle(frozen, key)
  await outliveLease(frozen)
  await takeFromTheGone(other)

  const run = await operations.cancelExecution.invoke(other, caller, { executionId })

  expect(run.execution).toMatchObject({ status: 'escalated', reason: { code: 'outcome_unknown' } })
  letGo()
  await expect(running).rejects.toMatchObject({ code: 'LEASE_LOST' })
  const proof = await operations.replayExecution.invoke(app, caller, { executionId })
  expect(proof.agrees).toBe(true)
})

it('a repeatable call is made again with the same key, and the first worker writes nothing', async () => {
  const key = await procedureOf('repeatable', 'repeatable')
  await using frozen = await another()
  await using other = await another()
  const { running, letGo, executionId } = await runInMiddle(frozen, key)
  await outliveLease(frozen)

  await carryOnAll(other)
  letGo()

  await expect(running).rejects.toMatchObject({ code: 'LEASE_LOST' })
  const run = await operations.getExecution.invoke(app, caller, { executionId })
  expect(run.execution.outcome).toBe('resolved')
  expect(run.steps.map(({ attempts, output }) => [attempts, output])).toEqual([
    [2, { number: 2 }],
    [1, { number: 3 }],
  ])
  const proof = await operations.replayExecution.invoke(app, caller, { executionId })
  expect(proof.agrees).toBe(true)
})

it('a worker that counts its lease as over renews it, and looks whether the run is still its own, before a write', async () => {
  const key = await procedureOf('repeatable')
  await using worker = await another()
  let held = false
  const renew = vi.fn(async () => {
    await worker.worker.lease.renew()
    held = true
  })
  const late = { ...worker.worker, lease: { isHeld: () => held, renew } }

  const run = await operations.startExecution.invoke({ ...worker, worker: late }, caller, {
    procedureKey: key,
  })

  expect(run.execution.outcome).toBe('resolved')
  expect(renew).toHaveBeenCalledOnce()
  expect(calls).toHaveLength(1)
})

it('and makes no call when another worker has taken the run over meanwhile', async () => {
  const key = await procedureOf('once')
  await using worker = await another()
  await using other = await another()
  const renew = vi.fn(async () => {
    await outliveLease(worker)
    await carryOnAll(other)
  })
  const late = { ...worker.worker, lease: { isHeld: () => false, renew } }

  const attempt = operations.startExecution.invoke({ ...worker, worker: late }, caller, {
    procedureKey: key,
  })

  await expect(attempt).rejects.toMatchObject({ code: 'LEASE_LOST' })
  expect(calls).toEqual([])
})

it('a restart of the server takes no run away from a worker that lives', async () => {
  const key = await procedureOf('once')
  await using worker = await another()
  await using other = await another()
  const { running, letGo, executionId } = await runInMiddle(worker, key)

  await cutAllConnections()

  await expect.poll(() => other.worker.canTellWhoIsGone()).toBe(false)
  expect(await carryOnAll(other)).toEqual([])
  await expect.poll(() => other.worker.canTellWhoIsGone(), { timeout: 5_000 }).toBe(true)
  expect(await carryOnAll(other)).toEqual([])
  letGo()
  await running
  const { execution } = await operations.getExecution.invoke(app, caller, { executionId })
  expect(execution).toMatchObject({ outcome: 'resolved', takeOverCount: 0 })
})

it('what a call came to is recorded though the connection is cut as it is written', async () => {
  const key = await procedureOf('once', 'repeatable')
  await using worker = await another()
  const { running, letGo, executionId } = await runInMiddle(worker, key)
  const url = 'url' in db.config ? db.config.url : ''
  const admin = new pg.Client(url)
  await admin.connect()
  await admin.query('BEGIN')
  await admin.query('SELECT FROM executions WHERE id = $1 FOR UPDATE', [executionId])
  letGo()
  const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  await expect.poll(async () => (await admin.query(waiting)).rowCount).toBe(1)

  await admin.query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) w`)
  await admin.query('COMMIT')
  await admin.end()

  const run = await running
  expect(run.execution).toMatchObject({ outcome: 'resolved', takeOverCount: 0 })
  expect(calls).toEqual(['once', 'repeatable'])
  const proof = await operations.replayExecution.invoke(app, caller, { executionId })
  expect(proof.agrees).toBe(true)
})

it.each(['lost', 'written'])(
  'a commit of a write or its outcome that was cut and %s is there once',
  async (which) => {
    const key = await procedureOf('once', 'repeatable')
    // Every commit of an outcome fails once, before or after the database has it.
    const commits = new Set<string>()
    const worker = await another()
    await using _worker = worker
    const forTenant: typeof db.database.forTenant = (tenantId) => {
      const handle = db.database.forTenant(tenantId)
      return {
        ...handle,
        kysely: handle.kysely,
        async run(statement, values) {
          const isCut = statement.name.startsWith('commit_') && !commits.has(statement.name)
          commits.add(statement.name)
          if (isCut && which === 'lost') throw new Error('Connection terminated unexpectedly')
          const written = await handle.run(statement, values)
          if (isCut) throw new Error('Connection terminated unexpectedly')
          return written
        },
      }
    }
    const journal = createJournal({ ...db.database, forTenant }, worker.clock)
    // A commit that may be lost fails the run, as ever.
    const careful: typeof journal = {
      commit: (claim, commit) =>
        commit.mustBeKnown === true
          ? journal.commit(claim, commit)
          : worker.journal.commit(claim, commit),
    }

    const run = await operations.startExecution.invoke({ ...worker, journal: careful }, caller, {
      procedureKey: key,
    })

    expect(run.execution.outcome).toBe('resolved')
    expect(commits.size).toBeGreaterThan(0)
    expect(calls).toEqual(['once', 'repeatable'])
    const { agrees } = await operations.replayExecution.invoke(app, caller, {
      executionId: run.execution.id,
    })
    expect(agrees).toBe(true)
  },
)

it('a worker that cannot sign off ends all the same, and is seen as gone', async () => {
  const key = await procedureOf('repeatable')
  const system: typeof db.database.system = {
    ...db.database.system,
    query: async (name, ...rest) => {
      if (name === 'worker_remove') throw new Error('could not extend file')
      return db.database.system.query(name, ...rest)
    },
  }
  const worker = await createContext(
    { ...db.database, system },
    { tenantId: 'default', logLevel: 'silent' },
    { tools, embedder: app.embedders.offline },
  )
  const { running, letGo, executionId } = await runInMiddle(worker, key)

  await worker[Symbol.asyncDispose]()

  await expect.poll(() => carryOnAll(app)).toEqual([executionId])
  letGo()
  await expect(running).rejects.toMatchObject({ code: 'LEASE_LOST' })
})

it('a worker whose row was cleared away while it was frozen comes back with the next renewal', async () => {
  await using worker = await another()
  await db.database.system.query('clear', 'DELETE FROM workers WHERE id = $1', [worker.worker.id])

  await worker.worker.lease.renew()

  const key = await procedureOf('repeatable')
  await operations.startExecution.invoke(worker, caller, { procedureKey: key })
  expect(await carryOnAll(app)).toEqual([])
})

it('two workers share a queue, and each run is done once', async () => {
  const key = await procedureOf('once')
  const ids = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const { execution } = await operations.startExecution.invoke(app, caller, {
        procedureKey: key,
        detach: true,
      })
      return execution.id
    }),
  )
  await using one = await another()
  await using two = await another()
  const done: string[] = []
  const working = [one, two].map((on) =>
    startWorking(on, { concurrency: 3, pollMs: 10, onCarriedOn: (id) => done.push(id) }),
  )

  await vi.waitFor(() => expect(done).toHaveLength(40), 30_000)
  await Promise.all(working.map((worker) => worker.stop()))

  expect([...done].sort()).toEqual([...ids].sort())
  expect(calls).toHaveLength(40)
})

it('runs that two workers have lost are tried one at a time, so that one that kills takes no other along', async () => {
  const key = await procedureOf('repeatable')
  const start = async () =>
    (await operations.startExecution.invoke(app, caller, { procedureKey: key, detach: true }))
      .execution.id
  const [poison = '', ...others] = [await start(), await start(), await start()]
  const { kysely } = db.database.forTenant('default')
  // As after two deaths that all three shared.
  for (const take_over_count of [1, 2]) {
    const lost = kysely.updateTable('executions').set({ take_over_count })
    await lost.where('id', 'in', [poison, ...others]).execute()
  }
  let alone = 0
  let atOnce = 0
  await using worker = await another({
    onBoundary(boundary) {
      if (boundary === 'before_call') {
        alone += 1
        atOnce = Math.max(atOnce, alone)
      }
      if (boundary === 'after_call') alone -= 1
    },
  })

  const working = startWorking(worker, { pollMs: 10 })
  await vi.waitFor(async () => {
    const { items } = await operations.listExecutions.invoke(app, caller, { procedureKey: key })
    expect(items.every(({ outcome }) => outcome === 'resolved')).toBe(true)
  }, 30_000)
  await working.stop()

  expect(atOnce).toBe(1)
})
