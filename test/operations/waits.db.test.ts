import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AppContext, createContext } from '../../src/context.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const calls: unknown[] = []
const send = defineTool({
  name: 'send',
  description: 'Sends',
  effect: 'write',
  idempotent: true,
  input: z.object({ text: z.string() }),
  output: z.object({ sent: z.boolean() }),
  run: async (input) => {
    calls.push(input.text)
    return { sent: true }
  },
})

let now = Date.UTC(2026, 11, 14, 8, 30)
const clock = { now: () => now }
const { app, db } = await openTestApp({ tools: [send], clock })
const admin = callerOf()
const as = (
  id: string,
  roles: readonly string[],
  groups: readonly string[] = [],
  kind = 'human',
) => ({
  ...admin,
  principal: { ...admin.principal, id, roles, groups, kind } as typeof admin.principal,
})
const ann = as('ann', ['agent'])
const boss = as('boss', ['approver'], ['refund-desk'])
const chief = as('chief', ['approver'], ['refund-desk'])

let count = 0
async function procedureOf(parts: object, on: AppContext = app): Promise<string> {
  count += 1
  const procedureKey = `WAITS_${count}`
  await activate(procedureKey, parts, on)
  return procedureKey
}
async function activate(key: string, parts: object, on: AppContext = app): Promise<void> {
  await operations.createProcedure.invoke(on, admin, {
    definition: { key, name: key, description: key, issuePatterns: [], ...parts },
  })
  await operations.activateVersion.invoke(on, admin, {
    procedureKey: key,
    versionNumber: 1,
    seenActive: null,
  })
}
const start = (procedureKey: string, more: object = {}) =>
  operations.startExecution.invoke(app, ann, { procedureKey, ...more })
const get = (executionId: string) => operations.getExecution.invoke(app, ann, { executionId })
const agrees = async (executionId: string) => {
  const proof = await operations.replayExecution.invoke(app, ann, { executionId })
  return proof.agrees || proof
}
/** Lets what is due by the clock of the test go on. */
async function wake(executionId: string): Promise<void> {
  const { carryOnById } = await import('../../src/operations/carry-out.ts')
  await carryOnById(app, db.database.forTenant('default'), executionId as never)
}

describe('a step that asks', () => {
  const ask = {
    key: 'code',
    action: 'Ask for the code',
    ask: 'customer',
    message: 'Which code do you see?',
    answer: { type: 'string', pattern: '^[0-9]{4}$' },
    deadline: '2d',
    remind: '1d',
  }
  const tell = {
    key: 'tell',
    action: 'Tell',
    tool: 'send',
    with: { text: 'Code {{steps.code.output}}' },
  }

  it('reminds, keeps words that do not fit, and goes on with the answer of an agent', async () => {
    const { execution } = await start(await procedureOf({ steps: [ask, tell] }))
    expect(execution.status).toBe('waiting')
    expect(execution.waitsFor).toMatchObject({ kind: 'person', stepKey: 'code' })
    const { id: executionId } = execution
    const listed = await operations.listWaitingSteps.invoke(app, ann, { executionId, mine: true })
    expect(listed.items).toMatchObject([
      {
        step: 'code',
        asks: { from: 'customer', message: 'Which code do you see?' },
        tool: null,
        answer: ask.answer,
        answerText: 'a text that matches ^[0-9]{4}$',
      },
    ])

    now += 24 * 3_600_000
    await wake(executionId)
    const unfit = await operations.answerStep.invoke(app, ann, {
      executionId,
      step: 'code',
      text: 'it says twelve thirty-four',
    })
    expect(unfit.execution.status).toBe('waiting')
    const kinds = unfit.steps[0]?.exchange?.map(({ kind }) => kind)
    expect(kinds).toEqual(['reminded', 'unfit'])

    await expect(
      operations.answerStep.invoke(app, ann, { executionId, step: 'code', answer: 1234 }),
    ).rejects.toMatchObject({ code: 'ANSWER_INVALID' })
    const done = await operations.answerStep.invoke(app, ann, {
      executionId,
      step: 'code',
      answer: '1234',
    })

    expect(done.execution.outcome).toBe('resolved')
    expect(calls.at(-1)).toBe('Code 1234')
    expect(await agrees(executionId)).toBe(true)
    await expect(
      operations.answerStep.invoke(app, ann, { executionId, step: 'code', answer: '1234' }),
    ).rejects.toMatchObject({ code: 'EXECUTION_ENDED' })
  })

  it('takes an answer in a process that has never seen its playbook', async () => {
    const { execution } = await start(await procedureOf({ steps: [ask, tell] }))
    await using fresh = await createContext(
      db.database,
      { tenantId: 'default', logLevel: 'silent' },
      { tools: [send], clock, embedder: app.embedders.offline },
    )

    const done = await operations.answerStep.invoke(fresh, ann, {
      executionId: execution.id,
      step: 'code',
      text: ' 1234 ',
    })

    expect(done.execution.outcome).toBe('resolved')
  })

  it('escalates when its deadline has passed, and hears nobody after it', async () => {
    const { execution } = await start(await procedureOf({ steps: [ask, tell] }))
    now += 3 * 24 * 3_600_000

    await expect(
      operations.answerStep.invoke(app, ann, {
        executionId: execution.id,
        step: 'code',
        answer: '1234',
      }),
    ).rejects.toMatchObject({ code: 'WAIT_CLOSED' })
    await wake(execution.id)

    const run = await get(execution.id)
    expect(run.execution).toMatchObject({
      status: 'escalated',
      reason: { code: 'deadline_passed', stepKey: 'code' },
    })
    expect(await agrees(execution.id)).toBe(true)
  })
})

