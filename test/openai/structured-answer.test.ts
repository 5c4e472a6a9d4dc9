import { afterAll, describe, expect, it } from 'vitest'
import { createOpenAiClient } from '../../src/openai/client.ts'
import { askForJson } from '../../src/openai/structured-answer.ts'
import { startOpenAiServer } from '../support/openai-server.ts'

const server = await startOpenAiServer()
afterAll(() => server[Symbol.asyncDispose]())

const question = {
  name: 'answer',
  instructions: 'Answer.',
  input: '{}',
  schema: {
    type: 'object',
    properties: { word: { type: 'string' } },
    required: ['word'],
    additionalProperties: false,
  },
}

function ask() {
  const client = createOpenAiClient(server.connection)
  return askForJson(client, 'gpt-test', question, AbortSignal.timeout(5_000))
}

describe('askForJson', () => {
  it('answers the JSON that the model gave, and has the provider keep nothing', async () => {
    server.respond({ json: { word: 'yes' } })

    expect(await ask()).toEqual({ word: 'yes' })
    expect(server.requests[0]?.body).toMatchObject({
      model: 'gpt-test',
      instructions: 'Answer.',
      input: '{}',
      store: false,
      text: { format: { type: 'json_schema', name: 'answer', strict: true } },
    })
  })

  it.each([
    ['refusal', { content: [{ text: '{"word": "yes"}', refusal: null }] }],
    ['refusal, an empty text', { content: [{ text: '{"word": "yes"}', refusal: '' }] }],
    ['text', { content: [{ text: null }, { text: '{"word": "yes"}' }] }],
  ])('takes %s of null for none, as compatible servers write it', async (_, item) => {
    const output = [{ content: null }, item]
    server.respond({ raw: JSON.stringify({ status: null, output }) })

    expect(await ask()).toEqual({ word: 'yes' })
  })

  it.each([
    ['refused', { refusal: 'No.' }],
    ['answer_invalid', { text: '{"word": ' }],
    ['answer_invalid', { text: '' }],
    ['answer_invalid', { json: { word: 5 } }],
    ['answer_invalid', { json: { word: 'a', more: 1 } }],
    ['answer_invalid', { text: '{"word": "\\ud800"}' }],
    ['answer_invalid', { cutOff: 'max_output_tokens' }],
    ['answer_invalid', { raw: '{"object": "response", "output": [{"content": 5}]}' }],
  ] as const)('fails as %s after %j', async (code, step) => {
    server.respond(step)

    await expect(ask()).rejects.toMatchObject({ name: 'ModelFailed', code })
  })
})
