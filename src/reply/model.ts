import type { Json } from '../domain/json.ts'
import type { Logger } from '../logger.ts'
import { ModelFailed } from '../openai/failure.ts'
import type { Question } from '../openai/structured-answer.ts'
import { withinTime } from '../openai/within-time.ts'

/**
 * A language model that reads input out of tickets and writes replies. It is never believed: what it reads must stand
 * in the ticket, and what it writes must follow from the record.
 */
export interface ReplyModel {
  /** Stored with what came of it. */
  readonly name: string
  readonly timeouts: ReplyModelTimeouts
  /**
   * Answers JSON that fits the question's schema, or throws as soon as `signal` is aborted. `log`: that of the request.
   *
   * @throws ModelFailed; what else is thrown counts as a failure too.
   */
  answer(question: Question, signal: AbortSignal, log?: Logger): Promise<Json>
}

export interface ReplyModelTimeouts {
  /** For a reply in all, the second try included. */
  readonly replyMs: number
  /** For reading a ticket. A run waits for it. */
  readonly inputMs: number
}

/**
 * Asks a model and gives up when the time is over, whether the model heeds its signal or not.
 *
 * @throws ModelFailed; what else the model throws comes out as it is.
 */
export function askInTime(model: ReplyModel, question: Question, timeoutMs: number): Promise<Json> {
  return withinTime(timeoutMs, (signal) => model.answer(question, signal))
}

/** Why a model gave nothing, in words that may be stored: other errors may hold anything. */
export function failureText(error: unknown): string {
  return error instanceof ModelFailed ? error.message : 'The model failed.'
}
