import { ModelFailed } from '../openai/failure.ts'
import type { ReplyModel } from './model.ts'

/** As long as search leaves a hosted embedding model alone. */
const restMs = 30_000

/**
 * A model that is left alone for 30 seconds after its server gave no answer at all, so that a server that is down or
 * hangs does not hold up every run. Meanwhile it fails at once.
 */
export function withRest(model: ReplyModel, now: () => number): ReplyModel {
  let restsUntil = Number.NEGATIVE_INFINITY
  return {
    ...model,
    async answer(question, signal, log) {
      if (now() < restsUntil) {
        throw new ModelFailed(
          'unavailable',
          'The model server failed a moment ago and is left alone.',
        )
      }
      try {
        return await model.answer(question, signal, log)
      } catch (error) {
        if (error instanceof ModelFailed && isOfServer(error)) restsUntil = now() + restMs
        throw error
      }
    },
  }
}

/** Whether the failure says something of the server, and not of the one answer. */
function isOfServer({ code }: ModelFailed): boolean {
  return code !== 'refused' && code !== 'answer_invalid'
}
