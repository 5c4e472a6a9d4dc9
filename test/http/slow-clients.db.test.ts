import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openTestApp } from '../support/app.ts'
import { keyFor, openTestDoor } from '../support/http.ts'

const { app } = await openTestApp({ tools: [] })
/** As in service, and a hundred times as fast. */
const limits = { requestMs: 300, headersMs: 100, lookEveryMs: 50 }
let key = ''

beforeAll(async () => {
  key = await keyFor(app, 'kim', ['agent'])
})

/** A client that writes bytes and takes whatever comes, until the connection is over. */
async function open(url: string): Promise<{ socket: Socket; readonly answer: Promise<string> }> {
  const { port } = new URL(url)
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
  await once(socket, 'connect')
  let text = ''
  socket.on('data', (chunk) => {
    text += String(chunk)
  })
  socket.on('error', () => {})
  const answer = new Promise<string>((resolve) => {
    for (const event of ['end', 'close'] as const) socket.once(event, () => resolve(text))
  })
  onTestFinished(() => void socket.destroy())
  return { socket, answer }
}

/** Writes a little again and again, for as long as anybody listens. */
function trickle(socket: Socket, text: string): void {
  const timer = setInterval(() => {
    if (socket.writable) socket.write(text)
  }, 20)
  for (const event of ['end', 'close'] as const) socket.once(event, () => clearInterval(timer))
  onTestFinished(() => clearInterval(timer))
}

const head = (more: string) => `POST /v1/search HTTP/1.1\r\nHost: desk\r\n${more}`
const length = 'Content-Type: application/json\r\nContent-Length: 1000000\r\n'

describe('a client that takes its time', () => {
  it('with a body is told that it took too long, and cut off', async () => {
    const { url } = await openTestDoor(app, { limits })
    const { socket, answer } = await open(url)
    socket.write(head(`Authorization: Bearer ${key}\r\n${length}\r\n{"issue": "`))
    trickle(socket, 'x')

    expect(await answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*"status":408/s)
  })

  it('with its headers as well', async () => {
    const { url } = await openTestDoor(app, { limits })
    const { socket, answer } = await open(url)
    socket.write(head(''))
    trickle(socket, 'X-More: 1\r\n')

    expect(await answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*"status":408/s)
  })

  it('and has no key is not waited for', async () => {
    // As in service: the answer comes before the body, whatever that may take.
    const { url } = await openTestDoor(app)
    const { socket, answer } = await open(url)
    const came = once(socket, 'data')
    socket.write(head(`${length}\r\n{"issue": "`))

    expect(String(await came)).toMatch(/^HTTP\/1\.1 401 /)
    socket.destroy()
    await answer
  })

  it('keeps nobody else from being answered', async () => {
    const door = await openTestDoor(app, { limits: { ...limits, requestMs: 5_000 } })
    const slow = await Promise.all(Array.from({ length: 50 }, () => open(door.url)))
    for (const { socket } of slow) {
      socket.write(head(`Authorization: Bearer ${key}\r\n${length}\r\n{"issue": "`))
      trickle(socket, 'x')
    }

    expect((await door.call('GET /v1/me', { key })).status).toBe(200)
  })
})

describe('headers', () => {
  it.each([
    ['that are too large', `X-Large: ${'x'.repeat(20_000)}\r\n`],
    ['that are too many', 'X-Many: 1\r\n'.repeat(3_000)],
    ['whose name is too long', `${'x'.repeat(20_000)}: 1\r\n`],
  ])('%s are refused as that', async (_name, headers) => {
    const { url } = await openTestDoor(app)
    const { socket, answer } = await open(url)
    socket.write(head(`${headers}\r\n`))

    expect(await answer).toMatch(
      /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n.*"status":431/s,
    )
  })

  it('that are many and small are read, and the request answered', async () => {
    const door = await openTestDoor(app)
    const headers = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x-h${i}`, '1']))

    expect((await door.call('GET /v1/me', { key, headers })).status).toBe(200)
  })
})

vi.setConfig({ testTimeout: 20_000 })

describe('a door that closes', () => {
  it('does not wait for those who have said nothing, or half of something', async () => {
    const { door, url, call } = await openTestDoor(app, { limits })
    const silent = await open(url)
    const halfHead = await open(url)
    halfHead.socket.write(head(''))
    const halfBody = await open(url)
    halfBody.socket.write(head(`Authorization: Bearer ${key}\r\n${length}\r\n{"issue": "`))
    const halfOpen = await open(url)
    halfOpen.socket.write(`GET /healthz HTTP/1.1\r\nHost: desk\r\n\r\n`)
    await once(halfOpen.socket, 'data')
    // Nothing more will come from here, and it still listens.
    halfOpen.socket.end()
    expect((await call('GET /v1/me', { key })).status).toBe(200)

    await door.close()

    const all = [silent, halfHead, halfBody, halfOpen]
    await Promise.all(all.map(({ answer }) => answer))
    await expect(call('GET /healthz')).rejects.toThrow()
  })
})
