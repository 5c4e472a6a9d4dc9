import { APIConnectionError, APIError } from 'openai'
import { ModelFailed } from './failure.ts'

/** What an error that comes out of a call of the SDK means. */
export function toModelFailure(error: unknown): unknown {
  if (error instanceof ModelFailed) return error
  if (error instanceof APIConnectionError) {
    // The SDK wraps whatever is thrown while it fetches.
    if (error.cause instanceof ModelFailed) return error.cause
    return new ModelFailed('unreachable', 'The model server cannot be reached.')
  }
  // The SDK reads the body of an answer without a guard: a SyntaxError is broken JSON, and a TypeError comes of a body
  // that breaks off or is no JSON at all. Neither is kept as a cause: such errors quote what came back.
  if (error instanceof SyntaxError || error instanceof TypeError) {
    return new ModelFailed('unavailable', 'The model server gave a broken answer.')
  }
  if (!(error instanceof APIError)) return error
  const { status, code } = error
  const says = `The model server answers ${status ?? 'nothing'}`
  if (status === 401 || status === 403) {
    return new ModelFailed('key_rejected', `${says}: check OPENAI_API_KEY.`)
  }
  if (status === 404 || code === 'model_not_found') {
    return new ModelFailed(
      'model_unknown',
      `${says}: check the name of the model and OPENAI_BASE_URL.`,
    )
  }
  if (status !== undefined && status >= 300 && status < 400) {
    return new ModelFailed('model_unknown', `${says}, and is not followed: check OPENAI_BASE_URL.`)
  }
  if (status === 429) return new ModelFailed('rate_limited', `${says}: too many requests.`)
  if (status === undefined || status === 408 || status === 409 || status >= 500) {
    return new ModelFailed('unavailable', `${says}.`)
  }
  return new ModelFailed('request_rejected', `${says}: it does not take this request.`)
}
