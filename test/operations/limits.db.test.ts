import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolFailed, ToolRefused } from '../../src/domain/tool.ts'
import type { ToolLimit } from '../../src/domain/tool-limit.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const calls: string[] = []
/** What the tools do at their next calls, instead of answering. */
const failures: Error[] = []

function limited(name: string, limits: readonly ToolLimit[], effect: 'read' | 'write' = 'write') {
  return defineTool({
    name,
    description: 'Pays',
    effect,
    ...(effect === 'write' && { idempotent: true }),
    limits,
    input: z.object({ amount: z.number().min(0) }),
    output: z.object({ paid: z.boolean() }),
    run: async () => {
      calls.push(name)
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return { paid: true }
    },
  })
}

let now = Date.UTC(2026, 10, 30, 9)
const { app, db } = await openTestApp({
  clock: { now: () => now },
  tools: [
    limited('pay', [
      { per: 'customer', every: 'day', sum: 'amount', atMost: 100 },
      { per: 'tenant', every: 'day', sum: 'amount', atMost: 1_000 },
    ]),
    limited('pay_twice', [{ per: 'procedure', every: 'hour', atMost: 2 }]),
    limited('look_up', [{ per: 'customer', every: 'day', atMost: 1 }], 'read'),
  ],
})
const admin = callerOf()

let procedures = 0
async function procedureWith(tool: string, step: object = {}): Promise<string> {
  procedures += 1
  const key = `LIMITS_${procedures}`
  const definition = {
    key,
    name: key,
    description: key,
    issuePatterns: [],
    input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    steps: [
      { key: 'pay', action: 'Pay', tool, with: { amount: '{{input.amount}}' }, ...step },
      { key: 'done', action: 'Done', compute: { done: 'true' } },
    ],
  }
  await operations.createProcedure.invoke(app, admin, { definition })
  const version = { procedureKey: key, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, admin, version)
  return key
}

async function pay(procedureKey: string, amount: number, customerId: string | null, more = {}) {
  const run = await operations.startExecution.invoke(app, admin, {
    procedureKey,
    input: { amount },
    ...(customerId !== null && { customerId }),
    ...more,
  })
  const { id: executionId } = run.execution
  const proof = await operations.replayExecution.invoke(app, admin, { executionId })
  expect(proof.divergence).toBeNull()
  return run
}

async function used(tool: string, subject: string): Promise<readonly string[]> {
  const { rows } = await db.asApp('default', (client) =>
    client.query(
      'SELECT used::text FROM limit_counters WHERE tool = $1 AND subject = $2 ORDER BY starts_at',
      [tool, subject],
    ),
  )
  return rows.map((row) => row.used)
}

describe('a limit per customer', () => {
  it('lets calls through up to its last cent, and not one further', async () => {
    const key = await procedureWith('pay')
    await pay(key, 99.9, 'exact')

    const last = await pay(key, 0.1, 'exact')
    calls.length = 0
    const beyond = await pay(key, 0.01, 'exact')
    const other = await pay(key, 100, 'another')

    expect(last.execution.outcome).toBe('resolved')
    expect(beyond.execution).toMatchObject({
      status: 'escalated',
      reason: { code: 'limit_exceeded', stepKey: 'pay' },
    })
    expect(beyond.execution.reason?.message).toContain('100 are used for customer exact')
    expect(beyond.steps[0]).toMatchObject({ status: 'failed', error: { code: 'limit_exceeded' } })
    expect(other.execution.outcome).toBe('resolved')
    expect(calls).toEqual(['pay'])
    expect(await used('pay', 'exact')).toEqual(['100.0'])
  })

  it('counts nothing anywhere when one of several has no room', async () => {
    const key = await procedureWith('pay')
    const before = await used('pay', '')

    const run = await pay(key, 101, 'greedy')

    expect(run.execution.reason?.code).toBe('limit_exceeded')
    expect(await used('pay', '')).toEqual(before)
    expect(await used('pay', 'greedy')).toEqual([])
  })

  it('escalates a run that names no customer', async () => {
    const run = await pay(await procedureWith('pay'), 1, null)

    expect(run.execution.reason).toMatchObject({ code: 'limit_exceeded', stepKey: 'pay' })
    expect(run.execution.reason?.message).toContain('names none; start it with one: --customer ID')
  })

  it('begins anew with its window', async () => {
    const key = await procedureWith('pay')
    await pay(key, 100, 'daily')
    now += 24 * 3_600_000

    const next = await pay(key, 100, 'daily')

    expect(next.execution.outcome).toBe('resolved')
    expect(await used('pay', 'daily')).toEqual(['100', '100'])
  })

  it('cannot be passed over by a playbook', async () => {
    const key = await procedureWith('pay', { required: false, onError: 'continue' })

    const run = await pay(key, 101, 'insistent')

    expect(run.execution.reason?.code).toBe('limit_exceeded')
  })
})

