import { afterAll, beforeAll, expect, it } from 'vitest'
import { createGuidedAgent } from '../../src/guided/guided-agent.ts'
import { operations } from '../../src/operations/registry.ts'
import { createOpenAiReplyModel } from '../../src/reply/openai-model.ts'
import { callerOf } from '../support/caller.ts'
import { startOpenAiServer } from '../support/openai-server.ts'
import { inputOf, writes } from '../support/scripted-model.ts'
import { meterDefinition, openWorld } from './world.ts'

const server = await startOpenAiServer()
afterAll(() => server[Symbol.asyncDispose]())
const timeouts = { replyMs: 3_000, inputMs: 2_000 }
const replyModel = createOpenAiReplyModel(server.connection, 'gpt-test', timeouts)
const { app, client } = await openWorld('library', { replyModel })

const definition = {
  ...meterDefinition,
  input: {
    type: 'object',
    required: ['meter'],
    properties: { meter: { type: 'string', minLength: 4, description: 'the name of your meter' } },
  },
  steps: meterDefinition.steps.slice(0, 1),
  completionConditions: [{ text: 'It was read', when: 'has(steps.look.output.state)' }],
  replies: {},
}
const agent = createGuidedAgent(client, {
  loop: () => Promise.reject(new Error('the loop was asked')),
})
const task = 'My meter is stuck, please reset my meter, the one that we call Old Betty'

beforeAll(async () => {
  await operations.createProcedure.invoke(app, callerOf(), { definition })
  await operations.activateVersion.invoke(app, callerOf(), {
    ...{ procedureKey: definition.key, versionNumber: 1, seenActive: null },
  })
})

it('has the input read by the model of the service, and the reply written by it', async () => {
  server.respond({ json: { meter: ['Old Betty'] } }, writes('Your request is resolved.'))

  const answer = await agent.handle(task)

  expect(answer).toMatchObject({
    ...{ method: 'procedure', success: true, result: { state: 'stuck' } },
    reply: 'Your request is resolved.',
  })
  expect(server.requests).toHaveLength(2)
  const [asked] = server.requests
  expect(JSON.stringify(asked && inputOf(asked))).toContain('the name of your meter')
  const { execution } = await client.getExecution({ executionId: Object(answer).executionId })
  expect(execution).toMatchObject({
    ...{ input: { meter: 'Old Betty' }, inputSources: { meter: 'model' } },
  })
})

it('takes no value that does not stand in the text: the run ends for want of it', async () => {
  server.respond({ json: { meter: ['New Betty'] } })

  const answer = await agent.handle(task)

  expect(answer).toMatchObject({ success: false, status: 'escalated', stepsExecuted: 0 })
  const { execution } = await client.getExecution({ executionId: Object(answer).executionId })
  expect(execution.reasonCode).toBe('missing_input')
})
