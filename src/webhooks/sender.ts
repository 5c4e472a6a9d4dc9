import type { Secret } from '../config/secret.ts'
import type { Delivery, DeliveryAttempt } from '../domain/webhook.ts'
import type { Outbound } from '../outbound/create-outbound.ts'
import { OutboundFailure } from '../outbound/failure.ts'
import { askedRestMs } from './retry.ts'
import { signatureHeaders } from './signature.ts'

/** Which services may be told. */
export interface WebhookOptions {
  /** Hosts, as `host` or `host:port`, that may have private addresses and may be asked without TLS. */
  readonly allowHosts: readonly string[]
  /** The addresses of a name. Default: those that this machine knows for it. */
  readonly lookup?: (hostname: string) => Promise<readonly string[]>
}

/** Sends messages. */
export interface Sender extends AsyncDisposable {
  /** Sends one, once, and tells what came of it. `now` is epoch milliseconds. */
  send(
    message: Pick<Delivery, 'id' | 'type' | 'at' | 'data'> & { readonly url: string },
    secrets: readonly Secret[],
    now: number,
    signal?: AbortSignal,
    /** Of the span that the sending is, where it is traced. */
    traceparent?: string,
  ): Promise<Sent>
}

/** What came of sending a message once, and how long the service asks not to be sent it again. */
export interface Sent {
  readonly attempt: DeliveryAttempt
  readonly askedRestMs: number
}

/** How long a service may take to answer. */
const timeoutMs = 15_000
/** More than this is not read of an answer. */
const maxBytes = 64 * 1024
/** How much of an answer is kept, for people who look for what is wrong. */
const keptCharacters = 1_024

/** Opens a sender. The client is loaded when the first message is sent: a start without any does not wait for it. */
export function openSender({ allowHosts, lookup }: WebhookOptions): Sender {
  let opened: Promise<Outbound> | undefined
  const open = async (): Promise<Outbound> => {
    const { createOutbound } = await import('../outbound/create-outbound.ts')
    return createOutbound({
      allowPrivate: allowHosts,
      timeoutMs,
      maxBytes,
      ...(lookup && { lookup }),
    })
  }
  return {
    async send({ id, type, at, data, url }, secrets, now, signal, traceparent) {
      opened ??= open()
      const outbound = await opened
      const body = JSON.stringify({ type, timestamp: at.toISOString(), data })
      const message = { id, timestamp: Math.floor(now / 1_000), body }
      const begun = performance.now()
      const { retryAfter, ...came } = await outcomeOf(
        outbound.send({
          url,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'Stepwarden-Webhooks',
            ...(traceparent !== undefined && { traceparent }),
            ...signatureHeaders(message, secrets),
          },
          body,
          ...(signal && { signal }),
        }),
      )
      const durationMs = Math.round(performance.now() - begun)
      return {
        attempt: { at: new Date(now).toISOString(), durationMs, ...came },
        askedRestMs: askedRestMs(retryAfter, now),
      }
    },
    async [Symbol.asyncDispose]() {
      await (await opened)?.close()
    },
  }
}

/** Only a status of 200 to 299 counts, whatever else is in the answer. A redirect is no delivery, and not followed. */
async function outcomeOf(
  sending: ReturnType<Outbound['send']>,
): Promise<
  Pick<DeliveryAttempt, 'status' | 'problem' | 'answer'> & { retryAfter?: string | undefined }
> {
  try {
    const { status, headers, body } = await sending
    const answer = textOf(body)
    return {
      status,
      problem: problemOf(status),
      ...(answer !== '' && { answer }),
      retryAfter: headers['retry-after'],
    }
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error
    const status = error.status ?? null
    return { status, problem: status === null ? error.message : problemOf(status) }
  }
}

function problemOf(status: number): string | null {
  return status >= 200 && status < 300 ? null : `It answered ${status}.`
}

/** What the database can store of it: no NUL, and no half of a pair where it is cut. */
function textOf(body: Buffer): string {
  return new TextDecoder().decode(body).slice(0, keptCharacters).replaceAll('\0', '').toWellFormed()
}
