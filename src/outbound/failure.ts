/**
 * What is known of a request that came to no answer which can be read:
 *
 * - `refused`: its URL or the address behind it is not allowed. Nothing was sent.
 * - `unsent`: no connection came about. Nothing was sent.
 * - `unknown`: the connection was there, and no answer came. It may have arrived, or not.
 * - `unread`: the service answered, with `status`; what else it said is too large, encoded or cut off.
 */
export type OutboundFailureKind = 'refused' | 'unsent' | 'unknown' | 'unread'

/** Why a request came to no answer. Its message names the host, and never a header, a query or a body. */
export class OutboundFailure extends Error {
  override readonly name = 'OutboundFailure'
  readonly kind: OutboundFailureKind
  /** Of an answer that is `unread`. */
  readonly status: number | undefined

  constructor(kind: OutboundFailureKind, message: string, options?: FailureOptions) {
    super(message, options)
    this.kind = kind
    this.status = options?.status
  }
}

interface FailureOptions extends ErrorOptions {
  readonly status?: number
}
