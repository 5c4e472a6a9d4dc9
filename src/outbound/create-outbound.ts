import { lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector, Client, type Dispatcher } from 'undici'
import { addressProblem } from './address.ts'
import { OutboundFailure } from './failure.ts'
import { guardedUrl } from './guarded-url.ts'
import { type HostList, hostList } from './host-list.ts'

export interface OutboundOptions {
  /** Hosts, as `host` or `host:port`, that may have loopback and private addresses and may be asked without TLS. */
  readonly allowPrivate: readonly string[]
  /** For a whole request, from the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number
  /** The most that is read of the body of an answer. */
  readonly maxBytes: number
  /** The addresses of a name. Default: those that this machine knows for it. */
  readonly lookup?: (hostname: string) => Promise<readonly string[]>
}

export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Ends it early, as the time limit does. */
  readonly signal?: AbortSignal
  /** In place of the client's. */
  readonly timeoutMs?: number
  /**
   * How many redirects of a GET are followed, 0 to 3, with the same scheme, host and port alone. Any other comes out as
   * the answer that it is. Default 0.
   */
  readonly redirects?: number
}

export interface OutboundAnswer {
  readonly status: number
  /** By names in lower case; what was sent more than once is joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Asks other services, and no address inside. */
export interface Outbound {
  /**
   * Sends one request, once, on a connection of its own, and reads the whole answer, whatever its status is.
   *
   * @throws OutboundFailure whose `kind` says whether it was sent.
   */
  send(request: OutboundRequest): Promise<OutboundAnswer>
  /** Ends what is under way; whatever is sent after that is refused. */
  close(): Promise<void>
}

/**
 * Makes a client for requests to services that others run, where what is asked may be chosen by somebody who is not
 * trusted. An address is judged when the connection is made to it, so that a name which points inside, or does so only
 * the second time, leads nowhere.
 *
 * No connection serves two requests: a request on one that the other side is about to close is lost, and nobody can say
 * whether it arrived.
 *
 * @throws TypeError for an entry of `allowPrivate` that is no host.
 * @see docs/decisions/0021-outside.md
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const allowPrivate = hostList(options.allowPrivate)
  const open = new Set<Client>()
  let isClosed = false
  return {
    async send(request) {
      if (isClosed) throw new OutboundFailure('refused', 'The client is closed.')
      const limit = AbortSignal.timeout(request.timeoutMs ?? options.timeoutMs)
      const signal = request.signal === undefined ? limit : AbortSignal.any([request.signal, limit])
      let url = guardedUrl(request.url, allowPrivate)
      for (let left = request.redirects ?? 0; ; left -= 1) {
        const answer = await sendOnce({ ...request, signal }, url, allowPrivate, options, open)
        const next = left > 0 && request.method === 'GET' ? redirectOf(answer, url) : undefined
        if (next === undefined) return answer
        url = guardedUrl(next.href, allowPrivate)
      }
    },
    async close() {
      isClosed = true
      await Promise.all([...open].map((client) => client.destroy()))
    },
  }
}

/** Where an answer sends to, if that is on the same host. */
function redirectOf({ status, headers }: OutboundAnswer, from: URL): URL | undefined {
  const { location = '' } = headers
  if (![301, 302, 303, 307, 308].includes(status) || !URL.canParse(location, from.href))
    return undefined
  const to = new URL(location, from)
  return to.host === from.host && to.protocol === from.protocol ? to : undefined
}

async function sendOnce(
  { method, headers = {}, body, signal }: OutboundRequest & { readonly signal: AbortSignal },
  url: URL,
  allowPrivate: HostList,
  options: OutboundOptions,
  open: Set<Client>,
): Promise<OutboundAnswer> {
  let isConnected = false
  let status: number | undefined
  const connect = guardedConnector(url, allowPrivate, options)
  const client = new Client(url.origin, {
    connect: (target, callback) =>
      connect(target, (...result) => {
        isConnected = result[0] === null
        callback(...result)
      }),
    // One request for a connection, which ends with it.
    pipelining: 0,
    // The time limit is one for the whole.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  open.add(client)
  const end = () => void client.destroy(timeLimitError(signal)).catch(() => {})
  signal.addEventListener('abort', end)
  try {
    signal.throwIfAborted()
    const response = await client.request({
      path: url.pathname + url.search,
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      body: body ?? null,
    })
    status = response.statusCode
    return { status, headers: joined(response.headers), body: await read(response, options) }
  } catch (error) {
    if (error instanceof OutboundFailure) throw error
    const reason = reasonOf(signal.aborted ? timeLimitError(signal) : error)
    if (status !== undefined) {
      const message = `${url.host} answered ${status}, and the rest was cut off: ${reason}.`
      throw new OutboundFailure('unread', message, { cause: error, status })
    }
    throw isConnected
      ? new OutboundFailure('unknown', `${url.host} gave no answer: ${reason}.`, { cause: error })
      : new OutboundFailure('unsent', `${url.host} was not reached: ${reason}.`, { cause: error })
  } finally {
    signal.removeEventListener('abort', end)
    open.delete(client)
    await client.destroy()
  }
}

/** Connects to addresses that were judged, and to no other: they are looked up once, here. */
function guardedConnector(url: URL, allowPrivate: HostList, options: OutboundOptions) {
  const isPrivateAllowed = allowPrivate.includes(url)
  const find = options.lookup ?? addressesOf
  const judged = async (hostname: string): Promise<readonly string[]> => {
    const addresses = await find(hostname)
    for (const address of addresses) {
      const problem = addressProblem(address, isPrivateAllowed)
      if (problem !== undefined) {
        throw new OutboundFailure('refused', `${url.host} is not allowed: ${problem}.`)
      }
    }
    if (addresses.length === 0) {
      throw new OutboundFailure('unsent', `${url.host} was not reached: its name has no address.`)
    }
    return addresses
  }
  // It is only asked for names: an address in the URL has been judged with it.
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    judged(hostname).then(
      ([first = '', ...rest]) => {
        if (!all) return callback(null, first, isIP(first))
        callback(
          null,
          [first, ...rest].map((address) => ({ address, family: isIP(address) })),
        )
      },
      (error) => callback(error, ''),
    )
  }
  return buildConnector({ lookup, timeout: 0 })
}

async function addressesOf(hostname: string): Promise<readonly string[]> {
  const found = await systemLookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

/** Reads a body to its end, or to where it is too large: then nothing more of it is taken. */
async function read(
  { body, statusCode: status, headers }: Dispatcher.ResponseData,
  { maxBytes }: OutboundOptions,
): Promise<Buffer> {
  const unread = (problem: string) =>
    new OutboundFailure('unread', `The service answered ${status}, ${problem}.`, { status })
  const { 'content-encoding': encoding = 'identity' } = joined(headers)
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw unread('compressed, although it was asked not to')
  }
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw unread(`with more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function joined(headers: Dispatcher.ResponseData['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  )
}

function timeLimitError({ reason }: AbortSignal): Error {
  const isLimit = reason instanceof Error && reason.name === 'TimeoutError'
  return new Error(isLimit ? 'the time limit has passed' : 'it was ended', { cause: reason })
}

function reasonOf(error: unknown): string {
  // Several addresses that were all tried in vain: each has said why.
  const [first = error] = error instanceof AggregateError ? error.errors : []
  return (first instanceof Error ? first.message : String(first)).replace(/\.$/, '')
}
