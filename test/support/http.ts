import { afterAll } from 'vitest'
import { createGate } from '../../src/access/gate.ts'
import type { AppContext } from '../../src/context.ts'
import type { Role } from '../../src/domain/principal.ts'
import { createHttpServer, type HttpOptions, type HttpServer } from '../../src/http/server.ts'
import { createKey } from '../../src/operations/create-key.ts'
import { createPrincipal } from '../../src/operations/create-principal.ts'
import { callerOf } from './caller.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  // Whatever came; the tests say what they expect.
  // biome-ignore lint/suspicious/noExplicitAny: an answer from outside
  readonly body: any
}

export interface TestDoor {
  readonly door: HttpServer
  readonly url: string
  call(request: string, options?: CallOptions): Promise<HttpAnswer>
}

export interface CallOptions {
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The HTTP door of a service, on a port of its own. */
export async function openTestDoor(
  app: AppContext,
  options: Partial<HttpOptions> = {},
): Promise<TestDoor> {
  const door = await createHttpServer(app, {
    database: { dataDir: 'test' },
    // Tests show many keys that let nobody in, all from one address.
    gate: createGate({ rateLimit: undefined, refusals: { perSecond: 1e6, burst: 1e6 } }),
    ...options,
  })
  const url = await door.listen({ host: '127.0.0.1', port: 0 })
  let isOpen = true
  const close = door.close.bind(door)
  door.close = async () => {
    if (isOpen) await close()
    isOpen = false
  }
  afterAll(() => door.close())
  return { door, url, call: (request, given) => call(url, request, given) }
}

/** `GET /v1/stats`, with a body as JSON. */
async function call(
  url: string,
  request: string,
  { key, body, headers = {} }: CallOptions = {},
): Promise<HttpAnswer> {
  const [method = '', path = ''] = request.split(' ')
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  }
}

/** Makes a principal with a key, and answers the key. */
export async function keyFor(
  app: AppContext,
  id: string,
  roles: readonly Role[],
  { tenantId = 'default', kind = 'human' }: { tenantId?: string; kind?: 'human' | 'ai' } = {},
): Promise<string> {
  const root = callerOf('root', ['admin'], tenantId)
  await createPrincipal.invoke(app, root, { principalId: id, kind, roles })
  const { key } = await createKey.invoke(app, root, { principalId: id })
  return key
}