describe('an approval', () => {
  const steps = [
    {
      key: 'yes',
      action: 'Ask for a yes',
      approval: 'group:refund-desk',
      show: { amount: '{{input.amount}}' },
      deadline: '1d',
      onDenied: 'continue',
      required: false,
    },
    {
      key: 'refund',
      action: 'Refund',
      when: "steps.yes.status == 'completed'",
      tool: 'send',
      with: { text: 'Refund {{input.amount}}' },
    },
    {
      key: 'no',
      action: 'Say no',
      when: "steps.yes.status == 'denied'",
      tool: 'send',
      with: { text: 'No refund' },
    },
  ]

  it('takes the yes of somebody of the group, and never of the requester', async () => {
    const key = await procedureOf({ steps })
    const { execution } = await start(key, { input: { amount: 700 } })
    const ref = { executionId: execution.id, step: 'yes' }
    const requester = as('ann', ['agent', 'approver'], ['refund-desk'])
    const bot = as('bot', ['approver'], ['refund-desk'], 'ai')

    for (const caller of [requester, bot, ann]) {
      await expect(operations.approveStep.invoke(app, caller, ref)).rejects.toMatchObject({
        code: 'NOT_ASKED',
      })
    }
    await expect(
      operations.approveStep.invoke(app, boss, { ...ref, showHash: 'another' }),
    ).rejects.toMatchObject({ code: 'APPROVAL_STALE' })
    const done = await operations.approveStep.invoke(app, boss, ref)

    expect(done.execution.outcome).toBe('resolved')
    expect(calls.at(-1)).toBe('Refund 700')
    expect(done.steps.find(({ key: step }) => step === 'yes')?.output).toEqual({
      approvedBy: ['boss'],
    })
    expect(await agrees(execution.id)).toBe(true)
  })

  it('is listed and told as theirs to whoever may decide it alone', async () => {
    const key = await procedureOf({
      steps: steps.map((s) => ('show' in s ? { ...s, quorum: 2 } : s)),
    })
    const { execution } = await start(key, { input: { amount: 700 } })
    const ref = { executionId: execution.id, step: 'yes' }
    const forAnn = await operations.startExecution.invoke(app, as('boss', ['agent']), {
      procedureKey: key,
      input: { amount: 1 },
      onBehalfOf: 'ann',
    })
    const requester = as('ann', ['agent', 'approver'], ['refund-desk'])
    const bot = as('bot', ['approver'], ['refund-desk'], 'ai')
    const isMine = async (caller: typeof boss, executionId: string) => {
      const query = { executionId, mine: true }
      const { items } = await operations.listWaitingSteps.invoke(app, caller, query)
      const run = await operations.getExecution.invoke(app, caller, { executionId })
      const isTold = run.steps.some(({ status, notYou }) => status === 'waiting' && !notYou)
      expect(isTold).toBe(items.length > 0)
      return isTold
    }

    expect(await isMine(requester, execution.id)).toBe(false)
    expect(await isMine(requester, forAnn.execution.id)).toBe(false)
    expect(await isMine(boss, forAnn.execution.id)).toBe(false)
    expect(await isMine(bot, execution.id)).toBe(false)
    expect(await isMine(boss, execution.id)).toBe(true)

    await operations.approveStep.invoke(app, boss, ref)
    expect(await isMine(boss, execution.id)).toBe(false)
    expect(await isMine(chief, execution.id)).toBe(true)
  })

  it('goes on after a no where the playbook says so, and a late yes does nothing', async () => {
    const { execution } = await start(await procedureOf({ steps }), { input: { amount: 700 } })
    const ref = { executionId: execution.id, step: 'yes' }

    const done = await operations.denyStep.invoke(app, chief, { ...ref, comment: 'too much' })

    expect(done.execution.outcome).toBe('resolved')
    expect(calls.at(-1)).toBe('No refund')
    await expect(operations.approveStep.invoke(app, boss, ref)).rejects.toMatchObject({
      code: 'EXECUTION_ENDED',
    })
    expect(await agrees(execution.id)).toBe(true)
  })

  it('needs as many as its quorum says, each once', async () => {
    const [yes] = steps
    const key = await procedureOf({ steps: [{ ...yes, quorum: 2 }] })
    const { execution } = await start(key, { input: { amount: 700 } })
    const ref = { executionId: execution.id, step: 'yes' }

    const half = await operations.approveStep.invoke(app, boss, ref)
    expect(half.execution.status).toBe('waiting')
    await expect(operations.approveStep.invoke(app, boss, ref)).rejects.toMatchObject({
      code: 'NOT_ASKED',
    })
    const done = await operations.approveStep.invoke(app, chief, ref)

    expect(done.execution.outcome).toBe('resolved')
    expect(await agrees(execution.id)).toBe(true)
  })
})

