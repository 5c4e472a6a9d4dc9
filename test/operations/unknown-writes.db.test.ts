import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
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
const { app } = await openTestApp({ tools: [transfer] })
const caller = callerOf()

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
