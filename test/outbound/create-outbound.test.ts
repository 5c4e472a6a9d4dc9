import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { createOutbound, type OutboundOptions } from '../../src/outbound/create-outbound.ts'

const options = { allowPrivate: ['127.0.0.1'], timeoutMs: 5_000, maxBytes: 10_000 }

function outbound(changes: Partial<OutboundOptions> = {}) {
  const client = createOutbound({ ...options, ...changes })
  onTestFinished(() => client.close())
  return client
}

/** A service on this machine; answers its address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${portOf(server.address())}`
}

async function listen(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets: Socket[] = []
  const server = createTcpServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${portOf(server.address())}`
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe('a request', () => {
  it('is sent once, and answered whole', async () => {
    const seen: object[] = []
    const url = await serve(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { method, url: path, headers } = request
      seen.push({ method, path, body: Buffer.concat(chunks).toString(), of: headers['x-of'] })
      expect(headers['accept-encoding']).toBe('identity')
      expect(headers.connection).toBe('close')
      response.writeHead(201, { 'x-answer': 'yes', 'set-cookie': ['a=1', 'b=2'] }).end('done')
    })

    const { status, headers, body } = await outbound().send({
      url: `${url}/a/b?c=d#e`,
      method: 'POST',
      headers: { 'x-of': 'ours' },
      body: '{"x":"ü"}',
    })

    expect({ status, body: body.toString() }).toEqual({ status: 201, body: 'done' })
    expect(headers).toMatchObject({ 'x-answer': 'yes', 'set-cookie': 'a=1, b=2' })
    expect(seen).toEqual([{ method: 'POST', path: '/a/b?c=d', body: '{"x":"ü"}', of: 'ours' }])
  })

  it('is answered whatever the status is', async () => {
    const url = await serve((_request, response) => void response.writeHead(503).end('later'))

    expect(await outbound().send({ url, method: 'GET' })).toMatchObject({ status: 503 })
  })

  it('may be one of many at once', async () => {
    const url = await serve((request, response) => void response.end(request.url))
    const client = outbound()

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => client.send({ url: `${url}/${n}`, method: 'GET' })),
    )

    expect(answers.map(({ body }) => body.toString())).toEqual(answers.map((_, n) => `/${n}`))
  })
})

describe('a URL', () => {
  it.each([
    ['nonsense', 'cannot be read'],
    ['ftp://desk.example/', 'only https is asked'],
    ['file:///etc/passwd', 'only https is asked'],
    ['http://desk.example/', 'only https is asked there'],
    ['https://me:secret@desk.example/', 'a user or a password'],
    ['https://me@desk.example/', 'a user or a password'],
    ['https://10.0.0.1/', 'private'],
    ['https://[::1]/', 'loopback'],
    ['https://[::ffff:7f00:1]/', 'loopback'],
    ['https://2130706433/', 'loopback'],
    ['https://0x7f.1/', 'loopback'],
    ['https://0177.0.0.1/', 'loopback'],
    ['https://127.0.0.1./', 'loopback'],
    ['https://①②⑦.0.0.1/', 'loopback'],
    ['https://0/', 'unspecified'],
    ['https://169.254.169.254/latest/meta-data', 'credentials'],
    ['https://[fd00:ec2::254]/', 'credentials'],
  ])('is refused, and nothing is looked up or sent: %s', async (url, problem) => {
    const client = outbound({
      allowPrivate: [],
      lookup: () => Promise.reject(new Error('looked up')),
    })

    const sent = client.send({ url, method: 'GET' })

    await expect(sent).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining(problem),
    })
    await expect(sent).rejects.not.toMatchObject({ message: expect.stringContaining('secret') })
  })

  it('is refused in every spelling of an inner address', async () => {
    const client = outbound({ allowPrivate: [] })
    const octet = fc.integer({ min: 0, max: 255 })
    const spellings: readonly ((parts: readonly [number, number, number, number]) => string)[] = [
      (parts) => parts.join('.'),
      ([a, b, c, d]) => `${((a * 256 + b) * 256 + c) * 256 + d}`,
      (parts) => parts.map((part) => `0x${part.toString(16)}`).join('.'),
      (parts) => parts.map((part) => `0${part.toString(8)}`).join('.'),
      ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
      ([a, b, c, d]) => `0x${a.toString(16)}.${b}.${c * 256 + d}`,
      (parts) => parts.map((part) => encodeURIComponent(part)).join('%2e'),
      (parts) => parts.join('。'),
      (parts) => `[::ffff:${parts.join('.')}]`,
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(fc.constantFrom(10, 127, 0, 224, 255), octet, octet, octet),
        fc.constantFrom(...spellings),
        async (parts, spell) => {
          const sent = client.send({ url: `https://${spell(parts)}/`, method: 'GET' })

          await expect(sent).rejects.toMatchObject({ kind: 'refused' })
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('a host that may be private', () => {
  it.each(['127.0.0.1', '127.1', '2130706433'])('is named as a URL has it: %s', async (entry) => {
    const url = await serve((_request, response) => void response.end())

    expect(await outbound({ allowPrivate: [entry] }).send({ url, method: 'GET' })).toMatchObject({
      status: 200,
    })
  })

  it('is asked on the port that stands there, and on no other', async () => {
    const url = await serve((_request, response) => void response.end())
    const { host } = new URL(url)

    const client = outbound({ allowPrivate: [host] })

    expect(await client.send({ url, method: 'GET' })).toMatchObject({ status: 200 })
    await expect(client.send({ url: 'http://127.0.0.1:1/', method: 'GET' })).rejects.toMatchObject({
      kind: 'refused',
    })
  })

  it.each(['*.example', 'https://desk.example', 'desk.example/path', 'me@desk.example', '', 'a b'])(
    'has to be a host: %s',
    (entry) => {
      expect(() => createOutbound({ ...options, allowPrivate: [entry] })).toThrow(TypeError)
    },
  )

  it.each(['[::1]', '::1', '[::1]:443'])('may be an address of IPv6: %s', async (entry) => {
    const sent = outbound({ allowPrivate: [entry] }).send({ url: 'https://[::1]/', method: 'GET' })

    await expect(sent).rejects.toMatchObject({ kind: 'unsent' })
  })
})

describe('a name', () => {
  it.each([
    ['one address inside', ['127.0.0.1']],
    ['an address inside among others', ['8.8.8.8', '10.0.0.1']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['the address of a cloud', ['169.254.169.254']],
  ])('is refused that has %s', async (_what, addresses) => {
    const client = outbound({ allowPrivate: [], lookup: async () => addresses })

    await expect(
      client.send({ url: 'https://desk.example/', method: 'POST' }),
    ).rejects.toMatchObject({ kind: 'refused' })
  })

  it('is looked up once for a request, and judged anew for the next', async () => {
    let requests = 0
    const url = await serve((_request, response) => {
      requests += 1
      response.end()
    })
    const { port } = new URL(url)
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']]
    const client = outbound({
      allowPrivate: ['desk.example'],
      lookup: async () => answers.shift() ?? [],
    })
    const ask = () => client.send({ url: `http://desk.example:${port}/`, method: 'GET' })

    expect(await ask()).toMatchObject({ status: 200 })
    await expect(ask()).rejects.toMatchObject({ kind: 'refused' })
    expect(await ask()).toMatchObject({ status: 200 })
    expect({ requests, left: answers.length }).toEqual({ requests: 2, left: 0 })
  })

  it('that this machine knows as its own is refused', async () => {
    const sent = outbound({ allowPrivate: [] }).send({ url: 'https://localhost/', method: 'GET' })

    await expect(sent).rejects.toMatchObject({ kind: 'refused' })
  })

  it.each([
    ['has no address', async () => []],
    ['cannot be looked up', () => Promise.reject(new Error('ENOTFOUND'))],
  ])('that %s was not reached', async (_what, lookup) => {
    const sent = outbound({ lookup }).send({ url: 'https://desk.example/', method: 'GET' })

    await expect(sent).rejects.toMatchObject({ kind: 'unsent' })
  })
})

describe('a redirect', () => {
  const redirecting = (location: (host: string) => string) => {
    const paths: (string | undefined)[] = []
    const url = serve((request, response) => {
      paths.push(request.url)
      if (request.url === '/end') return void response.end('here')
      response.writeHead(302, { location: location(request.headers.host ?? '') }).end()
    })
    return { url, paths }
  }

  it('is not followed unless asked for', async () => {
    const { url, paths } = redirecting(() => '/end')

    const answer = await outbound().send({ url: await url, method: 'GET' })

    expect(answer).toMatchObject({ status: 302, headers: { location: '/end' } })
    expect(paths).toEqual(['/'])
  })

  it('of a GET is followed on the same host', async () => {
    const { url } = redirecting((host) => `http://${host}/end`)

    const answer = await outbound().send({ url: await url, method: 'GET', redirects: 3 })

    expect(answer.body.toString()).toBe('here')
  })

  it('of anything else is not', async () => {
    const { url, paths } = redirecting(() => '/end')

    const answer = await outbound().send({ url: await url, method: 'POST', redirects: 3 })

    expect(answer.status).toBe(302)
    expect(paths).toEqual(['/'])
  })

  it('is followed no more often than that', async () => {
    const { url, paths } = redirecting(() => '/again')

    const answer = await outbound().send({ url: await url, method: 'GET', redirects: 2 })

    expect(answer.status).toBe(302)
    expect(paths).toHaveLength(3)
  })

  it.each(['http://169.254.169.254/', 'http://127.0.0.1:1/', 'https://desk.example/', '//[::1]/'])(
    'leads to no other host: %s',
    async (location) => {
      const { url } = redirecting(() => location)

      const answer = await outbound().send({ url: await url, method: 'GET', redirects: 3 })

      expect(answer).toMatchObject({ status: 302, headers: { location } })
    },
  )
})

describe('what came of a request that has no answer', () => {
  it('is unsent where nobody listens', async () => {
    const url = await serve(() => {})
    const client = outbound({ allowPrivate: ['127.0.0.1'] })
    // A port that was just given up.
    const gone = createTcpServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const port = portOf(gone.address())
    gone.close()
    await once(gone, 'close')

    await expect(
      client.send({ url: url.replace(/\d+$/, String(port)), method: 'POST', body: 'x' }),
    ).rejects.toMatchObject({ kind: 'unsent', message: expect.stringContaining('ECONNREFUSED') })
  })

  it('is unsent where a name is looked up for too long', async () => {
    const client = outbound({ timeoutMs: 30, lookup: () => new Promise(() => {}) })

    await expect(
      client.send({ url: 'https://desk.example/', method: 'POST' }),
    ).rejects.toMatchObject({ kind: 'unsent', message: expect.stringContaining('time limit') })
  })

  it('is unsent where no TLS comes about', async () => {
    const url = await serve((_request, response) => void response.end())

    await expect(
      outbound().send({ url: url.replace('http:', 'https:'), method: 'POST', body: 'x' }),
    ).rejects.toMatchObject({ kind: 'unsent' })
  })

  it.each<[string, (socket: Socket) => void]>([
    ['closes the connection', (socket) => socket.once('data', () => socket.end())],
    ['resets it', (socket) => socket.once('data', () => socket.resetAndDestroy())],
    ['speaks no HTTP', (socket) => socket.once('data', () => socket.end('hello\r\n\r\n'))],
    ['stops in the headers', (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 O'))],
    ['closes at once', (socket) => socket.end()],
  ])('is unknown where the service %s', async (_what, onSocket) => {
    let connections = 0
    const url = await listen((socket) => {
      connections += 1
      onSocket(socket)
    })

    await expect(
      outbound().send({ url, method: 'POST', body: 'x', headers: { 'x-key': 'a secret' } }),
    ).rejects.toMatchObject({
      kind: 'unknown',
      message: expect.not.stringContaining('a secret'),
    })
    expect(connections).toBe(1)
  })

  it('is unknown where no answer comes in time', async () => {
    const url = await serve(() => {})

    await expect(outbound({ timeoutMs: 50 }).send({ url, method: 'POST' })).rejects.toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('time limit'),
    })
  })

  it('is unknown where it was ended meanwhile', async () => {
    const abort = new AbortController()
    const url = await serve(() => abort.abort())

    await expect(
      outbound().send({ url, method: 'POST', signal: abort.signal }),
    ).rejects.toMatchObject({ kind: 'unknown' })
  })

  it('is unsent where it was ended before', async () => {
    const url = await serve((_request, response) => void response.end())

    await expect(
      outbound().send({ url, method: 'POST', signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ kind: 'unsent' })
  })

  it('is unknown when the client is closed meanwhile, and refused after that', async () => {
    const client = outbound()
    const url = await serve(() => void client.close())

    await expect(client.send({ url, method: 'POST' })).rejects.toMatchObject({ kind: 'unknown' })
    await expect(client.send({ url, method: 'POST' })).rejects.toMatchObject({ kind: 'refused' })
  })
})

describe('an answer that cannot be read', () => {
  it('is left where it is too large, and the connection with it', async () => {
    let sent = 0
    let isLeft = false
    const url = await serve((_request, response) => {
      const send = () => {
        while (!isLeft && sent < 1_000_000_000) {
          sent += 65_536
          if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', send)
        }
      }
      response.on('close', () => {
        isLeft = true
      })
      send()
    })

    await expect(outbound().send({ url, method: 'POST' })).rejects.toMatchObject({
      kind: 'unread',
      status: 200,
      message: expect.stringContaining('more than 10000 bytes'),
    })
    await expect.poll(() => isLeft).toBe(true)
    expect(sent).toBeLessThan(20_000_000)
  })

  it('is exactly as large as may be', async () => {
    const url = await serve((_request, response) => void response.end(Buffer.alloc(10_000)))

    expect((await outbound().send({ url, method: 'GET' })).body).toHaveLength(10_000)
  })

  it('is refused compressed, however small it is', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000))
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })

    await expect(outbound().send({ url, method: 'GET' })).rejects.toMatchObject({
      kind: 'unread',
      status: 200,
    })
  })

  it('says its status where it comes too slowly', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(202)
      const timer = setInterval(() => response.write('.'), 10)
      response.on('close', () => clearInterval(timer))
    })

    await expect(outbound({ timeoutMs: 100 }).send({ url, method: 'POST' })).rejects.toMatchObject({
      kind: 'unread',
      status: 202,
      message: expect.stringContaining('time limit'),
    })
  })

  it('says its status where it is cut off', async () => {
    const url = await listen((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'))
    })

    await expect(outbound().send({ url, method: 'POST' })).rejects.toMatchObject({
      kind: 'unread',
      status: 200,
    })
  })
})

test('a header that is none is not sent, and not shown', async () => {
  const url = await serve((_request, response) => void response.end())

  await expect(
    outbound().send({ url, method: 'GET', headers: { 'x-key': 'a\r\nsecret: b' } }),
  ).rejects.toMatchObject({ kind: 'unsent', message: expect.not.stringContaining('secret') })
})