describe('a wait', () => {
  it('of ten working days over holidays wakes on the right day', async () => {
    const tenant = db.database.forTenant('default').kysely
    const calendar = { weekdays: [1, 2, 3, 4, 5], holidays: ['2026-12-25', '2027-01-01'] }
    await tenant
      .updateTable('tenants')
      .set({ calendar: JSON.stringify(calendar) })
      .execute()
    now = Date.UTC(2026, 11, 21, 7, 0)
    const key = await procedureOf({
      steps: [{ key: 'rest', action: 'Wait', wait: { for: '10 workdays' } }],
    })

    const { execution } = await start(key)
    expect(execution.wakeAt).toBe('2027-01-06T07:00:00.000Z')
    now = Date.UTC(2027, 0, 6, 7, 0)
    await wake(execution.id)

    expect((await get(execution.id)).execution.outcome).toBe('resolved')
    expect(await agrees(execution.id)).toBe(true)
  })
})

describe('a guided run', () => {
  it('asks before each write', async () => {
    const key = await procedureOf({
      steps: [{ key: 'tell', action: 'Tell', tool: 'send', with: { text: 'hello' } }],
    })
    const before = calls.length
    const { execution } = await start(key, { mode: 'guided' })
    expect(execution.status).toBe('waiting')
    expect(calls).toHaveLength(before)

    const done = await operations.approveStep.invoke(app, ann, {
      executionId: execution.id,
      step: 'tell',
    })

    expect(done.execution.outcome).toBe('resolved')
    expect(calls).toHaveLength(before + 1)
    expect(await agrees(execution.id)).toBe(true)
    const refused = await start(key, { mode: 'guided' })
    const ref = { executionId: refused.execution.id, step: 'tell' }
    const denied = await operations.denyStep.invoke(app, ann, ref)
    expect(denied.execution.reason?.code).toBe('approval_denied')
    expect(await agrees(refused.execution.id)).toBe(true)
  })

  it('asks before each write of a list, one after the other', async () => {
    const key = await procedureOf({
      steps: [
        {
          key: 'tell',
          action: 'Tell',
          forEach: 'input.list',
          tool: 'send',
          with: { text: 'to {{item}}' },
        },
      ],
    })
    const { execution, steps } = await start(key, { mode: 'guided', input: { list: ['a', 'b'] } })
    expect(steps.filter(({ status }) => status === 'waiting')).toHaveLength(1)

    for (const iteration of ['0', '1']) {
      await operations.approveStep.invoke(app, ann, {
        executionId: execution.id,
        step: 'tell',
        iteration,
      })
    }

    expect((await get(execution.id)).execution.outcome).toBe('resolved')
    expect(calls.slice(-2)).toEqual(['to a', 'to b'])
    expect(await agrees(execution.id)).toBe(true)
  })
})

