/** What another service says of its span. */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  /** Whether it records the trace. */
  readonly isSampled: boolean
}

/**
 * Reads the `traceparent` of the W3C recommendation; undefined for what is none. A version to come may have more behind
 * the flags, which is not read.
 */
export function readTraceparent(text: unknown): TraceParent | undefined {
  if (typeof text !== 'string' || text.length > 200) return undefined
  const found = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(text)
  const [, version, traceId = '', spanId = '', flags = '', more] = found ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) {
    return undefined
  }
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export function writeTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}
