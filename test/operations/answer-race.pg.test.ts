import { expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { startWorking } from '../../src/operations/work.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp()
const caller = callerOf()

it('an answer and a deadline in the same moment never both count', async () => {
  const procedureKey = 'RACE_PLAYBOOK'
  await operations.createProcedure.invoke(app, caller, {
    definition: {
      key: procedureKey,
      name: 'Race',
      description: 'Race',
      issuePatterns: [],
      steps: [
        {
          key: 'code',
          action: 'Ask',
          ask: 'agent',
          message: 'Code?',
          answer: { type: 'string' },
          deadline: '1s',
        },
      ],
    },
  })
  const version = { procedureKey, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, version)
  const working = startWorking(app, { pollMs: 10 })

  const outcomes = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const { execution } = await operations.startExecution.invoke(app, caller, { procedureKey })
      const { id: executionId } = execution
      const until = Date.parse(execution.wakeAt ?? '')
      await new Promise((resolve) => setTimeout(resolve, until - Date.now() - 500 + 15 * index))
      const answer = { executionId, step: 'code', answer: 'x' }
      const answered = await operations.answerStep.invoke(app, caller, answer).then(
        () => true,
        () => false,
      )
      return { executionId, answered }
    }),
  )
  await expect
    .poll(
      async () => {
        const runs = await operations.listExecutions.invoke(app, caller, { procedureKey })
        return runs.items.every(({ endedAt }) => endedAt !== null)
      },
      { timeout: 20_000 },
    )
    .toBe(true)
  await working.stop()

  for (const { executionId, answered } of outcomes) {
    const { execution } = await operations.getExecution.invoke(app, caller, { executionId })
    expect(execution.outcome === 'resolved').toBe(answered)
    const { agrees } = await operations.replayExecution.invoke(app, caller, { executionId })
    expect(agrees).toBe(true)
  }
  // Both happen, or the test has tried nothing.
  expect(new Set(outcomes.map(({ answered }) => answered)).size).toBe(2)
})
