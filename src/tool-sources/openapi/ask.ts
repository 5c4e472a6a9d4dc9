import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts'
import { findRepeatedName } from '../../domain/repeated-name.ts'
import { ToolRefused } from '../../domain/tool.ts'
import type { Outbound, OutboundAnswer } from '../../outbound/create-outbound.ts'
import { OutboundFailure } from '../../outbound/failure.ts'
import { type Credentials, type Mask, revealedHeaders } from '../credentials.ts'
import { failureError, saidText, statusError } from '../outcome.ts'
import { prune } from '../prune.ts'
import type { Binding } from './binding.ts'

/** What is needed to ask a service, besides what is asked. */
export interface Asking {
  readonly outbound: Outbound
  readonly credentials: Credentials
  readonly mask: Mask
}

/** Where the idempotency key of a call goes. */
export interface KeyPlace {
  readonly header?: string
  readonly field?: string
}

export interface Call {
  readonly input: JsonObject
  /** Values of the key's places, for this call. */
  readonly key?: { readonly value: string; readonly place: KeyPlace }
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Absent where the call is not traced. */
  readonly traceparent?: string | undefined
}

/**
 * Asks an operation once.
 *
 * @throws ToolRefused, ToolFailed when it certainly came to nothing; any other error when nobody knows.
 */
export async function ask(asking: Asking, binding: Binding, call: Call): Promise<Json> {
  const answer = await send(asking, binding, call)
  return readAnswer(asking, binding, answer)
}

/** Like `ask`; undefined when the service says that there is no such thing. */
export async function askFor(
  asking: Asking,
  binding: Binding,
  call: Call,
): Promise<Json | undefined> {
  const answer = await send(asking, binding, call)
  return answer.status === 404 ? undefined : readAnswer(asking, binding, answer)
}

async function send(
  { outbound, credentials }: Asking,
  binding: Binding,
  { input, key, signal, timeoutMs, traceparent }: Call,
): Promise<OutboundAnswer> {
  const url = urlOf(binding, input)
  for (const [name, secret] of Object.entries(credentials.query)) {
    url.searchParams.set(name, secret.reveal())
  }
  const body = bodyOf(binding, input, key)
  try {
    return await outbound.send({
      url: url.href,
      method: binding.method,
      headers: {
        accept: 'application/json, text/plain;q=0.5',
        ...(traceparent !== undefined && { traceparent }),
        ...headersOf(binding, input),
        ...(key?.place.header !== undefined && { [key.place.header.toLowerCase()]: key.value }),
        ...revealedHeaders(credentials),
        ...(body !== undefined && { 'content-type': binding.body?.mediaType ?? '' }),
      },
      ...(body !== undefined && { body }),
      signal,
      timeoutMs,
    })
  } catch (error) {
    throw error instanceof OutboundFailure ? failureError(url.host, error) : error
  }
}

/**
 * The URL of a call. A value in the path stays one segment of it: one that would be read as another path (`..`), or that
 * leaves the segment empty, is refused.
 */
function urlOf({ url: template, parameters }: Binding, input: JsonObject): URL {
  const path = template.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const value = parameterText(input[name])
    if (value === '') throw new ToolRefused(`'${name}' is empty, and stands in the path`)
    return encodeURIComponent(value)
  })
  const url = new URL(path)
  if (url.origin + url.pathname !== new URL(template).origin + pathOf(path)) {
    throw new ToolRefused(`a value in the path of ${template} would lead to another path`)
  }
  for (const { name, in: where, explode } of parameters) {
    const value = input[name]
    if (where !== 'query' || value === undefined) continue
    const texts = Array.isArray(value) ? value.map(parameterText) : [parameterText(value)]
    for (const text of explode ? texts : [texts.join(',')]) url.searchParams.append(name, text)
  }
  return url
}

/** What stands behind the host in a URL that was put together, as it was written. */
function pathOf(url: string): string {
  return /^https?:\/\/[^/]*(\/.*)?$/.exec(url)?.[1] ?? '/'
}

function headersOf({ parameters }: Binding, input: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { name, in: where } of parameters) {
    const value = input[name]
    if (where !== 'header' || value === undefined) continue
    const text = parameterText(value)
    if (!/^[\x20-\x7e]*$/.test(text)) {
      throw new ToolRefused(`'${name}' is sent as a header, which holds printable ASCII only`)
    }
    headers[name.toLowerCase()] = text
  }
  return headers
}

function parameterText(value: Json | undefined): string {
  if (Array.isArray(value)) return value.map(parameterText).join(',')
  return value === undefined || isJsonObject(value) ? '' : String(value)
}

function bodyOf({ body }: Binding, input: JsonObject, key: Call['key']): string | undefined {
  if (body === undefined) return undefined
  if (body.fields === 'whole') {
    return input.body === undefined ? undefined : JSON.stringify(input.body)
  }
  const given = body.fields.flatMap((name) => {
    const value = name === key?.place.field ? key.value : input[name]
    return value === undefined ? [] : [[name, value]]
  })
  return JSON.stringify(Object.fromEntries(given))
}

function readAnswer({ mask }: Asking, binding: Binding, answer: OutboundAnswer): Json {
  const { host } = new URL(binding.url)
  const { status, headers, body } = answer
  if (status < 200 || status > 299) {
    throw statusError(host, status, saidText(parsed(body), mask))
  }
  const known =
    binding.answers.find((one) => one.status === String(status)) ??
    binding.answers.find((one) => one.status === '2XX')
  // A success that is not described may be anybody's: a page to log in, a queue in front.
  if (known === undefined) throw new Error(`${host} answered ${status}, which is not described`)
  if (known.content === 'none') return {}
  const { 'content-type': type = '' } = headers
  if (known.content === 'text') {
    if (/^text\/plain\b/i.test(type)) return mask(body.toString())
    throw new Error(`${host} answered ${status} with ${type || 'no content type'}, and no text`)
  }
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) {
    throw new Error(`${host} answered ${status} with ${type || 'no content type'}, and no JSON`)
  }
  const value = parsed(Buffer.from(mask(body.toString())))
  if (value === undefined) throw new Error(`${host} answered ${status} with malformed JSON`)
  return prune(value, known.schema)
}

/** A body as JSON, or undefined, also where it names something twice in one object: nobody knows which of them holds. */
function parsed(body: Buffer): Json | undefined {
  const text = body.toString()
  try {
    const value: Json = JSON.parse(text)
    return findRepeatedName(text) === undefined ? value : undefined
  } catch {
    // What cannot be read is told by whoever needs it.
    return undefined
  }
}
