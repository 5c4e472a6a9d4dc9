import { beforeAll, expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { auditedTools, createAudited } from '../support/audited.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp({ tools: auditedTools })
const [ann, bot] = [callerOf('ann', ['agent']), callerOf('bot', ['agent'])]
const started: string[] = []

beforeAll(async () => {
  await createAudited(app)
  for (const [caller, ticketId, customerId] of [
    [ann, 'T-1', 'c-1'],
    [ann, 'T-2', 'c-1'],
    [bot, 'T-2', 'c-2'],
  ] as const) {
    const { execution } = await operations.startExecution.invoke(app, caller, {
      procedureKey: 'ESCALATES',
      ticketId,
      customerId,
    })
    started.push(execution.id)
  }
})

it.each([
  [{ ticketId: 'T-1' }, [0]],
  [{ ticketId: 'T-2' }, [2, 1]],
  [{ customerId: 'c-1' }, [1, 0]],
  [{ requesterId: 'bot' }, [2]],
  [{ ticketId: 'T-2', requesterId: 'ann' }, [1]],
  [{ ticketId: 'T-3' }, []],
])('lists the runs of %j', async (filter, expected) => {
  const { items } = await operations.listExecutions.invoke(app, ann, filter)

  expect(items.map(({ id }) => started.indexOf(id))).toEqual(expected)
})

it('finds the escalation of a run', async () => {
  const [executionId = ''] = started

  const { items } = await operations.listEscalations.invoke(app, ann, { executionId })

  expect(items.map((item) => item.executionId)).toEqual([executionId])
})
