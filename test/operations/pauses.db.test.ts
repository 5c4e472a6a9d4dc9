import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolFailed } from '../../src/domain/tool.ts'
import { carryOnAll } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const minute = 60_000
const time = { now: Date.parse('2026-11-30T12:00:00Z') }
const reads: (() => void)[] = []
const look = defineTool({
  name: 'look',
  description: 'Does what the test says',
  effect: 'read',
  input: z.object({}),
  output: z.object({ ok: z.boolean() }),
  run: async () => {
    reads.shift()?.()
    return { ok: true }
  },
})
const { app } = await openTestApp({ tools: [look], clock: { now: () => time.now } })
const caller = callerOf()

/** A run of these steps that may take an hour, as it stands once it waits. */
async function startedRun(procedureKey: string, ...steps: readonly object[]): Promise<string> {
  const definition = {
    key: procedureKey,
    name: procedureKey,
    description: procedureKey,
    timeLimit: '1h',
    steps,
  }
  await operations.createProcedure.invoke(app, caller, { definition })
  const version = { procedureKey, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, version)
  const { execution } = await operations.startExecution.invoke(app, caller, { procedureKey })
  expect(execution.status).toBe('waiting')
  return execution.id
}

async function endOf(executionId: string) {
  const { execution } = await operations.getExecution.invoke(app, caller, { executionId })
  const { agrees, divergence } = await operations.replayExecution.invoke(app, caller, {
    executionId,
  })
  expect(divergence).toBeNull()
  expect(agrees).toBe(true)
  return execution.reason?.code ?? execution.outcome
}

const retried = {
  key: 'look',
  action: 'Look',
  tool: 'look',
  retry: { maxAttempts: 2, delay: '10m' },
}
const fails = () => {
  throw new ToolFailed('The desk is closed.')
}

it('the time for which a switch holds a run does not count for its time limit', async () => {
  reads.push(fails)
  const executionId = await startedRun('HELD_LONG', retried)
  const procedureKey = 'HELD_LONG'
  await operations.stopProcedure.invoke(app, caller, { procedureKey, reason: 'A test.' })

  time.now += 120 * minute
  await operations.allowProcedure.invoke(app, caller, { procedureKey })
  await carryOnAll(app)

  expect(await endOf(executionId)).toBe('resolved')
})

it('nor does that for which a person has paused it, and what counts still does', async () => {
  reads.push(fails)
  const executionId = await startedRun('PAUSED_LONG', retried)
  await operations.pauseExecution.invoke(app, caller, { executionId })
  time.now += 120 * minute
  reads.push(() => {
    time.now += 61 * minute
  })

  await operations.resumeExecution.invoke(app, caller, { executionId })

  expect(await endOf(executionId)).toBe('deadline_passed')
})

it('a pause within a wait counts once', async () => {
  const ask = { key: 'ask', action: 'Ask', ask: 'agent', message: 'Well?', answer: {} }
  const read = { key: 'look', action: 'Look', tool: 'look' }
  const executionId = await startedRun('PAUSED_WAITING', ask, read)
  time.now += 10 * minute
  await operations.pauseExecution.invoke(app, caller, { executionId })
  time.now += 120 * minute
  await operations.resumeExecution.invoke(app, caller, { executionId })
  time.now += 10 * minute
  reads.push(() => {
    time.now += 61 * minute
  })

  await operations.answerStep.invoke(app, caller, { executionId, step: 'ask', answer: 1 })

  expect(await endOf(executionId)).toBe('deadline_passed')
})
