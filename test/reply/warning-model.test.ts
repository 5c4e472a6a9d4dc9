import { expect, it } from 'vitest'
import { createLogger } from '../../src/logger.ts'
import { ModelFailed } from '../../src/openai/failure.ts'
import type { ReplyModel } from '../../src/reply/model.ts'
import { withRest } from '../../src/reply/resting-model.ts'
import { withWarnings } from '../../src/reply/warning-model.ts'

const timeouts = { replyMs: 1_000, inputMs: 1_000 }
const question = { name: 'reply', instructions: '', input: 'secret words', schema: {} }

function open(answer: ReplyModel['answer']) {
  const lines: string[] = []
  const log = createLogger('warn', { write: (text) => lines.push(text) })
  const model = withRest(withWarnings({ name: 'gpt-test', timeouts, answer }, log), () => 0)
  const ask = () => model.answer(question, new AbortController().signal)
  return { ask, lines }
}

it('warns once of each call that fails, and not while the model rests', async () => {
  const { ask, lines } = open(async () => {
    throw new ModelFailed('key_rejected', 'The model server answers 401.')
  })

  await expect(ask()).rejects.toMatchObject({ code: 'key_rejected' })
  await expect(ask()).rejects.toMatchObject({ code: 'unavailable' })

  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 40, model: 'gpt-test', asked: 'reply', problem: 'The model server answers 401.' },
  ])
})

it('says nothing of what was asked or what another error holds', async () => {
  const { ask, lines } = open(async () => {
    throw new Error('sk-key and secret words')
  })

  await expect(ask()).rejects.toThrow()

  expect(lines.join('')).not.toMatch(/sk-key|secret words/)
})

it('is silent about a model that answers', async () => {
  const { ask, lines } = open(async () => ({ ok: true }))

  expect(await ask()).toEqual({ ok: true })
  expect(lines).toEqual([])
})