describe('a call', () => {
  // A run that is stored for later begins by the database's clock.
  beforeEach(() => {
    now = Date.now()
  })

  it('runs the version that was pinned at the start', async () => {
    const child = await procedureOf({
      internal: true,
      steps: [
        { key: 'rest', action: 'Wait', wait: { for: '1d' } },
        { key: 'tell', action: 'Tell', tool: 'send', with: { text: 'first' } },
      ],
      output: { said: "'first'" },
    })
    const parent = await procedureOf({
      steps: [{ key: 'sub', action: 'Call', call: child, with: {} }],
      output: { of: 'steps.sub.output.output.said' },
    })
    const { execution } = await start(parent)
    expect(execution.status).toBe('waiting')
    const version = await operations.createVersion.invoke(app, admin, { procedureKey: child })
    await operations.activateVersion.invoke(app, admin, {
      procedureKey: child,
      versionNumber: version.versionNumber,
      seenActive: 1,
    })

    const { items } = await operations.listExecutions.invoke(app, ann, { procedureKey: child })
    now += 25 * 3_600_000
    await wake(items[0]?.id ?? '')

    const run = await get(execution.id)
    expect(run.execution).toMatchObject({ outcome: 'resolved', result: { of: 'first' } })
    expect(items[0]?.versionNumber).toBe(1)
    expect(await agrees(execution.id)).toBe(true)
    expect(await agrees(items[0]?.id ?? '')).toBe(true)
  })

  it('ends in the same process when nothing of it waits, for each of a list', async () => {
    const child = await procedureOf({
      internal: true,
      steps: [{ key: 'tell', action: 'Tell', tool: 'send', with: { text: 'called' } }],
    })
    const parent = await procedureOf({
      steps: [{ key: 'sub', action: 'Call', forEach: 'input.list', call: child }],
    })
    const before = calls.length

    const { execution, steps } = await start(parent, { input: { list: [1, 2, 3] } })

    expect(execution.outcome).toBe('resolved')
    expect(calls).toHaveLength(before + 3)
    expect(steps).toHaveLength(4)
    expect(await agrees(execution.id)).toBe(true)
  })

  it('stops what it has called when it is cancelled itself', async () => {
    const child = await procedureOf({
      internal: true,
      steps: [
        { key: 'rest', action: 'Wait', wait: { for: '1d' } },
        { key: 'tell', action: 'Tell', tool: 'send', with: { text: 'too late' } },
      ],
    })
    const parent = await procedureOf({ steps: [{ key: 'sub', action: 'Call', call: child }] })
    const { execution } = await start(parent)

    const ended = await operations.cancelExecution.invoke(app, ann, { executionId: execution.id })

    expect(ended.execution.status).toBe('cancelled')
    const { items } = await operations.listExecutions.invoke(app, ann, { procedureKey: child })
    expect(items).toMatchObject([{ status: 'cancelled' }])
    expect(calls).not.toContain('too late')
  })

  it('hands its escalation on', async () => {
    const child = await procedureOf({
      internal: true,
      steps: [{ key: 'stop', action: 'Stop', end: 'escalated', text: 'by hand' }],
    })
    const parent = await procedureOf({ steps: [{ key: 'sub', action: 'Call', call: child }] })

    const { execution } = await start(parent)

    expect(execution.reason).toMatchObject({ code: 'child_escalated', stepKey: 'sub' })
    expect(await agrees(execution.id)).toBe(true)
  })
})
