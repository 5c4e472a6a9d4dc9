import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

/** A span as a collector got it. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty for the first of a trace. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly hasFailed: boolean
  readonly startedAt: number
  readonly endedAt: number
}

export interface Collector {
  /** To be configured as where traces go. */
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** All that was sent, as it came. */
  readonly bodies: readonly string[]
}

/** A real receiver of OTLP over HTTP, closed after the last test of the file. */
export async function openCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    bodies.push(body)
    spans.push(...spansOf(JSON.parse(body)))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1/traces`, spans, bodies }
}

// biome-ignore lint/suspicious/noExplicitAny: what came in
function spansOf({ resourceSpans }: any): readonly ReceivedSpan[] {
  return resourceSpans
    .flatMap(({ scopeSpans }: { scopeSpans: object[] }) => scopeSpans)
    .flatMap(({ spans }: { spans: object[] }) => spans)
    .map(toSpan)
}

// biome-ignore lint/suspicious/noExplicitAny: what came in
function toSpan(span: any): ReceivedSpan {
  const { traceId, spanId, parentSpanId = '', name, kind, attributes, status } = span
  return {
    ...{ traceId, spanId, parentSpanId, name, kind },
    attributes: Object.fromEntries(
      attributes.map(({ key, value }: { key: string; value: object }) => [
        key,
        Object.values(value)[0],
      ]),
    ),
    hasFailed: status.code === 2,
    startedAt: Number(BigInt(span.startTimeUnixNano) / 1_000n),
    endedAt: Number(BigInt(span.endTimeUnixNano) / 1_000n),
  }
}
