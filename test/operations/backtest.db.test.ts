import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createContext } from '../../src/context.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { AffectedRunOutput } from '../../src/operations/backtest-output.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { copyRun } from '../support/copy-runs.ts'

/** Tools that work while the runs are made, and throw as soon as nothing may be called. */
let mayBeCalled = true
const calls: string[] = []
const called = (tool: string): void => {
  calls.push(tool)
  if (!mayBeCalled) throw new Error(`${tool} was called`)
}
const card = 'CARD-QX7731'
const look = defineTool({
  name: 'look',
  description: 'Looks an order up',
  effect: 'read',
  input: z.object({ order: z.string() }),
  output: z.object({ amount: z.number(), card: z.string().meta({ sensitive: true }) }),
  run: async ({ order }) => {
    called('look')
    return { amount: Number(order.slice(4)), card }
  },
})
const refund = defineTool({
  name: 'refund',
  description: 'Refunds',
  effect: 'write',
  idempotent: true,
  input: z.object({ order: z.string(), amount: z.number() }),
  output: z.object({ refunded: z.boolean() }),
  run: async () => {
    called('refund')
    return { refunded: true }
  },
})

const { app, db } = await openTestApp({ tools: [look, refund] })
const admin = callerOf()
const key = 'REFUND_PLAYBOOK'
const text = 'The amount is within the limit'
const definition = (limit: number, parts: object = {}) => ({
  key,
  name: 'Refund',
  description: 'Refunds an order.',
  issuePatterns: [],
  input: {
    type: 'object',
    required: ['order'],
    properties: { order: { type: 'string' }, pin: { type: 'string', sensitive: true } },
  },
  policy: { limit },
  steps: [
    { key: 'look', action: 'Look', tool: 'look', with: { order: '{{input.order}}' } },
    {
      key: 'eligible',
      action: 'Apply the policy',
      require: [{ text, when: 'steps.look.output.amount <= policy.limit' }],
      otherwise: 'declined',
    },
    {
      key: 'refund',
      action: 'Refund',
      tool: 'refund',
      with: { order: '{{input.order}}', amount: '{{steps.look.output.amount}}' },
    },
  ],
  ...parts,
})

const runCount = 10_000
/** Ids by the amount of their order, oldest first. */
const made: { readonly id: string; readonly amount: number }[] = []
const amountOf = (index: number) => 1 + ((index * 7) % 100)

const draft = (limit: number, parts: object = {}) =>
  operations.createVersion
    .invoke(app, admin, { procedureKey: key, definition: definition(limit, parts) })
    .then(({ versionNumber }) => versionNumber)
const backtest = (versionNumber: number, more: object = {}, caller = admin) =>
  operations.backtestVersion.invoke(app, caller, { procedureKey: key, versionNumber, ...more })
const start = (amount: number, more: object = {}) =>
  operations.startExecution.invoke(app, admin, {
    procedureKey: key,
    input: { order: `ORD-${amount}`, ...more },
  })

async function affectedOf(
  backtestId: string,
  kind?: string,
): Promise<readonly AffectedRunOutput[]> {
  const all: AffectedRunOutput[] = []
  for (let cursor: string | undefined; ; ) {
    const input = { backtestId, limit: 200, cursor, kind }
    const page = await operations.getBacktest.invoke(app, admin, input)
    all.push(...page.items)
    if (page.nextCursor === null) return all
    cursor = page.nextCursor
  }
}

beforeAll(async () => {
  await operations.createProcedure.invoke(app, admin, { definition: definition(100) })
  await operations.activateVersion.invoke(app, admin, {
    ...{ procedureKey: key, versionNumber: 1, seenActive: null },
  })
  const until = Date.UTC(2026, 4, 4)
  const declined = await start(150)
  const resolved = await start(50)
  expect([declined.execution.outcome, resolved.execution.outcome]).toEqual(['declined', 'resolved'])
  await db.asApp('default', async (client) => {
    // What is kept apart is not copied, so the copies hold none of it.
    const open = (rows: string) => rows.replace(/\{"\$sensitive":"\w+"\}/g, '"none"')
    const few = await copyRun(client, declined.execution.id, 100, open, until - 86_400_000)
    made.push(...few.map((id) => ({ id, amount: 150 })))
    const change = (rows: string, index: number) =>
      open(rows)
        .replaceAll('ORD-50', `ORD-${amountOf(index)}`)
        .replaceAll('"amount":50', `"amount":${amountOf(index)}`)
    const many = await copyRun(client, resolved.execution.id, runCount - 100, change, until)
    made.push(...many.map((id, index) => ({ id, amount: amountOf(index) })))
  })
  mayBeCalled = false
  calls.length = 0
})

