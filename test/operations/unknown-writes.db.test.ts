import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolFailed, ToolRefused } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const calls: string[] = []
let isLost = false
const transfer = defineTool({
  name: 'transfer',
  description: 'Transfers',
  effect: 'write',
  input: z.object({ account: z.string().meta({ sensitive: true }), amount: z.number() }),
  output: z.object({ done: z.boolean() }),
  async run({ account }) {
    calls.push(account)
    if (isLost) throw new Error('connection reset')
    return { done: true }
  },
})
/** What `repeatable` does at its next calls, instead of answering. */
const failures: (Error | (() => Promise<never>))[] = []
const repeatable = defineTool({
  name: 'repeatable',
  description: 'Pays',
  effect: 'write',
  idempotent: true,
  input: z.object({ account: z.string(), amount: z.number() }),
  output: z.object({ done: z.boolean() }),
  async run() {
    const failure = failures.shift()
    if (failure instanceof Error) throw failure
    await failure?.()
    return { done: true }
  },
})
const { app } = await openTestApp({ tools: [transfer, repeatable] })
const caller = callerOf()

let procedures = 0
async function procedureWith(step: object): Promise<string> {
  procedures += 1
  const key = `UNKNOWN_${procedures}`
  const steps = [
    {
      key: 'pay',
      action: 'Pay',
      with: { account: '{{input.account}}', amount: '{{input.amount}}' },
      retry: { maxAttempts: 3, delay: '0s' },
      ...step,
    },
  ]
  const properties = { account: { type: 'string' }, amount: { type: 'number' } }
  const input = { type: 'object', required: ['account', 'amount'], properties }
  await operations.createProcedure.invoke(app, caller, {
    definition: { key, name: key, description: key, issuePatterns: [], input, steps },
  })
  const version = { procedureKey: key, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, version)
  return key
}

const pay = run

async function run(procedureKey: string, account: string) {
  const { execution } = await operations.startExecution.invoke(app, caller, {
    procedureKey,
    input: { account, amount: 5 },
  })
  const executionId = execution.id
  const proof = await operations.replayExecution.invoke(app, caller, { executionId })
  expect(proof.divergence).toBeNull()
  return execution
}

it('a call that may have been made is not made again by another run, until a person has settled it', async () => {
  for (const key of ['TRANSFER', 'TRANSFER_TOO']) {
    await operations.createProcedure.invoke(app, caller, {
      definition: {
        key,
        name: key,
        description: key,
        issuePatterns: [],
        input: {
          type: 'object',
          required: ['account', 'amount'],
          properties: {
            account: { type: 'string', sensitive: true, source: 'caller' },
            amount: { type: 'number' },
          },
        },
        steps: [
          {
            key: 'transfer',
            action: 'Transfer',
            tool: 'transfer',
            with: { account: '{{input.account}}', amount: '{{input.amount}}' },
          },
        ],
      },
    })
    const version = { procedureKey: key, versionNumber: 1, seenActive: null }
    await operations.activateVersion.invoke(app, caller, version)
  }
  isLost = true
  const first = await run('TRANSFER', 'A-1')
  isLost = false
  expect(first.reason?.code).toBe('outcome_unknown')
  calls.length = 0

  const again = await run('TRANSFER_TOO', 'A-1')
  const other = await run('TRANSFER', 'A-2')

  expect(again).toMatchObject({ status: 'escalated', reason: { code: 'outcome_unknown' } })
  expect(again.reason?.message).toContain(first.id)
  expect(other.outcome).toBe('resolved')
  expect(calls).toEqual(['A-2'])

  const { items } = await operations.listEscalations.invoke(app, caller, { status: 'open' })
  const open = items.find(({ executionId }) => executionId === first.id)
  await operations.resolveEscalation.invoke(app, caller, {
    escalationId: open?.id,
    resolution: 'It was not made.',
  })
  const settled = await run('TRANSFER', 'A-1')

  expect(settled.outcome).toBe('resolved')
  expect(calls).toEqual(['A-2', 'A-1'])
})

describe('a write that may have been made', () => {
  it.each([
    ['failed', new ToolFailed('busy')],
    ['refused', new ToolRefused('no')],
  ])('is not settled by an attempt that %s later', async (customer, later) => {
    const key = await procedureWith({
      tool: 'repeatable',
      retry: { maxAttempts: 2, delay: '0s' },
      required: false,
      onError: 'continue',
    })
    failures.push(new Error('reset'), later)

    const execution = await pay(key, customer)

    expect(execution).toMatchObject({ status: 'escalated', reason: { code: 'outcome_unknown' } })
    expect(execution.reason?.message).toContain('reset')
    expect(execution.reason?.message).toContain(later.message)
  })

  it('is done once a later attempt completes', async () => {
    const key = await procedureWith({ tool: 'repeatable' })
    failures.push(new Error('reset'), new ToolFailed('busy'))

    expect((await pay(key, 'completes')).outcome).toBe('resolved')
  })

  it('keeps back a run that has only failed for certain so far, too', async () => {
    const key = await procedureWith({ tool: 'repeatable' })
    let other: Promise<{ readonly id: string }> | undefined
    failures.push(async () => {
      failures.push(new Error('reset'), new Error('reset'), new Error('reset'))
      other = pay(key, 'both')
      await other
      throw new ToolFailed('busy')
    })

    const execution = await pay(key, 'both')

    expect(execution.reason?.code).toBe('outcome_unknown')
    expect(execution.reason?.message).toContain((await other)?.id)
    expect(failures).toEqual([])
  })
})
