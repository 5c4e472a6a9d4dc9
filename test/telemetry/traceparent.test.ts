import { expect, it } from 'vitest'
import { readTraceparent, writeTraceparent } from '../../src/telemetry/traceparent.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

it.each(['00', '01'])('comes out as it went in, with flags %s', (flags) => {
  const text = `00-${traceId}-${spanId}-${flags}`

  const parent = readTraceparent(text)

  expect(parent).toEqual({ traceId, spanId, isSampled: flags === '01' })
  expect(parent && writeTraceparent(parent)).toBe(text)
})

it('reads what it knows of a version to come', () => {
  expect(readTraceparent(`cc-${traceId}-${spanId}-03-what-is-new`)).toEqual({
    ...{ traceId, spanId, isSampled: true },
  })
})

it.each([
  undefined,
  '',
  `00-${traceId}-${spanId}`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `cc-${traceId}-${spanId}-01-${'x'.repeat(200)}`,
  `00-${traceId}-${spanId}-01\n`,
])('takes %s for none', (text) => {
  expect(readTraceparent(text)).toBeUndefined()
})