/** The copies alone: they were begun before this. */
const copies = { to: '2026-05-05T00:00:00Z' }

describe('a backtest', () => {
  it('lists exactly the runs that a lower limit changes, of 10,000, and calls no tool', async () => {
    const versionNumber = await draft(80)

    const report = await backtest(versionNumber, copies)

    const expected = made.filter(({ amount }) => amount > 80 && amount <= 100).map(({ id }) => id)
    expect(report).toMatchObject({
      state: 'done',
      isCurrent: true,
      runCount,
      doneCount: runCount,
      same: runCount - expected.length,
      different: expected.length,
      unknown: 0,
      needs: [],
      changes: [
        {
          before: { end: 'resolved', reason: null, text: null },
          after: { end: 'declined', reason: 'requirement_failed', text },
          count: expected.length,
        },
      ],
    })
    const affected = await affectedOf(report.backtestId)
    expect(affected.map(({ executionId }) => executionId)).toEqual(expected.toReversed())
    for (const { step } of affected) {
      expect(step).toEqual({ position: 2, before: 'eligible', after: 'eligible' })
    }
    expect(calls).toEqual([])
  })

  it('finds no difference under the version of the runs themselves', async () => {
    expect(await backtest(1, copies)).toMatchObject({ same: runCount, different: 0, unknown: 0 })
  })

  it('looks at what the filter says, newest first', async () => {
    const versionNumber = await draft(80)
    const count = async (filter: object) => {
      const { doneCount, different } = await backtest(versionNumber, { ...copies, ...filter })
      return [doneCount, different]
    }

    expect(await count({ outcome: 'declined' })).toEqual([100, 0])
    expect(await count({ status: 'escalated' })).toEqual([0, 0])
    expect(await count({ againstVersion: 1, limit: 100 })).toEqual([100, 20])
    expect(await count({ from: '2026-05-03T23:00:00Z' })).toEqual([3_601, expect.any(Number)])
    expect(await count({ to: '2020-01-01T00:00:00Z' })).toEqual([0, 0])
  })

  it('is refused for what is not there, and for a period that is none', async () => {
    await expect(backtest(99)).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' })
    await expect(backtest(1, { againstVersion: 99 })).rejects.toMatchObject({
      code: 'VERSION_NOT_FOUND',
      details: { versionNumber: 99 },
    })
    await expect(
      backtest(1, { from: '2026-05-05T00:00:00Z', to: '2026-05-04T00:00:00Z' }),
    ).rejects.toMatchObject({ code: 'REQUEST_INVALID', details: { problems: [{ path: 'to' }] } })
    await expect(
      operations.getBacktest.invoke(app, admin, { backtestId: 'bkt_000000000000000000000' }),
    ).rejects.toMatchObject({ code: 'BACKTEST_NOT_FOUND' })
  })

  it('is refused for a draft that cannot be read, and stores nothing', async () => {
    const versionNumber = await draft(80, { preconditions: [{ text: 'odd', when: 'input.(' }] })

    await expect(backtest(versionNumber, copies)).rejects.toMatchObject({
      code: 'DEFINITION_HAS_ERRORS',
      details: { problems: [{ path: 'preconditions[0].when' }] },
    })
    const input = { procedureKey: key, versionNumber }
    expect(await operations.listBacktests.invoke(app, admin, input)).toMatchObject({ items: [] })
  })

  it('stands beside what an approval would bind, until that is another', async () => {
    const versionNumber = await draft(90)
    const named = { procedureKey: key, versionNumber }
    const shown = async () => (await operations.getApproval.invoke(app, admin, named)).backtest
    expect(await shown()).toBeNull()

    const { backtestId } = await backtest(versionNumber, { ...copies, limit: 10 })
    expect(await shown()).toMatchObject({ backtestId, doneCount: 10 })

    await operations.editDraft.invoke(app, admin, {
      ...{ ...named, revision: 1, definition: definition(91) },
    })
    expect(await shown()).toBeNull()
  })

  it('is for authors and admins, and is read by all', async () => {
    const approver = callerOf('app', ['approver'])

    await expect(backtest(1, copies, approver)).rejects.toMatchObject({ code: 'ROLE_MISSING' })
    const author = callerOf('aut', ['author'])
    const { backtestId } = await backtest(1, { ...copies, limit: 10 }, author)
    const read = await operations.getBacktest.invoke(app, approver, { backtestId })
    expect(read.backtest).toMatchObject({ startedBy: { id: 'aut', kind: 'human' }, same: 10 })
    const { items } = await operations.listBacktests.invoke(app, approver, {
      ...{ procedureKey: key, versionNumber: 1, limit: 1 },
    })
    expect(items.map((one) => one.backtestId)).toEqual([backtestId])
  })
})

