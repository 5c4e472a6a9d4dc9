/** What may be said of a span: ids, keys, codes and counts. Never a customer's words, an input, an output or SQL. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface SpanOptions {
  readonly attributes?: Attributes
  /** Default `internal`. `client`: it asks another service; `server`: another one has asked. */
  readonly kind?: 'internal' | 'server' | 'client'
  /** Epoch milliseconds; default now. */
  readonly startedAt?: number
}

/** Something that took time, within a trace. */
export interface Span {
  /** As other services are told of it: W3C trace context. */
  readonly traceparent: string
  child(name: string, options?: SpanOptions): Span
  set(attributes: Attributes): void
  /** Marks it as failed, by a code that says why. */
  fail(code: string): void
  /** `at`: epoch milliseconds; default now. Ending it once more does nothing. */
  end(at?: number): void
}

/** Where traces begin. Closing it sends what is not sent yet, within a bound. */
export interface Tracer extends AsyncDisposable {
  /** `traceparent`: the span of a service that is believed; the new span is then a part of its trace. */
  begin(name: string, options?: SpanOptions & { readonly traceparent?: string | undefined }): Span
}

/** What work is done with, where it may be traced. */
export interface Traced {
  /** Absent: nothing is traced, and tracing costs a look at this field. */
  readonly tracer?: Tracer
  /** What is under way here; a new trace begins where nothing is. */
  readonly span?: Span
}

/** Begins a span below what is under way; undefined when nothing is traced. `options` are made only when it is. */
export function beginSpan(
  { tracer, span }: Traced,
  name: string,
  options: () => SpanOptions,
): Span | undefined {
  if (tracer === undefined) return undefined
  return span === undefined ? tracer.begin(name, options()) : span.child(name, options())
}

/** Does work within a span of its own: what the work is given knows it as what is under way. */
export async function inSpan<C extends Traced, T>(
  context: C,
  name: string,
  options: () => SpanOptions,
  work: (context: C, span?: Span) => Promise<T>,
): Promise<T> {
  const span = beginSpan(context, name, options)
  if (span === undefined) return work(context)
  try {
    return await work({ ...context, span }, span)
  } catch (error) {
    span.fail(codeOf(error))
    throw error
  } finally {
    span.end()
  }
}

/** What an error may be called in a trace: by its code where it is one of our own. Its message may quote anything. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER'
  const isOwn = error.name === 'ServiceError' || error.name === 'ModelFailed'
  return isOwn && 'code' in error ? String(error.code) : '_OTHER'
}
