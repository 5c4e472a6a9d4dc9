import { ToolFailed, ToolRefused } from '../domain/tool.ts'
import type { OutboundFailure } from '../outbound/failure.ts'
import type { Mask } from './credentials.ts'

/** A refusal that may be of what an earlier call with this key has done already. */
export class ToolConflict extends ToolRefused {}

/** The longest that is kept of what a service says went wrong. */
const maxMessageLength = 300

/**
 * What a status other than success says of a call: one of 4xx that it was not made, 408 and 429 that it may be made later.
 * Of all others, those of 5xx among them, nobody knows whether it was made.
 */
export function statusError(host: string, status: number, said: string): Error {
  const message = `${host} answered ${status}${said === '' ? '' : `: ${said}`}`
  if (status === 408 || status === 429) return new ToolFailed(message)
  if (status === 409) return new ToolConflict(message)
  return status >= 400 && status < 500 ? new ToolRefused(message) : new Error(message)
}

/** What the client for other services says of a call. */
export function failureError(host: string, failure: OutboundFailure): Error {
  const { kind, status, message } = failure
  switch (kind) {
    case 'refused':
      return new ToolRefused(message)
    case 'unsent':
      return new ToolFailed(message)
    case 'unread':
      return status !== undefined && status >= 400 ? statusError(host, status, '') : failure
    case 'unknown':
      return failure
    default:
      return kind satisfies never
  }
}

/**
 * What a service says went wrong, from the body of its answer: a code and a sentence, where it has them in one of the
 * usual places. It is somebody else's text: cut, on one line, and without secrets.
 */
export function saidText(body: unknown, mask: Mask): string {
  const whole = Object(body)
  const inner = typeof whole.error === 'object' && whole.error !== null ? whole.error : whole
  const first = (...values: readonly unknown[]) =>
    values.find((value) => typeof value === 'string' && value.trim() !== '')
  const code = first(inner.code, inner.type, whole.code)
  const text = first(
    ...[inner.message, inner.detail, inner.title, inner.error_description],
    ...[whole.error, whole.message, whole.detail],
  )
  const parts = [code === undefined ? '' : `(${String(code)})`, text ?? '']
  return oneLine(parts.join(' '), mask)
}

/** Somebody else's text on one line, cut, and without secrets. */
export function oneLine(text: string, mask: Mask): string {
  // The class of all that is no visible character, spaces and line ends among them.
  const line = mask(text.slice(0, 10_000))
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
  return line.length > maxMessageLength ? `${line.slice(0, maxMessageLength)}…` : line
}