describe('a backtest that is not done', () => {
  it('is carried on by the same call, by continueBacktest, or by both at once', async () => {
    const versionNumber = await draft(80)
    const input = { ...copies, limit: 1_000 }
    const expected = made.slice(-1_000).filter(({ amount }) => amount > 80).length

    const begun = await backtest(versionNumber, { ...input, withinMs: 1 })
    const again = await backtest(versionNumber, { ...input, withinMs: 1 })
    const { backtestId } = begun
    const carryOn = () => operations.continueBacktest.invoke(app, admin, { backtestId })
    const [one, other] = await Promise.all([carryOn(), carryOn()])

    expect(begun).toMatchObject({ state: 'running', endedAt: null })
    expect(begun.doneCount).toBeLessThan(1_000)
    expect(again.backtestId).toBe(backtestId)
    expect(again.doneCount).toBeGreaterThan(begun.doneCount)
    expect(one).toMatchObject({ state: 'done', doneCount: 1_000, different: expected })
    expect(other).toEqual(one)
    expect(await affectedOf(backtestId)).toHaveLength(expected)
    expect((await backtest(versionNumber, input)).backtestId).not.toBe(backtestId)
  })

  it('can be cancelled, and keeps what it has found', async () => {
    const versionNumber = await draft(80)
    const { backtestId, doneCount } = await backtest(versionNumber, { ...copies, withinMs: 1 })

    const cancelled = await operations.cancelBacktest.invoke(app, admin, { backtestId })

    expect(cancelled).toMatchObject({ state: 'cancelled', doneCount })
    const carryOn = operations.continueBacktest.invoke(app, admin, { backtestId })
    expect(await carryOn).toEqual(cancelled)
    await expect(
      operations.cancelBacktest.invoke(app, admin, { backtestId }),
    ).rejects.toMatchObject({
      code: 'BACKTEST_ENDED',
    })
  })

  it('ends when its draft is edited, and says so; it goes with a draft that is deleted', async () => {
    const versionNumber = await draft(80)
    const done = await backtest(versionNumber, { ...copies, limit: 30 })
    const begun = await backtest(versionNumber, { ...copies, withinMs: 1 })
    await operations.editDraft.invoke(app, admin, {
      ...{ procedureKey: key, versionNumber, revision: 1, definition: definition(70) },
    })

    const { backtestId } = begun
    const carriedOn = await operations.continueBacktest.invoke(app, admin, { backtestId })
    const newer = await backtest(versionNumber, { ...copies, limit: 10 })
    const list = async () => {
      const input = { procedureKey: key, versionNumber }
      const { items } = await operations.listBacktests.invoke(app, admin, input)
      return items.map((one) => [one.backtestId, one.state, one.isCurrent])
    }

    expect(carriedOn).toMatchObject({ state: 'cancelled', isCurrent: false })
    expect(await list()).toEqual([
      [newer.backtestId, 'done', true],
      [backtestId, 'cancelled', false],
      [done.backtestId, 'done', false],
    ])
    await operations.deleteDraft.invoke(app, admin, {
      ...{ procedureKey: key, versionNumber },
    })
    await expect(
      operations.getBacktest.invoke(app, admin, { backtestId: done.backtestId }),
    ).rejects.toMatchObject({ code: 'BACKTEST_NOT_FOUND' })
  })

  it('is never changed by hand once it has ended, nor deleted, by nobody', async () => {
    const versionNumber = await draft(80)
    const { backtestId: id } = await backtest(versionNumber, { ...copies, limit: 30 })
    const attempts = [
      `UPDATE backtests SET done_count = 31 WHERE id = '${id}'`,
      `UPDATE backtests SET filter = '{}' WHERE id = '${id}'`,
      `DELETE FROM backtests WHERE id = '${id}'`,
      `DELETE FROM backtest_runs WHERE backtest_id = '${id}'`,
      `UPDATE backtest_runs SET kind = 'unknown' WHERE backtest_id = '${id}'`,
      `INSERT INTO backtest_runs VALUES ('default', '${id}', 'exec_x', 1, 'unknown', '{}')`,
      'TRUNCATE backtests CASCADE',
    ]
    for (const statement of attempts) {
      const attempt = db.asOwner('default', (client) => client.query(statement))

      await expect(attempt, statement).rejects.toMatchObject({ code: '23001' })
    }
  })
})

