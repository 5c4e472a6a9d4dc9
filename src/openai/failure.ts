/**
 * Why a model gave no usable answer. `refused`: it would not answer. `answer_invalid`: it answered, with something
 * else than was asked for. `request_rejected`: the server does not take such a request from anyone.
 */
export type ModelFailureCode =
  | 'timed_out'
  | 'unreachable'
  | 'unavailable'
  | 'rate_limited'
  | 'key_rejected'
  | 'model_unknown'
  | 'request_rejected'
  | 'refused'
  | 'answer_invalid'

/**
 * A model that gave no usable answer. The message is for operators; it holds nothing of what was sent or came back,
 * and nothing that a server said: servers repeat keys and texts in their errors. For the same reason it has no cause.
 */
export class ModelFailed extends Error {
  override readonly name = 'ModelFailed'
  readonly code: ModelFailureCode

  constructor(code: ModelFailureCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Whether the same call may go well a moment later. */
export function isPassing({ code }: ModelFailed): boolean {
  return code === 'unreachable' || code === 'unavailable' || code === 'rate_limited'
}