describe('what was counted', () => {
  it('is given back when the call was certainly not made', async () => {
    const key = await procedureWith('pay')
    failures.push(new ToolRefused('not today'))

    const run = await pay(key, 60, 'refused')

    expect(run.execution.reason?.code).toBe('tool_failed')
    expect(await used('pay', 'refused')).toEqual(['0'])
  })

  it.each<[string, ...Error[]]>([
    ['busy', new ToolFailed('busy')],
    ['busy twice', new ToolFailed('busy'), new ToolFailed('busy')],
    ['unknown', new Error('reset')],
    ['busy, then unknown', new ToolFailed('busy'), new Error('reset')],
    ['unknown, then busy', new Error('reset'), new ToolFailed('busy')],
  ])('is counted once over attempts: %s', async (customer, ...before) => {
    const retry = { retry: { maxAttempts: 3, delay: '0s' } }
    const key = await procedureWith('pay', retry)
    failures.push(...before)

    const run = await pay(key, 60, customer)

    expect(run.execution.outcome).toBe('resolved')
    expect(await used('pay', customer)).toEqual(['60'])
  })

  it('stays when nobody knows whether the call was made', async () => {
    const retry = { retry: { maxAttempts: 2, delay: '0s' } }
    const key = await procedureWith('pay', retry)
    failures.push(new Error('reset'), new ToolRefused('too late'))

    await pay(key, 60, 'in doubt')

    expect(await used('pay', 'in doubt')).toEqual(['60'])
  })

  it('is counted when an agent confirms the write of a guided run', async () => {
    const key = await procedureWith('pay')
    const { execution } = await pay(key, 70, 'guided', { mode: 'guided' })
    expect(await used('pay', 'guided')).toEqual([])
    now += 24 * 3_600_000

    const executionId = execution.id
    await operations.approveStep.invoke(app, admin, { executionId, step: 'pay' })

    expect(await used('pay', 'guided')).toEqual(['70'])
    const proof = await operations.replayExecution.invoke(app, admin, { executionId })
    expect(proof.agrees).toBe(true)
  })
})

it('a limit per procedure counts calls of each procedure apart', async () => {
  const [one, two] = [await procedureWith('pay_twice'), await procedureWith('pay_twice')]
  await pay(one, 1, null)
  await pay(one, 1, null)

  const third = await pay(one, 1, null)
  const first = await pay(two, 1, null)

  expect(third.execution.reason?.message).toContain('2 are used for procedure LIMITS_')
  expect(first.execution.outcome).toBe('resolved')
})

it('a read can be limited, too', async () => {
  const key = await procedureWith('look_up')
  await pay(key, 1, 'curious')

  const second = await pay(key, 1, 'curious')

  expect(second.execution.reason?.code).toBe('limit_exceeded')
})

it('no statement of the application counts beyond a limit or below zero', async () => {
  const set = (value: string) =>
    db.asApp('default', (client) => client.query(`UPDATE limit_counters SET used = ${value}`))

  await expect(set('at_most + 0.01')).rejects.toThrow('limit_counters_within')
  await expect(set('-0.01')).rejects.toThrow('limit_counters_not_negative')
})