describe('what cannot be known', () => {
  it('is told with its step and tool', async () => {
    const steps = definition(100).steps.map((step) =>
      step.key === 'refund' ? { ...step, with: { order: '{{input.order}}', amount: 1 } } : step,
    )
    const versionNumber = await draft(100, { steps })

    const report = await backtest(versionNumber, { ...copies, limit: 50 })

    const need = { why: 'other_input', step: 'refund', what: 'refund' }
    const unlike = made.slice(-50).filter(({ amount }) => amount !== 1).length
    expect(report).toMatchObject({ unknown: unlike, needs: [{ ...need, count: unlike }] })
    const [first] = await affectedOf(report.backtestId, 'unknown')
    expect(first).toMatchObject({ kind: 'unknown', after: null, differs: [], need })
  })

  it('is all that asks a tool that this service no longer has', async () => {
    const app = await createContext(
      db.database,
      { tenantId: 'default', logLevel: 'silent' },
      { embedder: ngramEmbedder, tools: [look] },
    )
    const input = { procedureKey: key, versionNumber: 1, ...copies, outcome: 'resolved', limit: 5 }

    const report = await operations.backtestVersion.invoke(app, admin, input)
    await app[Symbol.asyncDispose]()

    expect(report).toMatchObject({
      unknown: 5,
      needs: [{ why: 'tool_gone', step: 'refund', what: 'refund', count: 5 }],
    })
  })

  it('reads sensitive values as replay does, shows none, and says when one is gone', async () => {
    mayBeCalled = true
    const { execution } = await start(60, { pin: 'PIN-4482' })
    mayBeCalled = false
    const steps = [
      ...definition(100).steps.slice(0, 2),
      {
        ...{ key: 'end', action: 'End', end: 'declined' },
        text: 'Card {{steps.look.output.card}}, pin {{input.pin}}',
      },
    ]
    const versionNumber = await draft(100, { steps })
    const input = { from: execution.createdAt, limit: 1 }

    const same = await backtest(1, input)
    const other = await backtest(versionNumber, input)
    const found = await operations.getBacktest.invoke(app, admin, { backtestId: other.backtestId })

    expect(same).toMatchObject({ runCount: 1, same: 1 })
    expect(other).toMatchObject({ different: 1 })
    expect(found.items).toMatchObject([
      { after: { end: 'declined', reason: 'ended_by_step', text: null } },
    ])
    const stored = await db.asApp('default', async (client) => {
      const { rows } = await client.query('SELECT * FROM backtests')
      const runs = await client.query('SELECT * FROM backtest_runs')
      return JSON.stringify([rows, runs.rows])
    })
    for (const secret of [card, 'PIN-4482']) expect(stored).not.toContain(secret)

    await db.asOwner('default', async (client) => {
      await client.query('ALTER TABLE sensitive_values DISABLE TRIGGER USER')
      await client.query('DELETE FROM sensitive_values WHERE execution_id = $1', [execution.id])
      await client.query('ALTER TABLE sensitive_values ENABLE TRIGGER USER')
    })
    expect(await backtest(1, input)).toMatchObject({
      unknown: 1,
      needs: [{ why: 'value_lost', step: null, what: null, count: 1 }],
    })
  })
})
