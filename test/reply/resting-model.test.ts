import { expect, it } from 'vitest'
import { ModelFailed, type ModelFailureCode } from '../../src/openai/failure.ts'
import { withRest } from '../../src/reply/resting-model.ts'

const question = { name: 'q', instructions: '', input: '', schema: {} }

function failing(code: ModelFailureCode) {
  let calls = 0
  let now = 1_000
  const model = withRest(
    {
      name: 'm',
      timeouts: { replyMs: 1, inputMs: 1 },
      answer: async () => {
        calls += 1
        throw new ModelFailed(code, 'x')
      },
    },
    () => now,
  )
  return {
    ask: () => model.answer(question, AbortSignal.timeout(1_000)).catch((error) => error.code),
    calls: () => calls,
    pass: (ms: number) => {
      now += ms
    },
  }
}

it.each(['timed_out', 'unreachable', 'unavailable', 'key_rejected', 'model_unknown'] as const)(
  'leaves a model alone for 30 seconds after %s',
  async (code) => {
    const { ask, calls, pass } = failing(code)

    expect(await ask()).toBe(code)
    pass(29_999)
    expect(await ask()).toBe('unavailable')
    expect(calls()).toBe(1)
    pass(1)
    expect(await ask()).toBe(code)
    expect(calls()).toBe(2)
  },
)

it.each(['refused', 'answer_invalid'] as const)('asks again at once after %s', async (code) => {
  const { ask, calls } = failing(code)

  await ask()
  await ask()

  expect(calls()).toBe(2)
})
