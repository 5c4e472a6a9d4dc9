import { isErrorCode, restoreError, ServiceError } from '../domain/errors.ts'
import { headerOfField, type Method, places, takesQuery } from '../http/places.ts'
import type { Client } from '../library.ts'

export interface ClientOptions {
  /** Of the server: `https://stepwarden.example.com`. */
  readonly url: string
  /** An API key, or a function that answers the credential of the moment. */
  readonly key: string | (() => string | Promise<string>)
  /** How long a start waits for its run, from 0 to 60; default 30. */
  readonly waitSeconds?: number
  /** In place of the global one. */
  readonly fetch?: typeof fetch
}

const defaultWaitSeconds = 30

/**
 * The operations of a server, as `createStepwarden` has them of this process: the same names, input and output.
 *
 * @throws (each of them) ServiceError with the code and details that the server tells; `ANSWER_UNUSABLE` when what answers is no
 *   Stepwarden of this version; `RUN_UNFINISHED` of a start whose run takes longer than `waitSeconds`. What the network says comes as it is: whether a change was made is not known then.
 */
export function connectStepwarden(options: ClientOptions): Client {
  // Each entry is made from the place of its own name, which the compiler cannot follow through `fromEntries`.
  return Object.fromEntries(
    Object.entries(places).map(([name, place]) => [
      name,
      (input: Readonly<Record<string, unknown>> = {}) => call(options, firstOf(place), input),
    ]),
  ) as unknown as Client
}

function firstOf(place: string | readonly string[]): readonly [Method, string] {
  const [method, path] = ([place].flat()[0] ?? '').split(' ')
  return [method as Method, path ?? '']
}

async function call(
  { url, key, waitSeconds = defaultWaitSeconds, fetch: ask = fetch }: ClientOptions,
  [method, place]: readonly [Method, string],
  input: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const path = place.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = rest.get(field)
    rest.delete(field)
    return encodeURIComponent(String(value))
  })
  const headers = new Headers({
    accept: 'application/json',
    authorization: `Bearer ${typeof key === 'string' ? key : await key()}`,
    // What starts no run takes no notice of it.
    prefer: `wait=${waitSeconds}`,
  })
  for (const [field, name] of headerOfField) {
    if (!rest.has(field)) continue
    headers.set(name, field === 'revision' ? `"${rest.get(field)}"` : String(rest.get(field)))
    rest.delete(field)
  }
  const target = new URL(`v1${path}`, url.endsWith('/') ? url : `${url}/`)
  let body: string | undefined
  if (takesQuery(method)) {
    for (const [name, value] of rest) {
      for (const one of [value].flat()) target.searchParams.append(name, String(one))
    }
  } else {
    headers.set('content-type', 'application/json')
    body = JSON.stringify(Object.fromEntries(rest))
  }
  const response = await ask(target, {
    method,
    headers,
    // Followed, a POST may become the GET of a list, or a ticket go to another host.
    redirect: 'manual',
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  const answer = parsed(text)
  if (!response.ok || answer === undefined) throw errorOf(response.status, text)
  if (response.status === 202) refuseUnfinished(answer, waitSeconds)
  return answer
}

/** A run that is left to a worker is told of with its record; of one that goes on behind its answer there is the id alone. */
function refuseUnfinished(answer: unknown, waitedSeconds: number): void {
  const { executionId, execution } = Object(answer)
  if (execution === undefined) {
    throw new ServiceError('RUN_UNFINISHED', { executionId, waitedSeconds })
  }
}

/** The error that the server has told; `ANSWER_UNUSABLE` for what is none that is known here. */
export function errorOf(status: number, text: string): ServiceError {
  const { code, details } = Object(parsed(text))
  try {
    if (isErrorCode(code)) return restoreError(code, details)
  } catch {
    // A server of another version tells other details of that code, which its message cannot be made of.
  }
  return new ServiceError('ANSWER_UNUSABLE', { status, found: text.slice(0, 200) })
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
