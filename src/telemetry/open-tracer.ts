import {
  type Context,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node'
import type { TracesConfig } from '../config/telemetry.ts'
import type { Attributes, Span, SpanOptions, Tracer } from './span.ts'
import { readTraceparent, writeTraceparent } from './traceparent.ts'

/** How long a process that ends waits for its last spans to be taken. */
const lastWordsMs = 1_000
const maxValueLength = 200

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT }

/**
 * Sends traces to a collector, in batches and behind everything else: one that is slow or away costs the spans that find
 * no place to wait, and nothing more. Nothing is registered globally, so that an application's own tracing stays its own.
 * `onLost` is told of spans that a collector has not taken.
 */
export function openTracer(
  { url, serviceName }: TracesConfig,
  serviceVersion: string,
  onLost: (count: number, error: Error | undefined) => void,
): Tracer {
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: lastWordsMs })
  const processor = new BatchSpanProcessor(telling(exporter, onLost), {
    exportTimeoutMillis: lastWordsMs,
  })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': serviceVersion,
    }),
    spanLimits: { attributeValueLengthLimit: maxValueLength },
    spanProcessors: [processor],
  })
  const tracer = provider.getTracer('stepwarden', serviceVersion)
  return {
    begin: (name, { traceparent, ...options } = {}) =>
      beginIn(tracer, contextOf(traceparent), name, options),
    async [Symbol.asyncDispose]() {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, lastWordsMs)
      })
      // What cannot be sent any more is lost, and nobody waits for it.
      await Promise.race([provider.shutdown().catch(() => {}), late])
      clearTimeout(timer)
    },
  }
}

/** What an exporter answers when all went well. */
const taken = 0

function telling(
  exporter: OTLPTraceExporter,
  onLost: (count: number, error: Error | undefined) => void,
): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code !== taken) onLost(spans.length, result.error)
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  }
}

function contextOf(traceparent: string | undefined): Context {
  const parent = readTraceparent(traceparent)
  if (parent === undefined) return ROOT_CONTEXT
  const { traceId, spanId, isSampled } = parent
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

function beginIn(
  tracer: OtelTracer,
  parent: Context,
  name: string,
  { attributes = {}, kind = 'internal', startedAt }: SpanOptions,
): Span {
  const span = tracer.startSpan(
    name,
    {
      kind: kinds[kind],
      attributes: present(attributes),
      ...(startedAt !== undefined && { startTime: startedAt }),
    },
    parent,
  )
  return wrap(tracer, span, trace.setSpan(parent, span))
}

function wrap(tracer: OtelTracer, span: OtelSpan, own: Context): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  let isOpen = true
  return {
    traceparent: writeTraceparent({
      traceId,
      spanId,
      isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
    }),
    child: (name, options = {}) => beginIn(tracer, own, name, options),
    set: (attributes) => void span.setAttributes(present(attributes)),
    fail(code) {
      span.setStatus({ code: SpanStatusCode.ERROR })
      span.setAttribute('error.type', code)
    },
    end(at) {
      if (isOpen) span.end(at)
      isOpen = false
    },
  }
}

function present(attributes: Attributes): Record<string, string | number | boolean> {
  const known: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) known[name] = value
  return known
}
