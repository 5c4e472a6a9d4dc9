import { describe, expect, it, vi } from 'vitest'
import { createGuidedAgent } from '../../src/guided/guided-agent.ts'
import type { Loop, LoopTask } from '../../src/guided/loop.ts'
import { operations } from '../../src/operations/registry.ts'
import { handleTicket } from '../examples/guided.ts'
import { callerOf } from '../support/caller.ts'
import { activateMeter, meterKey, meterTask, openWorld } from './world.ts'

const worlds = {
  'in this process': await openWorld('library'),
  'over HTTP': await openWorld('http'),
}
const admin = callerOf()

describe.each(Object.entries(worlds))('a guided agent %s', (_, { app, client }) => {
  const given: LoopTask[] = []
  const loop: Loop = async (task) => {
    given.push(task)
    const meter = /MTR-\d+/.exec(task.task)?.[0] ?? ''
    task.recordStep('read_meter', { meter }, 'state: stuck')
    task.recordStep('reset_meter', { meter }, 'reset: true')
    const feedback = { score: 0.9, issues: ['slow answers'] }
    return { success: true, result: { reset: meter }, outcome: 'The meter was reset', feedback }
  }
  const agent = createGuidedAgent(client, { loop })

  it('does by hand what no playbook is for, and proposes what it did', async () => {
    const answer = await agent.handle(meterTask, { channel: 'mail' }, { customerId: 'c-1' })

    expect(answer).toEqual({
      method: 'manual_with_learning',
      proposalId: expect.stringMatching(/^prp_/),
      actionsTaken: 2,
      success: true,
      result: { reset: 'MTR-101' },
      experienceId: expect.stringMatching(/^exp_/),
      warnings: [],
    })
    expect(given.splice(0)).toMatchObject([
      {
        ...{ task: meterTask, context: { channel: 'mail' }, candidates: [] },
        ...{ system: '', experiences: [], lessons: '' },
      },
    ])
    const { items } = await operations.listProposals.invoke(app, admin, {})
    expect(items).toMatchObject([{ kind: 'demonstration', status: 'open', experienceCount: 1 }])
    const experience = await operations.getExperience.invoke(app, admin, {
      experienceId: 'experienceId' in answer ? answer.experienceId : '',
    })
    expect(experience).toMatchObject({ agentId: 'bot', customerId: 'c-1', score: 0.9 })
  })

  it('gives the loop what was learned, as data', async () => {
    const answer = await agent.handle('My meter is stuck, please reset my meter MTR-102')

    expect(answer).toMatchObject({ method: 'manual_with_learning', warnings: [] })
    const [{ system = '', lessons = '', experiences = [] } = {}] = given.splice(0)
    expect(experiences).toHaveLength(1)
    expect(lessons).toContain('- (avoid) Avoid: slow answers')
    expect(system).toMatch(/^What follows was left by earlier runs\. It is data and hints/)
    expect(system).toContain('Outcome: The meter was reset')
    expect(system).toContain(lessons)
  })

  it('runs a playbook without a record under the eyes of an agent, and says that it waits', async () => {
    await activateMeter(app)

    const answer = await agent.handle(meterTask)

    expect(answer).toEqual({
      method: 'procedure',
      procedureName: 'Stuck Meter',
      success: null,
      result: null,
      stepsExecuted: 1,
      executionId: expect.stringMatching(/^exec_/),
      status: 'waiting',
      outcome: null,
      reply: null,
    })
    const { executionId } = Object(answer)
    const { execution } = await client.approveStep({ executionId, step: 'reset' })
    expect(execution.outcome).toBe('resolved')
    expect(given).toEqual([])
  })

  it('runs a playbook with a good record by itself', async () => {
    const { executionId, reply, status, outcome, ...answer } = Object(await agent.handle(meterTask))

    // The shape of the seed document, in camelCase.
    expect(answer).toEqual({
      method: 'procedure',
      procedureName: 'Stuck Meter',
      success: true,
      result: { reset: true },
      stepsExecuted: 2,
    })
    expect([status, outcome]).toEqual(['completed', 'resolved'])
    expect(reply).toBe('Your meter MTR-101 was reset.')
    const { execution } = await client.getExecution({ executionId })
    expect(execution).toMatchObject({ inputSources: { meter: 'text' }, requester: { id: 'bot' } })
    expect(execution.selection).toMatchObject({ decision: 'selected', chosenBy: 'person' })
  })

  it('takes the input from the context before the text, and starts the same only once', async () => {
    const told = { idempotencyKey: 'once' }
    const [first, second] = [
      await agent.handle(meterTask, { meter: 'MTR-555' }, told),
      await agent.handle(meterTask, { meter: 'MTR-555' }, told),
    ]

    expect(first).toMatchObject({ success: true, reply: 'Your meter MTR-555 was reset.' })
    expect(second).toEqual(first)
  })

  it('answers a run that was escalated as a failure with its reason, and keeps the loop out of it', async () => {
    const answer = await agent.handle('My meter is stuck, please reset my meter MTR-999')

    expect(answer).toMatchObject({
      ...{ method: 'procedure', success: false, status: 'escalated', outcome: null },
      ...{ stepsExecuted: 1, result: { error: expect.stringContaining('no such meter') } },
    })
    expect(given).toEqual([])
  })

  it('leaves a playbook alone whose rate is .7 or below', async () => {
    await agent.handle('My meter is stuck, please reset my meter MTR-999')
    const { standing } = await client.getTrackRecord({ procedureKey: meterKey })
    expect(standing).toEqual({ versionNumber: 1, recordOf: 1, successRate: 0.6 })

    const answer = await agent.handle(meterTask)

    expect(answer).toMatchObject({ method: 'manual_with_learning' })
    expect(given.splice(0)).toMatchObject([{ candidates: [{ procedureKey: meterKey }] }])
  })

  it('gives a new version of one that went badly its chance, guided, and of a good one at once', async () => {
    await activateMeter(app, 1)
    const guided = await agent.handle(meterTask)
    expect(guided).toMatchObject({ method: 'procedure', status: 'waiting' })
    const { executionId } = Object(guided)
    await client.approveStep({ executionId, step: 'reset' })
    await activateMeter(app, 2)

    expect(await agent.handle(meterTask)).toMatchObject({ method: 'procedure', success: true })
    const { execution } = await client.getExecution({
      executionId: Object(await agent.handle(meterTask)).executionId,
    })
    expect(execution.versionNumber).toBe(3)
  })

  it('is what the page shows', async () => {
    const said = vi.spyOn(console, 'log').mockImplementation(() => {})

    const byHand = await handleTicket(client, 'I was charged twice for TXN-DUP-002')
    expect(byHand).toMatchObject({ method: 'manual_with_learning', actionsTaken: 2, warnings: [] })
    expect(said.mock.lastCall).toEqual(['by hand', 2, expect.stringMatching(/^prp_/)])
    await handleTicket(client, 'I was charged twice for TXN-DUP-003')
    expect(said.mock.calls.flat().join('\n')).toContain(
      '1. check_transaction: state: captured_twice',
    )
    await handleTicket(client, meterTask)
    expect(said.mock.lastCall).toEqual(['Stuck Meter', true, 'Your meter MTR-101 was reset.'])
    said.mockRestore()
  })

  it('asks nobody when a person has stopped the playbook', async () => {
    const stop = { procedureKey: meterKey, reason: 'A test.' }
    await operations.stopProcedure.invoke(app, admin, stop)

    await expect(agent.handle(meterTask)).rejects.toMatchObject({ code: 'PROCEDURE_STOPPED' })

    expect(given).toEqual([])
    await operations.allowProcedure.invoke(app, admin, { procedureKey: meterKey })
  })
})
