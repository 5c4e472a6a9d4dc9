import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolFailed } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const tools = [
  defineTool({
    name: 'look_up',
    description: 'Never finds anything.',
    effect: 'read',
    input: z.object({}),
    output: z.object({ found: z.boolean() }),
    run: () => Promise.reject(new ToolFailed('the desk is closed')),
  }),
]
const { app } = await openTestApp({ tools })
const caller = callerOf()
const key = 'LOOK_PLAYBOOK'

await operations.createProcedure.invoke(app, caller, {
  definition: {
    key,
    name: key,
    description: key,
    steps: [
      {
        key: 'look',
        action: 'Look it up',
        tool: 'look_up',
        retry: { maxAttempts: 3, delay: '10m' },
      },
    ],
  },
})
await operations.activateVersion.invoke(app, caller, {
  procedureKey: key,
  versionNumber: 1,
  seenActive: null,
})

const start = (more: object = {}) =>
  operations.startExecution.invoke(app, caller, { procedureKey: key, ...more })
const show = (executionId: string) => operations.getExecution.invoke(app, caller, { executionId })

it('a run that waits says for what, and what its attempts came to', async () => {
  const { execution } = await start()

  const { execution: shown, steps, acts } = await show(execution.id)

  expect(shown).toMatchObject({
    status: 'waiting',
    workerId: null,
    waitsFor: { kind: 'timer', stepKey: 'look', attempt: 2, until: shown.wakeAt },
  })
  expect(shown.wakeAt).not.toBeNull()
  expect(steps[0]?.failedAttempts).toEqual([
    {
      attempt: 1,
      result: 'failed',
      code: 'tool_failed',
      message: 'the desk is closed',
      endedAt: expect.stringMatching(/Z$/),
    },
  ])
  expect(acts).toEqual([])
})

it('a run says who paused, resumed and cancelled it', async () => {
  const { execution } = await start({ detach: true })
  const { id: executionId } = execution
  expect((await show(executionId)).execution.waitsFor).toMatchObject({ kind: 'worker' })

  await operations.pauseExecution.invoke(app, caller, { executionId })
  expect((await show(executionId)).execution.waitsFor).toMatchObject({ kind: 'resume' })
  await operations.resumeExecution.invoke(app, caller, { executionId, detach: true })
  await operations.cancelExecution.invoke(app, caller, { executionId })

  const { execution: shown, acts } = await show(executionId)
  expect(shown).toMatchObject({ status: 'cancelled', waitsFor: null })
  const { id: actorId, kind: actorKind } = caller.principal
  const by = { actorId, actorKind, origin: caller.origin, at: expect.stringMatching(/Z$/) }
  expect(acts).toEqual([
    { action: 'execution.pause_requested', ...by },
    { action: 'execution.resumed', ...by },
    { action: 'execution.cancel_requested', ...by },
  ])
})

it('a hold after a restore counts as an act on what had not ended, and on nothing else', async () => {
  const going = await start({ detach: true })
  const ended = await start({ detach: true })
  await operations.cancelExecution.invoke(app, caller, { executionId: ended.execution.id })

  await operations.holdExecutions.invoke(app, caller, {})

  const later = await start({ detach: true })
  const actionsOf = async (id: string) => (await show(id)).acts.map(({ action }) => action)
  expect(await actionsOf(going.execution.id)).toEqual(['executions.held'])
  expect(await actionsOf(ended.execution.id)).toEqual(['execution.cancel_requested'])
  expect(await actionsOf(later.execution.id)).toEqual([])
})
