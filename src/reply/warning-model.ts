import type { Logger } from '../logger.ts'
import { failureText, type ReplyModel } from './model.ts'

/** A model of which each call that fails is one warning in the log: a run goes on without it, and looks well. */
export function withWarnings(model: ReplyModel, log: Logger, what = 'the reply model'): ReplyModel {
  const { name, timeouts } = model
  return {
    name,
    timeouts,
    async answer(question, signal, ofRequest = log) {
      try {
        return await model.answer(question, signal)
      } catch (error) {
        ofRequest.warn(
          { model: name, asked: question.name, problem: failureText(error) },
          `${what} gave no answer`,
        )
        throw error
      }
    },
  }
}
