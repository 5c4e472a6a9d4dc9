import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openTracer } from '../../src/telemetry/open-tracer.ts'
import { beginSpan, codeOf, inSpan } from '../../src/telemetry/span.ts'
import { openCollector } from '../support/collector.ts'

const collector = await openCollector()
const lost: number[] = []
const open = (url: string) =>
  openTracer({ url, serviceName: 'desk' }, '1.2.3', (count) => lost.push(count))

describe('a tracer that is closed', () => {
  it('has sent what was not sent yet', async () => {
    const tracer = open(collector.url)
    tracer.begin('last words', { attributes: { 'stepwarden.step.ordinal': 3 } }).end()

    await tracer[Symbol.asyncDispose]()

    expect(collector.spans.map(({ name }) => name)).toEqual(['last words'])
    expect(collector.bodies[0]).toContain('"service.name","value":{"stringValue":"desk"}')
  })

  it('is closed though nobody takes them, and has told so', async () => {
    const tracer = open('http://127.0.0.1:1/v1/traces')
    tracer.begin('nobody hears it').end()

    await tracer[Symbol.asyncDispose]()

    expect(lost).toEqual([1])
  })

  it('is closed though the collector takes them and never says so', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      silent.close()
    })
    const address = Object(silent.address())
    const tracer = open(`http://127.0.0.1:${address.port}/v1/traces`)
    tracer.begin('nobody answers').end()

    await tracer[Symbol.asyncDispose]()

    expect(sockets).toHaveLength(1)
  })
})

describe('a span', () => {
  it('that was begun in a trace which its caller does not record is not sent', async () => {
    const tracer = open(collector.url)
    const traceparent = `00-${'a'.repeat(32)}-00f067aa0ba902b7-00`
    const span = tracer.begin('quiet', { traceparent })
    span.child('quieter').end()
    span.end()
    await tracer[Symbol.asyncDispose]()

    expect(span.traceparent).toMatch(/^00-a{32}-[0-9a-f]{16}-00$/)
    expect(collector.bodies.join('')).not.toContain('quiet')
  })

  it('says of an error no more than its code', async () => {
    const tracer = open(collector.url)
    const failing = inSpan(
      { tracer },
      'failing',
      () => ({}),
      async () => {
        throw new Error('of Ada Lovelace')
      },
    )

    await expect(failing).rejects.toThrow('of Ada Lovelace')
    await tracer[Symbol.asyncDispose]()

    const found = collector.spans.find(({ name }) => name === 'failing')
    expect(found).toMatchObject({ hasFailed: true, attributes: { 'error.type': '_OTHER' } })
    expect(collector.bodies.join('')).not.toContain('Ada')
    expect(codeOf('a text')).toBe('_OTHER')
  })

  it('is not even described where nothing is traced', () => {
    const describeIt = () => {
      throw new Error('it was')
    }
    expect(beginSpan({}, 'nothing', describeIt)).toBeUndefined()
  })
})
